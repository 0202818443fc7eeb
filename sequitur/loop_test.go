package sequitur

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// appendRounds is what AppendLoop stands for.
func appendRounds(b *Builder, body []Run, n uint64) {
	for range n {
		for _, r := range body {
			b.AppendRun(r.Symbol, r.Count)
		}
	}
}

// bodyGen draws the body of a loop: runs over a small alphabet, some of them
// empty, some stretches of them repeated.
var bodyGen = rapid.Custom(func(t *rapid.T) []Run {
	var body []Run
	for range rapid.IntRange(0, 4).Draw(t, "stretches") {
		var stretch []Run
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			s := Symbol(rapid.IntRange(0, 3).Draw(t, "symbol"))
			stretch = append(stretch, Run{s, rapid.SampledFrom([]uint64{1, 1, 1, 2, 3, 0}).Draw(t, "count")})
		}
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			body = append(body, stretch...)
		}
	}
	return body
})

// sameState checks that two Builders are where the same input ends.
func sameState(t rapid.TB, got, want *Builder) {
	t.Helper()
	for _, b := range []*Builder{got, want} {
		b.leaveFlat()
		b.settle()
	}
	if got.n != want.n || got.want != want.want || got.left != want.left || got.open != want.open ||
		got.credit != want.credit {
		t.Fatalf("state is %d %v %d %d %d, want %d %v %d %d %d", got.n, got.open, got.want, got.left, got.credit,
			want.n, want.open, want.want, want.left, want.credit)
	}
	if g, w := got.Snapshot(), want.Snapshot(); !g.Equal(w) {
		t.Fatalf("grammar is\n%swant\n%s", g, w)
	}
}

// TestAppendLoop checks loops between other input, one after the other and
// again and again, against their rounds.
func TestAppendLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got, want Builder
		type loop struct {
			body []Run
			n    uint64
		}
		var loops []loop
		for range rapid.IntRange(1, 3).Draw(t, "loops") {
			loops = append(loops, loop{bodyGen.Draw(t, "body"), rapid.Uint64Range(0, 50).Draw(t, "n")})
		}
		for _, s := range programGen.Draw(t, "before") {
			got.Append(s)
			want.Append(s)
		}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for _, l := range loops {
				got.AppendLoop(l.body, l.n)
				appendRounds(&want, l.body, l.n)
				sameState(t, &got, &want)
			}
		}
		for _, s := range programGen.Draw(t, "after") {
			got.Append(s)
			want.Append(s)
		}
		sameState(t, &got, &want)
	})
}

// TestLongLoops checks loops that nobody could walk through, alone and inside
// of others.
func TestLongLoops(t *testing.T) {
	tests := []struct {
		name   string
		append func(*Builder)
		want   string
	}{
		{"Loop", func(b *Builder) { b.AppendLoop([]Run{{1, 1}, {2, 3}}, 1e15) }, "S → (1 2^3)^1000000000000000\n"},
		{"OneRun", func(b *Builder) { b.AppendLoop([]Run{{1, 2}, {2, 0}, {1, 3}}, 1e15) }, "S → 1^5000000000000000\n"},
		{"Rotated", func(b *Builder) {
			b.AppendRun(2, 3)
			b.AppendLoop([]Run{{1, 1}, {2, 3}}, 1e9)
			b.Append(1)
		}, "S → (2^3 1)^1000000001\n"},
		{"LoopsInBody", func(b *Builder) {
			b.AppendLoop([]Run{{1, 1}, {2, 1}, {1, 1}, {2, 1}, {3, 1}}, 1e9)
		}, "S → ((1 2)^2 3)^1000000000\n"},
		{"BodyOfLoop", func(b *Builder) {
			b.AppendLoop([]Run{{1, 1}, {2, 1}, {1, 1}, {2, 1}}, 1e9)
		}, "S → (1 2)^2000000000\n"},
		{"InLoop", func(b *Builder) {
			for range 1000 {
				b.AppendLoop([]Run{{1, 1}, {2, 1}}, 1e9)
				b.Append(3)
			}
		}, "S → ((1 2)^1000000000 3)^1000\n"},
		{"TwoInLoop", func(b *Builder) {
			for range 1000 {
				b.AppendLoop([]Run{{1, 1}, {2, 1}}, 1e9)
				b.AppendLoop([]Run{{3, 1}, {1, 1}, {3, 2}}, 1e12)
				b.Append(4)
			}
		}, "S → ((1 2)^1000000000 3 (1 3^3)^999999999999 1 3^2 4)^1000\n"},
		{"Longest", func(b *Builder) {
			b.AppendLoop([]Run{{1, 1}, {2, 1}}, 1<<62-1)
			b.Append(1)
		}, "S → (1 2)^4611686018427387903 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b Builder
			begin := time.Now()
			tt.append(&b)
			if took := time.Since(begin); took > time.Second {
				t.Errorf("took %v", took)
			}
			if got := b.Finish().String(); got != tt.want {
				t.Errorf("grammar is\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestAppendLoopPanics(t *testing.T) {
	var b Builder
	b.Append(1)
	mustPanic(t, "a loop that overflows", func() { b.AppendLoop([]Run{{1, 1}, {2, 1}}, 1<<62) })
	mustPanic(t, "a loop that overflows 64 bits", func() { b.AppendLoop([]Run{{1, 1}, {2, 1}}, 1<<63) })
	mustPanic(t, "a body that overflows 64 bits", func() { b.AppendLoop([]Run{{1, 1 << 63}, {2, 1 << 63}}, 1) })
	mustPanic(t, "a symbol above MaxSymbol", func() { b.AppendLoop([]Run{{MaxSymbol + 1, 1}}, 1) })
	if b.AppendLoop([]Run{{MaxSymbol + 1, 1}}, 0); b.Len() != 1 {
		t.Errorf("Len = %d, want 1", b.Len())
	}
}

// TestFlat checks that a Builder that follows expansions is where one is that follows its cursor, at any
// time.
func TestFlat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got, want Builder
		want.noFlat = true
		for range rapid.IntRange(1, 4).Draw(t, "stretches") {
			body := bodyGen.Draw(t, "body")
			rounds := rapid.IntRange(0, 40).Draw(t, "rounds")
			broken := rapid.IntRange(0, 40).Draw(t, "broken")
			for i := range rounds {
				for _, r := range body {
					if r.Count == 1 {
						got.Append(r.Symbol)
					} else {
						got.AppendRun(r.Symbol, r.Count)
					}
					want.AppendRun(r.Symbol, r.Count)
					if g := got.Snapshot(); !g.Equal(want.Snapshot()) {
						t.Fatalf("grammar is\n%swant\n%s", g, want.Snapshot())
					}
				}
				if i == broken {
					s := Symbol(rapid.IntRange(0, 4).Draw(t, "symbol"))
					got.Append(s)
					want.Append(s)
				}
			}
		}
		sameState(t, &got, &want)
	})
}

// TestFlatLoops checks that an expansion is not written down again after each loop, which takes the time of a
// few rounds.
func TestFlatLoops(t *testing.T) {
	var b Builder
	written := 0
	for range 1000 {
		b.leaveFlat()
		b.flat = nil
		b.AppendLoop([]Run{{1, 1}, {2, 1}}, 2000)
		b.AppendRun(3, 1)
		if b.flat != nil {
			written++
		}
	}
	if written > 10 {
		t.Errorf("written down %d times", written)
	}
}

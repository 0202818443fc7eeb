package sequitur

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCommonPrefix compares sequences that differ in one place, if at all, symbol by
// symbol, of which one is appended in other portions and with other numbers.
func TestCommonPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sequence []Symbol
		for _, phrase := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 4), 1, 5), 0, 6).Draw(t, "phrases") {
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				sequence = append(sequence, phrase...)
			}
		}
		other := append([]Symbol(nil), sequence...)
		if len(other) > 0 && rapid.Bool().Draw(t, "change") {
			other[rapid.IntRange(0, len(other)-1).Draw(t, "at")] = rapid.Uint32Range(0, 5).Draw(t, "new")
		}
		if rapid.Bool().Draw(t, "cut") {
			other = other[:rapid.IntRange(0, len(other)).Draw(t, "length")]
		}
		want := uint64(0)
		for want < uint64(min(len(sequence), len(other))) && sequence[want] == other[want] {
			want++
		}
		numbers := rapid.Permutation([]Symbol{10, 11, 12, 13, 14, 15}).Draw(t, "numbers")
		back := make(map[Symbol]Symbol)
		for s, n := range numbers {
			back[n] = Symbol(s)
		}
		var b, c Builder
		for _, s := range sequence {
			b.Append(s)
		}
		for _, s := range other {
			c.Append(numbers[s])
		}
		g, h := b.Finish(), c.Finish()
		if got := g.CommonPrefix(h, func(s Symbol) Symbol { return back[s] }); got != want {
			t.Fatalf("%v and %v have %d symbols in common, want %d", sequence, other, got, want)
		}
		if got := g.CommonPrefix(g, nil); got != g.Len() {
			t.Fatalf("%v has %d symbols in common with itself", sequence, got)
		}
		// The same sequence, not folded.
		if got := g.CommonPrefix(h.flat(), func(s Symbol) Symbol { return back[s] }); got != want {
			t.Fatalf("unfolded, %v and %v have %d symbols in common, want %d", sequence, other, got, want)
		}
	})
}

// flat returns a grammar of the sequence of g that has no rule but the start rule.
func (g *Grammar) flat() *Grammar {
	f := new(Grammar)
	for _, run := range g.Runs() {
		f.symbols = append(f.symbols, symbol{run.Count, f.Len() + run.Count, ref(run.Symbol)})
	}
	if len(f.symbols) > 0 {
		f.ends = []uint32{uint32(len(f.symbols))}
	}
	return f
}

// TestCommonPrefixLong compares loops of more rounds than anybody can go through.
func TestCommonPrefixLong(t *testing.T) {
	loop := func(rounds uint64, last Symbol) *Grammar {
		var b Builder
		b.AppendLoop([]Run{{1, 1}, {2, 3}}, rounds)
		b.Append(last)
		b.AppendLoop([]Run{{1, 1}, {2, 3}}, 1<<40)
		return b.Finish()
	}
	for _, tt := range []struct {
		g, h *Grammar
		want uint64
	}{
		{loop(1<<50, 7), loop(1<<50, 7), 1<<52 + 1 + 1<<42},
		{loop(1<<50, 7), loop(1<<50, 8), 1 << 52},
		{loop(1<<50, 7), loop(1<<50+1, 7), 1 << 52},
		{loop(1<<50, 1), loop(1<<50, 2), 1 << 52},
	} {
		if got := tt.g.CommonPrefix(tt.h, nil); got != tt.want {
			t.Errorf("%d symbols in common, want %d", got, tt.want)
		}
		if got := tt.h.CommonPrefix(tt.g, nil); got != tt.want {
			t.Errorf("%d symbols in common the other way, want %d", got, tt.want)
		}
	}
}

func BenchmarkCommonPrefix(b *testing.B) {
	var g, h Builder
	g.AppendLoop([]Run{{1, 1}, {2, 3}, {4, 1}}, 1<<40)
	h.AppendLoop([]Run{{1, 1}, {2, 3}, {4, 1}}, 1<<40)
	g.Append(7)
	h.Append(8)
	x, y := g.Finish(), h.Finish()
	for b.Loop() {
		x.CommonPrefix(y, nil)
	}
}

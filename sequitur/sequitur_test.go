package sequitur

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/drawn"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// build folds symbols into a grammar.
func build(in []Symbol) *Grammar {
	var b Builder
	for _, s := range in {
		b.Append(s)
	}
	return b.Finish()
}

// expand lists the symbols g generates, and checks that positions count up.
func expand(t rapid.TB, g *Grammar) []Symbol {
	t.Helper()
	var out []Symbol
	for i, s := range g.All() {
		if i != uint64(len(out)) {
			t.Fatalf("All yielded position %d at %d", i, len(out))
		}
		out = append(out, s)
	}
	if g.Len() != uint64(len(out)) {
		t.Fatalf("Len = %d, expanded to %d symbols", g.Len(), len(out))
	}
	return out
}

// checkInvariants checks what the package documentation promises of the
// grammars that a Builder makes.
func checkInvariants(t rapid.TB, g *Grammar) {
	t.Helper()
	type place struct{ rule, at int }
	var (
		digrams = make(map[[2]Term]place)
		uses    = make([]int, g.Rules())
		counts  = make([]uint64, g.Rules())
	)
	for r := range g.Rules() {
		body := slices.Collect(g.Body(r))
		if len(body) < 2 && r != g.Rules()-1 {
			t.Fatalf("rule %d has %d symbols", r, len(body))
		}
		for i, s := range body {
			if s.Rule >= r {
				t.Fatalf("rule %d refers to rule %d", r, s.Rule)
			}
			if s.Rule >= 0 {
				uses[s.Rule]++
				counts[s.Rule] += s.Count
			}
			if i == 0 {
				continue
			}
			before := body[i-1]
			if before.Rule == s.Rule && before.Symbol == s.Symbol {
				t.Fatalf("rule %d: symbols %d and %d are one run", r, i-1, i)
			}
			if p, ok := digrams[[2]Term{before, s}]; ok {
				t.Fatalf("the digram at rule %d, symbol %d, is also at rule %d, symbol %d", r, i-1, p.rule, p.at)
			}
			digrams[[2]Term{before, s}] = place{r, i - 1}
		}
	}
	for r := range g.Rules() - 1 {
		if uses[r] == 0 || uses[r] == 1 && counts[r] == 1 {
			t.Fatalf("rule %d is used %d times, with counts of %d in all", r, uses[r], counts[r])
		}
	}
}

func cycle(n int, in ...Symbol) []Symbol { return slices.Repeat(in, n) }

func TestBuilder(t *testing.T) {
	tests := []struct {
		name string
		in   []Symbol
		want string
	}{
		{"Empty", nil, "S →\n"},
		{"One", []Symbol{7}, "S → 7\n"},
		{"Run", cycle(1000, 7), "S → 7^1000\n"},
		{"Loop", cycle(10, 1, 2), "S → (1 2)^10\n"},
		{"LoopOfRuns", cycle(9, 1, 1, 1, 2), "S → (1^3 2)^9\n"},
		{"LoopInLoop", slices.Repeat(append(cycle(4, 1, 2), 3), 5), "S → ((1 2)^4 3)^5\n"},
		{"PartOfLoop", append(cycle(10, 1, 2, 3), 1, 2), "S → (R0 3)^10 R0\nR0 → 1 2\n"},
		{"Twice", []Symbol{1, 2, 3, 1, 2, 4, 1, 2}, "S → R0 3 R0 4 R0\nR0 → 1 2\n"},
		// The second 2² is not known after 1, a single 2 is: it is split.
		{"SplitRun", []Symbol{1, 2, 3, 1, 2, 2, 4}, "S → R0 3 R0 2 4\nR0 → 1 2\n"},
		// A known run is not split, although 1 2 is known too.
		{"WholeRun", []Symbol{1, 2, 2, 3, 1, 2, 4, 1, 2, 2}, "S → R0 3 1 2 4 R0\nR0 → 1 2^2\n"},
		// The rule of 1 2 is used once after 1 2 3 has one, and is dissolved.
		{"Dissolve", []Symbol{1, 2, 3, 4, 1, 2, 3}, "S → R0 4 R0\nR0 → 1 2 3\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := build(tt.in)
			if got := expand(t, g); !slices.Equal(got, tt.in) {
				t.Errorf("expansion = %v, want %v", got, tt.in)
			}
			if got := g.String(); got != tt.want {
				t.Errorf("grammar is\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// programGen draws sequences as programs make them: nested loops over a small
// alphabet, some of whose rounds are cut short, have a symbol changed, or one
// more or fewer at the start, in the middle or at the end.
var programGen = rapid.Custom(func(t *rapid.T) []Symbol {
	alphabet := Symbol(rapid.IntRange(1, 6).Draw(t, "alphabet"))
	symbol := rapid.Custom(func(t *rapid.T) Symbol {
		return Symbol(rapid.IntRange(0, int(alphabet)-1).Draw(t, "symbol"))
	})
	var loop func(depth int) []Symbol
	loop = func(depth int) []Symbol {
		if depth == 0 {
			return rapid.SliceOfN(symbol, 1, 5).Draw(t, "body")
		}
		var out []Symbol
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			body := loop(depth - 1)
			for range rapid.IntRange(1, 4).Draw(t, "rounds") {
				out = append(out, drawn.NearMiss(t, body, symbol)...)
			}
			if len(out) > 120 {
				break
			}
		}
		return out
	}
	return loop(rapid.IntRange(0, 3).Draw(t, "depth"))
})

// TestEveryAppend checks both invariants and the expansion after every append,
// with the loop cursor and without it.
func TestEveryAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		with, without := Builder{}, Builder{noCursor: true}
		for i, s := range in {
			with.Append(s)
			without.Append(s)
			for _, b := range []*Builder{&with, &without} {
				g := b.Snapshot()
				if got := expand(t, g); !slices.Equal(got, in[:i+1]) {
					t.Fatalf("cursor %v: expansion = %v, want %v", !b.noCursor, got, in[:i+1])
				}
				checkInvariants(t, g)
			}
		}
		if g := with.Finish(); !g.Equal(build(in)) {
			t.Fatalf("snapshots changed the grammar of %v", in)
		}
	})
}

// TestShortInputs checks every input of a small alphabet and length.
func TestShortInputs(t *testing.T) {
	for _, tt := range []struct{ alphabet, length int }{{2, tier.Number(12, 15)}, {3, tier.Number(8, 9)},
		{4, tier.Number(6, 7)}} {
		in := make([]Symbol, tt.length)
		for {
			for _, noCursor := range []bool{false, true} {
				b := Builder{noCursor: noCursor}
				for _, s := range in {
					b.Append(s)
				}
				g := b.Finish()
				if got := expand(t, g); !slices.Equal(got, in) {
					t.Fatalf("cursor %v: expansion = %v, want %v", !noCursor, got, in)
				}
				checkInvariants(t, g)
			}
			k := 0 // count up
			for ; k < len(in) && int(in[k]) == tt.alphabet-1; k++ {
				in[k] = 0
			}
			if k == len(in) {
				break
			}
			in[k]++
		}
	}
}

// TestDescentCredit makes the loop cursor fail in deep rules until it has no
// credit left, and goes on.
func TestDescentCredit(t *testing.T) {
	var b Builder
	var in []Symbol
	add := func(s ...Symbol) {
		in = append(in, s...)
		for _, s := range s {
			b.Append(s)
		}
	}
	spent := false
	const deep = 200
	for range 2 { // a rule for each prefix: 0 1, 0 1 2, …
		for n := Symbol(2); n < deep; n++ {
			for s := range n {
				add(s)
			}
			add(deep + n)
		}
	}
	b.credit = 0
	for range 3 {
		for s := range Symbol(deep - 1) {
			add(s)
		}
		for s := range Symbol(deep) {
			add(0, 3*deep+s)
			spent = spent || b.credit <= 0
		}
	}
	if !spent {
		t.Error("the credit was never spent")
	}
	g := b.Finish()
	if !slices.Equal(expand(t, g), in) {
		t.Error("expansion differs from the input")
	}
	checkInvariants(t, g)
}

// runsOf lists the runs of in.
func runsOf(in []Symbol) []Run {
	var runs []Run
	for _, s := range in {
		if k := len(runs) - 1; k >= 0 && runs[k].Symbol == s {
			runs[k].Count++
		} else {
			runs = append(runs, Run{s, 1})
		}
	}
	return runs
}

// TestAppendRun checks that the grammar depends on the sequence alone, not on
// the portions in which it is appended.
func TestAppendRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		var b Builder
		for _, r := range runsOf(in) {
			for r.Count > 0 {
				n := rapid.Uint64Range(1, r.Count).Draw(t, "portion")
				b.AppendRun(r.Symbol, n)
				r.Count -= n
			}
		}
		if got, want := b.Finish(), build(in); !got.Equal(want) {
			t.Fatalf("grammar is\n%swant\n%s", got, want)
		}
	})
}

// TestLongRuns checks counts that do not fit 32 bits, in terminals and rules.
func TestLongRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := []uint64{1, 2, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1 << 32, 1<<40 + 3}
		var (
			b    Builder
			want []Run
			n    uint64
		)
		body := rapid.SliceOfN(rapid.Map(rapid.SampledFrom(counts), func(c uint64) Run {
			return Run{0, c}
		}), 1, 4).Draw(t, "body")
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for _, r := range body {
				r.Symbol = Symbol(rapid.IntRange(0, 2).Draw(t, "symbol"))
				b.AppendRun(r.Symbol, r.Count)
				n += r.Count
				if k := len(want) - 1; k >= 0 && want[k].Symbol == r.Symbol {
					want[k].Count += r.Count
				} else {
					want = append(want, r)
				}
				g := b.Snapshot()
				checkInvariants(t, g)
				checkRuns(t, g, want)
			}
		}
		if b.Len() != n {
			t.Fatalf("Len = %d, want %d", b.Len(), n)
		}
	})
}

func checkRuns(t rapid.TB, g *Grammar, want []Run) {
	t.Helper()
	var (
		got []Run
		n   uint64
	)
	for at, r := range g.Runs() {
		if at != n {
			t.Fatalf("run %d begins at %d, want %d", len(got), at, n)
		}
		got = append(got, r)
		n += r.Count
	}
	if !slices.Equal(got, want) || g.Len() != n {
		t.Fatalf("runs = %v, %d symbols, want %v", got, g.Len(), want)
	}
}

// TestManySymbols checks an input of more than 2³² symbols, and the longest.
func TestManySymbols(t *testing.T) {
	var b Builder
	for range 1000 {
		b.AppendRun(1, 1e12)
		b.AppendRun(2, 3)
		b.Append(4)
	}
	g := b.Finish()
	if got, want := g.String(), "S → (1^1000000000000 2^3 4)^1000\n"; got != want {
		t.Errorf("grammar is %swant %s", got, want)
	}
	if got := g.At(1e12 * 1000); got != 1 {
		t.Errorf("At = %d, want 1", got)
	}
	for i := range uint64(1 << 20) { // X^k with k above 2³¹, by loops of runs
		b.AppendRun(Symbol(i%2), 1<<42)
	}
	b.Append(0) // the cursor is in a rule when the last run begins
	if b.AppendRun(3, maxLen-b.Len()); b.Len() != 1<<63-1 {
		t.Errorf("Len = %d, want 2⁶³−1", b.Len())
	}
	mustPanic(t, "one symbol too many", func() { b.Append(3) })
	mustPanic(t, "a run that overflows", func() { b.AppendRun(3, 1<<63) })
	if got := b.Finish().Len(); got != 1<<63-1 {
		t.Errorf("Len = %d, want 2⁶³−1", got)
	}
	b.Append(3)
	b.AppendRun(3, maxLen-2)
	b.Append(3)
	mustPanic(t, "one symbol too many in an open run", func() { b.Append(3) })
}

// TestFlush checks that giving up a prediction late in a long body changes as
// little as giving it up early.
func TestFlush(t *testing.T) {
	const body = 1000
	for _, at := range []Symbol{2, body / 2, body - 2} {
		var b Builder
		for range 5 {
			for s := range Symbol(body) {
				b.Append(s)
			}
		}
		for s := range at {
			b.Append(s)
		}
		before := len(b.nodes)
		b.Append(body)
		if len(b.pending) > 2 || len(b.nodes) > before+8 {
			t.Errorf("a departure after %d symbols: %d runs appended, %d nodes more", at, len(b.pending),
				len(b.nodes)-before)
		}
	}
}

func TestAlphabet(t *testing.T) {
	in := cycle(3, MaxSymbol, 0, MaxSymbol-1)
	if got := expand(t, build(in)); !slices.Equal(got, in) {
		t.Errorf("expansion = %v, want %v", got, in)
	}
	mustPanic(t, "a symbol above MaxSymbol", func() { build([]Symbol{MaxSymbol + 1}) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if m, ok := recover().(string); !ok || !strings.HasPrefix(m, "sequitur: ") {
			t.Errorf("%s: panicked with %q", what, m)
		}
	}()
	f()
}

// TestBuilderReuse checks a Builder against a slice, across snapshots at random
// moments and Finish.
func TestBuilderReuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			b    Builder
			want []Symbol
			done []*Grammar
			kept [][]Symbol
		)
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				in := programGen.Draw(t, "in")
				for _, s := range in {
					b.Append(s)
				}
				want = append(want, in...)
			},
			"snapshot": func(t *rapid.T) {
				done, kept = append(done, b.Snapshot()), append(kept, slices.Clone(want))
			},
			"finish": func(t *rapid.T) {
				done, kept, want = append(done, b.Finish()), append(kept, want), nil
			},
			"": func(t *rapid.T) { // grammars handed out earlier never change
				for i, g := range done {
					if got := expand(t, g); !slices.Equal(got, kept[i]) {
						t.Fatalf("grammar %d = %v, want %v", i, got, kept[i])
					}
				}
				if b.Len() != uint64(len(want)) {
					t.Fatalf("Len = %d, want %d", b.Len(), len(want))
				}
			},
		})
	})
}

// TestCompact checks a grammar that loses most of its symbols again and again.
func TestCompact(t *testing.T) {
	var b Builder
	var in []Symbol
	compacted := false
	for range 3 {
		for _, s := range suffixes(600) {
			before := len(b.nodes)
			b.Append(s)
			compacted = compacted || len(b.nodes) < before
			in = append(in, s)
		}
		in = append(in, 1000)
		b.Append(1000)
	}
	if !compacted {
		t.Error("the arena was never compacted")
	}
	g := b.Finish()
	if !slices.Equal(expand(t, g), in) {
		t.Error("expansion differs from the input")
	}
	checkInvariants(t, g)
}

// TestHash checks that digrams that once had one hash spread over the table:
// with the key of this process unknown, no input can be made to collide.
func TestHash(t *testing.T) {
	found := make(map[uint32]int)
	for i := range uint32(1 << 16) {
		found[hashDigram(node{ref: ref(i), count: 1}, node{ref: ref(i ^ 1), count: 1})>>16]++
		found[hashDigram(node{ref: 7, count: i + 1}, node{ref: 9, count: 1})>>16]++
	}
	for h, n := range found {
		if n > 40 { // 2 are expected
			t.Errorf("%d digrams share the upper half %04x of their hash", n, h)
		}
	}
}

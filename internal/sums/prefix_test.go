package sums

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

// TestCommonPrefix compares sequences that differ in one place, if at all, symbol by
// symbol, of which one is appended in other portions and with other numbers.
func TestCommonPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sequence []sequitur.Symbol
		for _, phrase := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 4), 1, 5), 0, 6).Draw(t, "phrases") {
			for range rapid.IntRange(1, 6).Draw(t, "times") {
				sequence = append(sequence, phrase...)
			}
		}
		other := append([]sequitur.Symbol(nil), sequence...)
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
		numbers := rapid.Permutation([]sequitur.Symbol{10, 11, 12, 13, 14, 15}).Draw(t, "numbers")
		back := make(map[sequitur.Symbol]sequitur.Symbol)
		for s, n := range numbers {
			back[n] = sequitur.Symbol(s)
		}
		var b, c sequitur.Builder
		for _, s := range sequence {
			b.Append(s)
		}
		for _, s := range other {
			c.Append(numbers[s])
		}
		g, h := b.Finish(), c.Finish()
		if got := CommonPrefix(g, h, func(s sequitur.Symbol) sequitur.Symbol { return back[s] }); got != want {
			t.Fatalf("%v and %v have %d symbols in common, want %d", sequence, other, got, want)
		}
		if got := CommonPrefix(g, g, nil); got != g.Len() {
			t.Fatalf("%v has %d symbols in common with itself", sequence, got)
		}
		// The same sequence, not folded.
		if got := CommonPrefix(g, flat(h), func(s sequitur.Symbol) sequitur.Symbol { return back[s] }); got != want {
			t.Fatalf("unfolded, %v and %v have %d symbols in common, want %d", sequence, other, got, want)
		}
	})
}

// flat returns a grammar of the sequence of g that has no rule but the start rule.
func flat(g *sequitur.Grammar) *sequitur.Grammar {
	var list []*sequitur.Grammar
	for _, run := range g.Runs() {
		var b sequitur.Builder
		b.AppendRun(run.Symbol, run.Count)
		list = append(list, b.Finish())
	}
	return sequitur.Concat(list...)
}

// TestCommonPrefixLong compares loops of more rounds than anybody can go through.
func TestCommonPrefixLong(t *testing.T) {
	loop := func(rounds uint64, last sequitur.Symbol) *sequitur.Grammar {
		var b sequitur.Builder
		b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: 2, Count: 3}}, rounds)
		b.Append(last)
		b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: 2, Count: 3}}, 1<<40)
		return b.Finish()
	}
	for _, tt := range []struct {
		g, h *sequitur.Grammar
		want uint64
	}{
		{loop(1<<50, 7), loop(1<<50, 7), 1<<52 + 1 + 1<<42},
		{loop(1<<50, 7), loop(1<<50, 8), 1 << 52},
		{loop(1<<50, 7), loop(1<<50+1, 7), 1 << 52},
		{loop(1<<50, 1), loop(1<<50, 2), 1 << 52},
	} {
		if got := CommonPrefix(tt.g, tt.h, nil); got != tt.want {
			t.Errorf("%d symbols in common, want %d", got, tt.want)
		}
		if got := CommonPrefix(tt.h, tt.g, nil); got != tt.want {
			t.Errorf("%d symbols in common the other way, want %d", got, tt.want)
		}
	}
}

func BenchmarkCommonPrefix(b *testing.B) {
	var g, h sequitur.Builder
	g.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: 2, Count: 3}, {Symbol: 4, Count: 1}}, 1<<40)
	h.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: 2, Count: 3}, {Symbol: 4, Count: 1}}, 1<<40)
	g.Append(7)
	h.Append(8)
	x, y := g.Finish(), h.Finish()
	for b.Loop() {
		CommonPrefix(x, y, nil)
	}
}

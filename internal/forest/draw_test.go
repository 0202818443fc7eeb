package forest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

func build(in []sequitur.Symbol) *sequitur.Grammar {
	var b sequitur.Builder
	for _, s := range in {
		b.Append(s)
	}
	return b.Finish()
}

// expand lists the symbols g generates, and checks that positions count up.
func expand(t rapid.TB, g *sequitur.Grammar) []sequitur.Symbol {
	t.Helper()
	var out []sequitur.Symbol
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

func cycle(n int, in ...sequitur.Symbol) []sequitur.Symbol { return slices.Repeat(in, n) }

// runsOf lists the runs of in.
func runsOf(in []sequitur.Symbol) []sequitur.Run {
	var runs []sequitur.Run
	for _, s := range in {
		if k := len(runs) - 1; k >= 0 && runs[k].Symbol == s {
			runs[k].Count++
		} else {
			runs = append(runs, sequitur.Run{Symbol: s, Count: 1})
		}
	}
	return runs
}

package sequitur

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLoops checks every loop at every place of the sequence of a grammar.
func TestLoops(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var b Builder
		phrase := rapid.SliceOfN(rapid.Uint32Range(0, 3), 1, 4)
		for range rapid.IntRange(1, 4).Draw(t, "loops") {
			inner, outer := phrase.Draw(t, "inner"), phrase.Draw(t, "outer")
			n, m := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "m")
			for range n {
				for _, s := range slices.Concat(outer, slices.Repeat(inner, m)) {
					b.Append(s)
				}
			}
		}
		g := b.Finish()
		var sequence []Symbol
		for _, s := range g.All() {
			sequence = append(sequence, s)
		}
		w := g.Walk(0)
		for at := 0; at < len(sequence); {
			for _, l := range w.AppendLoops(nil) {
				found++
				stretch := sequence[at : at+int(l.Length)]
				for i := int(l.Period); i < len(stretch); i++ {
					if stretch[i] != stretch[i-int(l.Period)] {
						t.Fatalf("%v at %d of %v", l, at, sequence)
					}
				}
			}
			at += int(w.Next().Count)
		}
	})
	if found == 0 {
		t.Error("no loop was found")
	}
}

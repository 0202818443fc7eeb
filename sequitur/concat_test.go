package sequitur

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestConcat compares concatenations of grammars with those of their sequences.
func TestConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			grammars []*Grammar
			want     []Symbol
			symbols  int
			disjoint = rapid.Bool().Draw(t, "disjoint")
		)
		for i := range rapid.IntRange(0, 4).Draw(t, "grammars") {
			var b Builder
			for range rapid.IntRange(0, 3).Draw(t, "loops") {
				body := rapid.SliceOfN(rapid.Uint32Range(0, 3), 1, 5).Draw(t, "body")
				for range rapid.IntRange(1, 9).Draw(t, "rounds") {
					for _, s := range body {
						if disjoint {
							s += 10 * uint32(i)
						}
						b.Append(s)
						want = append(want, s)
					}
				}
			}
			g := b.Finish()
			grammars, symbols = append(grammars, g), symbols+g.Symbols()
		}
		g := Concat(grammars...)
		var got []Symbol
		for _, s := range g.All() {
			got = append(got, s)
		}
		if !slices.Equal(got, want) || g.Len() != uint64(len(want)) {
			t.Fatalf("%v\n%v", got, want)
		}
		if disjoint && g.Symbols() != symbols {
			t.Errorf("%d symbols, the grammars have %d", g.Symbols(), symbols)
		}
		enc, _ := g.MarshalBinary()
		if h, err := Parse(enc, Options{}); err != nil || !h.Equal(g) {
			t.Errorf("%v: %v", err, g)
		}
	})
}

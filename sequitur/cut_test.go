package sequitur

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCut compares parts of a grammar with those of its sequence.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list, want []Symbol
		for range rapid.IntRange(0, 8).Draw(t, "loops") {
			body := rapid.SliceOfN(rapid.Uint32Range(0, 3), 1, 6).Draw(t, "body")
			for range rapid.IntRange(1, 9).Draw(t, "trips") {
				for _, s := range body {
					list = append(list, Symbol(s))
				}
			}
		}
		var b Builder
		for _, s := range list {
			b.Append(s)
		}
		g := b.Finish()
		var parts [][2]uint64
		at := 0
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			from := rapid.IntRange(at, len(list)).Draw(t, "from")
			at = rapid.IntRange(from, len(list)).Draw(t, "end")
			parts, want = append(parts, [2]uint64{uint64(from), uint64(at)}), append(want, list[from:at]...)
		}
		cut, err := g.Cut(parts...)
		if err != nil {
			t.Fatal(err)
		}
		var got []Symbol
		for _, s := range cut.All() {
			got = append(got, s)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, not %v, of %v of\n%s", got, want, parts, g)
		}
	})
}

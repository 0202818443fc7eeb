package rankenc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCombine combines sets, of which each is a list of items or a bitmap, rank by rank.
func TestCombine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 40_000
		draw := func(name string) Set {
			var ranks []int
			if rapid.Bool().Draw(t, name+" is irregular") {
				ranks = random(most, rapid.SampledFrom([]float64{0.2, 0.5, 0.9}).Draw(t, name+" share"))
				ranks = ranks[rapid.IntRange(0, len(ranks)/8).Draw(t, name+" from"):]
			} else {
				ranks = ranksGen.Draw(t, name)
			}
			return SetOf(ranks...)
		}
		s, u := draw("s"), draw("t")
		for _, tt := range []struct {
			name string
			got  Set
			want func(inS, inT bool) bool
		}{
			{"union", s.Union(u), func(inS, inT bool) bool { return inS || inT }},
			{"intersection", s.Intersection(u), func(inS, inT bool) bool { return inS && inT }},
			{"difference", s.Difference(u), func(inS, inT bool) bool { return inS && !inT }},
		} {
			want := SetOf(where(most, func(r int) bool { return tt.want(s.Contains(r), u.Contains(r)) })...)
			if !tt.got.Equal(want) {
				t.Fatalf("%s of %v and %v = %v, want %v", tt.name, s, u, tt.got, want)
			}
		}
	})
}

package trace

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestWithout leaves ranks out of orders, one by one, and out of one with more turns than can be gone through.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b sequitur.Builder
		var want []sequitur.Symbol
		gone := rankenc.SetOf(rapid.SliceOfDistinct(rapid.IntRange(0, 3), rapid.ID[int]).Draw(t, "gone")...)
		for _, phrase := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 3), 1, 5), 0, 6).Draw(t, "phrases") {
			for _, s := range slices.Repeat(phrase, rapid.IntRange(1, 6).Draw(t, "times")) {
				if b.Append(s); !gone.Contains(int(s)) {
					want = append(want, s)
				}
			}
		}
		if got := without(b.Finish(), gone).AppendSymbols(nil); !slices.Equal(got, want) {
			t.Fatalf("order %v, want %v", got, want)
		}
	})
	var b sequitur.Builder
	b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: 2, Count: 3}, {Symbol: 3, Count: 1}}, 1<<50)
	if g := without(b.Finish(), rankenc.SetOf(1)); g == nil || g.Len() != 1<<52 || g.At(4) != 2 || g.At(3) != 3 {
		t.Errorf("order %v", g)
	}
}

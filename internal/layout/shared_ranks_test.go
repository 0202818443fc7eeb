package layout

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
)

// TestSharedRanks compares with counts.
func TestSharedRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var shared SharedRanks
		counts := make(map[int]int)
		for range rapid.IntRange(0, 20).Draw(t, "sets") {
			list := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 8, rapid.ID[int]).Draw(t, "ranks")
			shared.Add(rankenc.SetOf(list...))
			for _, rank := range list {
				counts[rank]++
			}
		}
		var want rankenc.SetBuilder
		for rank, n := range counts {
			if n > 1 {
				want.Add(rank)
			}
		}
		if got, want := shared.Ranks(), want.Finish(); !got.Equal(want) {
			t.Fatalf("ranks %v, want %v", got, want)
		}
	})
}

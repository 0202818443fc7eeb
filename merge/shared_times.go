package merge

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/timing"
)

// sharedSeries returns the series of a, where that is smaller with what short ones learn from others. Accumulators
// and part files have all without.
func (a *Accumulator) sharedSeries(ctx context.Context) layout.SharedSeries {
	if a.bounded.what() != nil {
		return layout.PlainSeries(a.series)
	}
	type ranks struct {
		span
		shape *shape
	}
	var all []ranks
	for _, s := range a.shapes {
		for _, p := range s.ranks {
			all = append(all, ranks{p, s})
		}
	}
	slices.SortFunc(all, func(x, y ranks) int { return cmp.Compare(x.first, y.first) })
	return layout.ShareSeries(ctx, a.series, func(rank int) timing.Terminals {
		i := sort.Search(len(all), func(i int) bool { return int(all[i].first) > rank }) - 1
		if i < 0 || rank > int(all[i].last) {
			return nil
		}
		return func(dst []uint32, first uint64) {
			for k, t := range all[i].shape.grammar.From(first) {
				if k-first == uint64(len(dst)) {
					break
				}
				dst[k-first] = t
			}
		}
	})
}

package merge

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestHugeBudgets has more and more calls on more and more ranks: a budget is as large or larger, what is left of
// it is told, and none of the numbers is beyond what there is.
func TestHugeBudgets(t *testing.T) {
	last := int64(0)
	for _, tt := range []struct {
		calls         uint64
		ranks, shapes int
	}{
		{1, 1, 1}, {1 << 20, 1 << 10, 1}, {1 << 31, 1 << 10, 1}, {1 << 40, 1 << 20, 1}, {1 << 40, layout.MaxRanks, 9},
	} {
		var (
			a    Accumulator
			b    sequitur.Builder
			told time.Duration
		)
		b.AppendRun(0, tt.calls)
		x := &shape{grammar: b.Finish(), ranks: spans(nil).add(0, tt.ranks-1)}
		var shapes []*shape
		for range tt.shapes {
			shapes = append(shapes, x)
		}
		a.SetEffort(MaxEffort)
		a.OnProgress(func(_ string, left time.Duration) { told = left })
		s := a.newSearch(context.Background(), shapes, nil)
		s.at(inForest)
		if s.budget < last || told.Microseconds() != s.budget {
			t.Errorf("%d calls of %d ranks: budget %d, after %d of fewer, told %v", tt.calls, tt.ranks,
				s.budget, last, told)
		}
		s.mix(func(left *mixing.Work) {
			if int64(*left) != s.budget*bitsMixed {
				t.Errorf("%d bits of %d", *left, s.budget)
			}
		})
		last = s.budget
		if s.spend(s.budget + 1); told < 0 {
			t.Errorf("%v are left", told)
		}
	}
}

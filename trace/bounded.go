package trace

import (
	"sort"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// readBounded reads what is not as it was recorded, if the run says that there is something.
func (t *Trace) readBounded() (err error) {
	t.run.Bounded, err = layout.ReadBounded(t.file, len(t.Functions()), t.active)
	if err == nil && t.bounded != (t.run.Bounded != nil) {
		err = layout.Damaged(layout.KindBounded, 0, layout.Corrupt("the run says that there is one: %v", t.bounded))
	}
	return err
}

// checkStretches checks that r, of shape s, has the calls of its stretches.
func (r *Rank) checkStretches(s *Shape) error {
	if err := layout.CheckStretches(layout.StretchesOf(r.trace.run.Bounded, r.number), s.Grammar.Len()); err != nil {
		return layout.Damaged(layout.KindBounded, 0, err)
	}
	return nil
}

// Exact reports whether c is what the rank called at its position. In a trace that was made to fit
// a size, it need not be: in a stretch, it stands for one of those with its function, and
// elsewhere some of its arguments may be of a distribution. Calls that were not read from a
// trace are exact.
func (c Call) Exact() bool {
	if c.of == nil || c.of.trace.run.Bounded == nil {
		return true
	}
	list := c.of.trace.run.Bounded.Stretches[c.of.number]
	i := sort.Search(len(list), func(i int) bool { return layout.EndOf(list[i]) > c.Position })
	if i < len(list) && list[i].First <= c.Position {
		return false
	}
	functions := c.of.trace.Functions()
	for f := range c.of.trace.run.Bounded.InOrder {
		if c.Function == &functions[f] {
			return false
		}
	}
	return true
}

// spreadSummaries returns the summaries, with each signature of a function having its share where
// they are of all calls of the function: that of its calls.
func (t *Trace) spreadSummaries() (layout.Summaries, error) {
	all, err := t.summaries()
	if err != nil || all.IsZero() || t.run.Bounded == nil || !t.run.Bounded.ByFunction {
		return all, err
	}
	calls := make([]uint64, t.Signatures())
	of := make([]uint64, len(t.Functions()))
	for i := range t.Shapes() {
		s, err := t.shape(i)
		if err != nil {
			return all, err
		}
		for n, k := range s.Grammar.Occurrences() {
			k = wire.MulSat(k, uint64(t.ShapeRanks(i).Len()))
			calls[n] = wire.AddSat(calls[n], k)
			of[t.FunctionOf(int(n))] = wire.AddSat(of[t.FunctionOf(int(n))], k)
		}
	}
	var spread layout.Summaries
	for k := range all {
		whole := make([]timing.Statistics, len(of))
		for n := range all[k].Statistics {
			whole[t.FunctionOf(n)].Merge(&all[k].Statistics[n])
		}
		at := make([]uint64, len(of))
		for n := range calls {
			f := t.FunctionOf(n)
			if end := at[f] + calls[n]; calls[n] > 0 && end >= at[f] {
				*layout.StatisticsOf(&spread[k], uint32(n)) = whole[f].Share(at[f], end, of[f])
				at[f] = end
			}
		}
	}
	return spread, nil
}

// bounded returns what the part of r says of what is not as it was recorded.
func (r *Rank) bounded() *format.Bounded {
	b := r.trace.run.Bounded
	if b == nil {
		return nil
	}
	own := *b
	own.Transitions, own.Stretches = nil, nil
	if list := b.Stretches[r.number]; len(list) > 0 {
		own.Stretches = map[int][]format.Stretch{r.number: list}
	}
	return &own
}

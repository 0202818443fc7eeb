package merge

import (
	"context"
	"fmt"

	"github.com/reprise-trace/reprise/rankenc"
)

// AddTrace adds all ranks of a trace, of which a must have none with calls, what the
// trace has of their times, and the names, but nothing else of the description of
// the run. An error about the file is a [*SectionError].
func (a *Accumulator) AddTrace(ctx context.Context, t *Trace) error {
	if err := a.addNames(t.run.Names); err != nil {
		return err
	}
	for rank, ok := t.Active(0); ok; rank, ok = t.Active(rank + 1) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, err := t.Part(rank)
		if err == nil {
			err = a.Add(p)
		}
		if err != nil {
			return err
		}
	}
	return a.AddTimes(t, nil)
}

// AddTimes adds what a trace has of the times of calls, as far as a has the ranks,
// which must have been added as [Trace.Part] returns them, and without times: each
// series, and the summaries of signatures that one of the ranks has.
//
// Lost, unless it is nil, is called with each rank whose series cannot be read, and
// with −1 for what concerns no single rank, and the error; if it returns nil, the
// rest is added. If AddTimes fails, nothing is added. An error about the file is a
// [*SectionError].
func (a *Accumulator) AddTimes(t *Trace, lost func(rank int, err error) error) error {
	if lost == nil {
		lost = func(_ int, err error) error { return err }
	}
	a.settle()
	placed, err := a.placeTimes(t)
	if err != nil {
		if err = lost(-1, err); err != nil {
			return err
		}
	}
	series, err := a.seriesOf(t, lost)
	if err != nil {
		return err
	}
	if err := a.checkTwice(placed, series); err != nil {
		return err
	}
	for i := range placed {
		if err := a.kind.take(placed[i].times.kind()); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
	}
	a.placed, a.series = append(a.placed, placed...), append(a.series, series...)
	return nil
}

// placeTimes returns the summaries of a trace, those of each signature, or of two
// in a row, at a shape that has them and of which a has a rank. The error is about
// what is left; the rest is returned.
func (a *Accumulator) placeTimes(t *Trace) ([]placedTimes, error) {
	all, err := t.summaries()
	if err != nil || all.isZero() {
		return nil, err
	}
	var placed []placedTimes
	left := all.clone()
	for i := range t.Shapes() {
		rank, ok := a.rankOf(t.ShapeRanks(i))
		if !ok {
			continue // the ranks are lost, and with them their shape
		}
		s, err := t.Shape(i)
		if err != nil {
			return placed, err
		}
		if p := s.placeTimes(rank, &left); !p.times.isZero() {
			placed = append(placed, p)
		}
	}
	if n := left.values(); n > 0 {
		err = &SectionError{KindSummaries, 0, -1, fmt.Errorf("merge: %d values are of calls of ranks that are not there", n)}
	}
	return placed, err
}

// rankOf returns one of some ranks that a has.
func (a *Accumulator) rankOf(set rankenc.Set) (int, bool) {
	for first, last := range set.Ranges() {
		if rank, ok := a.ranks.next(first); ok && rank <= last {
			return rank, true
		}
	}
	return 0, false
}

// seriesOf returns the series of the ranks that a has.
func (a *Accumulator) seriesOf(t *Trace, lost func(rank int, err error) error) ([]rankSeries, error) {
	table, err := t.series()
	if err != nil {
		return nil, lost(-1, err)
	}
	if table == nil {
		return nil, nil
	}
	var list []rankSeries
	counts := a.callCounts()
	err = t.eachSeries(table, counts.of, func(s rankSeries, err error) error {
		switch {
		case counts.of(s.rank) == 0:
			return nil
		case err != nil:
			return lost(s.rank, err)
		}
		list = append(list, s)
		return nil
	})
	return list, err
}

// checkTwice returns an error if a has times already of ranks of which there are
// some to be added.
func (a *Accumulator) checkTwice(placed []placedTimes, series []rankSeries) error {
	has := make(map[int]bool)
	for _, s := range a.series {
		has[s.rank] = true
	}
	for _, p := range a.placed {
		has[p.rank] = true
	}
	for _, s := range series {
		if has[s.rank] {
			return fmt.Errorf("merge: times of rank %d, which has some", s.rank)
		}
	}
	for _, p := range placed {
		if has[p.rank] {
			return fmt.Errorf("merge: times of rank %d, which has some", p.rank)
		}
	}
	return nil
}

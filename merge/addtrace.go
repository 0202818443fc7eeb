package merge

import (
	"context"

	"github.com/reprise-trace/reprise/timing"
)

// AddTrace adds all ranks of a trace, of which a must have none with calls, and
// what the trace has of their times, but not the description of the run. Progress,
// unless it is nil, is called after each rank with the number of those that are
// done. An error about the file is a [*SectionError].
func (a *Accumulator) AddTrace(ctx context.Context, t *Trace, progress func(done int)) error {
	done := 0
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
		if done++; progress != nil {
			progress(done)
		}
	}
	return a.AddTimes(t, nil)
}

// AddTimes adds what a trace has of the times of calls, as far as a has the ranks,
// which must have been added as [Trace.Part] returns them: each series, and the
// summaries of the signatures that one of the ranks has. Lost, unless it is nil, is
// called with each rank whose series cannot be read, and the error; if it returns
// nil, the others are added. An error about the file is a [*SectionError].
func (a *Accumulator) AddTimes(t *Trace, lost func(rank int, err error) error) error {
	a.settle()
	if err := a.addSummaries(t); err != nil {
		return err
	}
	table, err := t.series()
	if err != nil || table == nil {
		return err
	}
	counts := a.callCounts()
	return t.eachSeries(table, counts.of, func(s rankSeries, err error) error {
		switch {
		case counts.of(s.rank) == 0:
			return nil
		case err != nil && lost != nil:
			return lost(s.rank, err)
		}
		a.series = append(a.series, s)
		return err
	})
}

// addSummaries adds the summaries of a trace, those of each signature, or of two in
// a row, to a shape that has them.
func (a *Accumulator) addSummaries(t *Trace) error {
	all, err := t.summaries()
	if err != nil || all.isZero() {
		return err
	}
	left := all.clone()
	for i := 0; i < t.Shapes() && !left.isZero(); i++ {
		rank := int(t.ShapeRanks(i).At(0))
		of := a.shapeOf(rank)
		if of == nil {
			continue // the rank is lost, and with it its shape
		}
		s, err := t.Shape(i)
		if err != nil {
			return err
		}
		c, err := t.Calls(rank)
		if err != nil {
			return err
		}
		own := make(map[uint32]uint32) // the terminals of the rank by signature
		for at, n := range s.Grammar.FirstUses() {
			own[uint32(n)] = uint32(c.Walk(at).Next().Symbol)
		}
		taken := left.take(own)
		of.times.merge(&taken)
	}
	return nil
}

// shapeOf returns the shape of a rank, nil if a does not have the rank.
func (a *Accumulator) shapeOf(rank int) *shape {
	for _, s := range a.shapes {
		if s.ranks.contains(rank) {
			return s
		}
	}
	return nil
}

// take removes from s what is of terminals that own has, and returns it over what
// these are there.
func (s *summaries) take(own map[uint32]uint32) summaries {
	var taken summaries
	for i := range s {
		for n, t := range own {
			if int(n) >= len(s[i].Statistics) || s[i].Statistics[n].Count == 0 {
				continue
			}
			taken[i].of(t).Merge(&s[i].Statistics[n])
			s[i].Statistics[n] = timing.Statistics[int64]{}
		}
		taken[i].Histograms, s[i].Histograms = splitHistograms(s[i].Histograms, own)
	}
	return taken
}

// splitHistograms returns the histograms of paths that own has, over what the
// terminals are there, and the others.
func splitHistograms(h *timing.Histograms[int64], own map[uint32]uint32) (taken, left *timing.Histograms[int64]) {
	if h == nil {
		return nil, nil
	}
	has := func(p timing.Path) bool {
		_, ok := own[p.Terminal]
		if p.Previous != timing.NoPrevious && ok {
			_, ok = own[uint32(p.Previous)]
		}
		return ok
	}
	taken = h.Select(has).Rename(func(t uint32) uint32 { return own[t] })
	left = h.Select(func(p timing.Path) bool { return !has(p) })
	return taken, left
}

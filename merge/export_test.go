package merge

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Racing says that the tests run under the race detector.
var Racing = false

// Limits that tests look at.
const (
	PartRankMemory   = partRankMemory
	MaxSlice         = maxSlice
	MaxSlicedStorage = maxSlicedStorage
	MaxHeld          = maxHeld
)

// IsRankByRank reports whether an interleaving is none.
var IsRankByRank = isRankByRank

// ForgetSeries removes the times of every call.
func (a *Accumulator) ForgetSeries() { a.series = nil }

// Stretch makes ranks from 0 to before n of the only rank that is in a.
func (a *Accumulator) Stretch(n int) {
	a.size, a.ranks = n, a.ranks[:0].add(0, n-1)
	for _, s := range a.shapes {
		s.ranks = s.ranks[:0].add(0, n-1)
	}
}

// MergeContext is Merge that can be cancelled.
func (a *Accumulator) MergeContext(ctx context.Context, b *Accumulator) error { return a.merge(ctx, b) }

// SizeWithoutSlices returns the size of the trace with all columns stored whole.
func (a *Accumulator) SizeWithoutSlices() int {
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	e, _ := a.newSearch(context.Background(), shapes, nil).smallest(shapes)
	return e.size()
}

// SizeOfAll returns the size of the trace when all that there is is tried, also where it is clear that
// streams in blocks make it smaller, and whether that is so.
func (a *Accumulator) SizeOfAll() (size int, clearly bool) {
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	s := a.newSearch(context.Background(), shapes, nil)
	t := s.sample(shapes)
	e, _ := s.best(shapes, t)
	return e.size(), t.clearly
}

// Candidates returns the number of arguments that may be varying.
func (a *Accumulator) Candidates() int {
	return len(varyingCandidates(slices.Collect(maps.Values(a.shapes)), a.functions.Functions(), false))
}

// StreamsWithin reports whether arguments for streams are found within a budget of work, and whether the trace with
// these is made then.
func (a *Accumulator) StreamsWithin(budget int) (found, made bool) {
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	s := a.newSearch(context.Background(), shapes, nil)
	s.budget, s.whole = int64(budget), int64(budget)
	t := s.sample(shapes)
	return len(t.arguments) > 0, len(t.arguments) > 0 && s.withStreams(shapes, t)
}

// WriteWithin is Write of what is found with a budget of work.
func (a *Accumulator) WriteWithin(w io.Writer, budget int) error {
	a.renumber()
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	s := a.newSearch(context.Background(), shapes, nil)
	s.budget, s.whole = int64(budget), int64(budget)
	e, err := s.smallest(shapes)
	if err != nil {
		return err
	}
	a.complete(context.Background(), &e)
	_, _, err = e.sections.write(w)
	return err
}

// Flags returns the flags of the section of the run of the trace that a would write.
func (a *Accumulator) Flags() byte {
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	e, err := a.newSearch(context.Background(), shapes, nil).smallest(shapes)
	if err != nil {
		return 0
	}
	d := wire.NewDecoder("merge", e.sections.run)
	d.Uvarint("ranks")
	d.String("source")
	return d.Byte("flags")
}

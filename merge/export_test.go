package merge

import (
	"context"
	"maps"
	"slices"
)

// Racing says that the tests run under the race detector.
var Racing = false

// Limits that tests look at.
const (
	MaxPartRanks     = maxPartRanks
	MaxSlice         = maxSlice
	MaxSlicedStorage = maxSlicedStorage
	MaxHeld          = maxHeld
)

// IsRankByRank reports whether an interleaving is none.
var IsRankByRank = isRankByRank

// ForgetSeries removes the times of every call.
func (a *Accumulator) ForgetSeries() { a.series = nil }

// MergeContext is Merge that can be cancelled.
func (a *Accumulator) MergeContext(ctx context.Context, b *Accumulator) error { return a.merge(ctx, b) }

// SizeWithoutSlices returns the size of the trace with all columns stored whole.
func (a *Accumulator) SizeWithoutSlices() int {
	shapes := slices.Collect(maps.Values(a.shapes))
	sortShapes(shapes)
	e := a.smallest(context.Background(), shapes, nil)
	return e.size()
}

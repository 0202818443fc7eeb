// Package piecewise moves times of one clock to be those of another, in pieces that are lines, and
// by jumps that are led back. All is in whole numbers, so that it is the same on all machines.
package piecewise

import (
	"math/bits"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// MaxRate is the greatest Rate of a [format.Alignment], which makes the time between two calls up to a 128th longer.
const MaxRate = 1 << 43

// Apply returns a time of the other clock, as a moves it. Later times stay later or become equal. It is exact but for the
// fraction of a nanosecond, on all machines alike, and where a result is not an int64, the nearest.
func Apply(a format.Alignment, time int64) int64 {
	since := wire.SubTimes(time, a.Since)
	hi, lo := bits.Mul64(magnitude(since), magnitude(a.Rate))
	more := int64(hi<<14 | lo>>50) // below 2⁵⁷
	if (since < 0) != (a.Rate < 0) {
		more = -more
	}
	return wire.AddTimes(time, wire.AddTimes(a.Offset, more))
}

// Pieces move the times of a clock that does not run evenly. Each holds from its Since until that of the
// next; the first also before. Those after the first are in ascending order of Since, which is above
// [math.MinInt64]. One piece moves times as a [format.Alignment], and none moves nothing.
type Pieces []format.Alignment

// MaxPieces is how many Pieces there are at most. A time takes as long as there are pieces up to it.
const MaxPieces = 64

// Apply returns a time of the other clock. Later times stay later or become equal: where the next piece would
// go back, time stands still.
func (p Pieces) Apply(time int64) int64 {
	if len(p) == 0 {
		return time
	}
	last := 0
	for last+1 < len(p) && p[last+1].Since <= time {
		last++
	}
	at := Apply(p[last], time)
	for i := 1; i <= last; i++ {
		at = max(at, Apply(p[i-1], p[i].Since-1))
	}
	return at
}

// Jump returns by how much times of the other clock differ, at most, between a piece and the next where that
// begins.
func (p Pieces) Jump() (most int64) {
	for i := 1; i < len(p); i++ {
		by := wire.SubTimes(Apply(p[i], p[i].Since), Apply(p[i-1], p[i].Since))
		most = max(most, by, wire.SubTimes(0, by))
	}
	return most
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

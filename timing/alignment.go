package timing

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
)

// An Alignment is by how much the times of one clock are moved to be those of another: by Offset
// at the time Since, and more or less by Rate, in units of 2⁻⁵⁰, for each nanosecond from then. The zero
// Alignment moves nothing.
type Alignment struct {
	Offset int64 `json:"offset_ns"`
	Rate   int64 `json:"rate_2_50"` // at most [MaxRate] and −MaxRate at least
	Since  int64 `json:"since_ns"`
}

// MaxRate is the greatest Rate of an Alignment, which makes the time between two calls up to a 128th longer.
const MaxRate = 1 << 43

// Apply returns a time of the other clock. Later times stay later or become equal. It is exact but for the fraction of a
// nanosecond, on all machines alike, and where a result is not an int64, the nearest.
func (a Alignment) Apply(time int64) int64 {
	since := wire.SubTimes(time, a.Since)
	hi, lo := bits.Mul64(magnitude(since), magnitude(a.Rate))
	more := int64(hi<<14 | lo>>50) // below 2⁵⁷
	if (since < 0) != (a.Rate < 0) {
		more = -more
	}
	return wire.AddTimes(time, wire.AddTimes(a.Offset, more))
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// align moves a call to the other clock.
func (a Alignment) align(t *Time) {
	if a != (Alignment{}) {
		end := a.Apply(wire.AddTimes(t.Start, t.Duration))
		t.Start = a.Apply(t.Start)
		t.Duration = wire.SubTimes(end, t.Start)
	}
}

package replay

import (
	"math"

	"github.com/reprise-trace/reprise/timing"
)

// Draw has times that the trace does not have call by call be drawn from its histograms, if it has any,
// instead of being means: of the call's signature or, if they are by path, of that after the one before. The
// min and the max of a signature are those of its first calls on the ranks that had them. What is drawn
// depends on the seed, the rank and the position of the call, and on nothing else but [Recorded.Together].
//
// Extremes on their ranks are due to P. Ratn, F. Mueller, B. R. de Supinski and M. Schulz, "Preserving Time
// in Large-Scale Communication Traces", ICS 2008, §3.4.
func (r *Recorded) Draw(seed uint64) {
	if r.durations.Histograms == nil && r.gaps.Histograms == nil {
		return
	}
	r.draws = &draws{seed: seed, before: make(map[threadKey]int64), given: make(map[int]extremes)}
}

// Draws describe the calls whose times are drawn.
type draws struct {
	seed   uint64
	before map[threadKey]int64 // signature of the call before, by thread
	given  map[int]extremes    // by signature

	together float64 // the share that is the same on all ranks
	least    float64 // the sum of the min durations of calls that do something to other ranks, in picoseconds
}

// extremes say which extremes of a signature its calls have had.
type extremes uint8

const (
	minGap extremes = 1 << iota
	maxGap
	minDuration
	maxDuration
)

// drawn returns the gap before a call and its duration.
func (r *Recorded) drawn(c *Call, signature int) (gap, duration Time) {
	k, d := threadKey{c.Rank.Rank, c.Thread}, r.draws
	previous, ok := d.before[k]
	if !ok {
		previous = timing.NoPrevious
	}
	d.before[k] = int64(signature)
	ownGap, ownDuration := r.meansOfCall(c, signature)
	if c.Position > 0 {
		gap = r.drawnOf(&r.gaps, c, signature, previous, ownGap, minGap, maxGap)
	}
	if c.Local {
		duration = r.drawnOf(&r.durations, c, signature, previous, ownDuration, minDuration, maxDuration)
	} else if of := r.durations.Statistics; signature < len(of) && of[signature].Count > 0 {
		d.least += float64(picoseconds(of[signature].Min))
	}
	return gap, duration
}

// drawnOf draws a value of a call from those of a summary, as much larger as the rank's own mean is.
func (r *Recorded) drawnOf(s *timing.Summary, c *Call, signature int, previous int64, own Time, low,
	high extremes) Time {
	if s.Histograms == nil || signature >= len(s.Statistics) || s.Statistics[signature].Count == 0 {
		return own
	}
	of, given := &s.Statistics[signature], r.draws.given[signature]
	switch rank := uint32(c.Rank.Number()); {
	case given&high == 0 && rank == of.MaxRank:
		r.draws.given[signature] = given | high
		return picoseconds(of.Max)
	case given&low == 0 && rank == of.MinRank:
		r.draws.given[signature] = given | low
		return picoseconds(of.Min)
	}
	if !s.Histograms.PathSensitive() {
		previous = timing.NoPrevious
	}
	h := s.Histograms.Find(timing.Path{Previous: previous, Terminal: uint32(signature)})
	if h == nil {
		return own
	}
	drawn := picoseconds(h.Sample(hashed(r.draws.seed, r.draws.drawnBy(c, low), c.Position, uint64(low))))
	if mean := meanOf(s, signature); own != mean && mean > 0 {
		return Time(min(math.Round(float64(drawn)*(float64(own)/float64(mean))), 1<<62))
	}
	return drawn
}

// A hash is a source of one number.
type hash uint64

// hashed returns a hash of numbers.
func hashed(numbers ...uint64) hash {
	h := uint64(0)
	for _, n := range numbers {
		h = mix(h ^ n)
	}
	return hash(h)
}

// Uint64 returns the number.
func (h hash) Uint64() uint64 { return uint64(h) }

// mix is the output function of SplitMix64: G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

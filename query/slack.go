package query

import (
	"math"

	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A slack says how far the times of calls, as a series has them, may be out of the order
// in which the calls stand in the trace, which is that in which they returned. It bounds
// where in the series the calls between two times are. All are at least 0, in
// nanoseconds.
type slack struct {
	// A call begins at most so long before the end of the call before it, as it was.
	overlap int64

	// A start is off by at most start, and a duration by at most duration.
	start, duration int64

	unknown bool // there are no statistics: calls may be anywhere
}

// slackOf returns the slack of a series of a guarantee of calls of signatures. It is as
// small as the statistics of these calls on all ranks tell: where no call overlaps the
// one before, as in one thread without calls in calls, and the series is exact, it is 0.
func (t *Times) slackOf(signatures []sequitur.Symbol, timed func(sequitur.Symbol) int, g timing.Guarantee) slack {
	var s slack
	longest, most := 0.0, 0.0 // the longest gap, and duration
	for _, n := range signatures {
		of, before := t.statistics(durations, timed(n)), t.statistics(gaps, timed(n))
		if of == nil || of.Min < 0 || before == nil && t.summaries[gaps].IsZero() {
			return slack{unknown: true}
		}
		most = max(most, float64(of.Max))
		if before == nil { // nothing comes before the first call of a rank
			continue
		}
		longest = max(longest, math.Abs(float64(before.Min)), math.Abs(float64(before.Max)))
		if before.Min < 0 {
			s.overlap = max(s.overlap, min(of.Max, -max(before.Min, -maxTime)))
		}
	}
	if g != timing.Exact {
		s.start = ceiling(longest * min(float64(g), 1))
		s.duration = ceiling(most * float64(g))
	}
	return s
}

// overlap returns how long before the end of the call before it on its rank a call of the
// trace began at most, as far as statistics tell.
func (t *Times) overlap() int64 {
	s, ok := t.slack(timing.Exact)
	if !ok {
		return maxTime
	}
	return s.overlap
}

// startError returns how far the starts of a series of a guarantee are off at most, as far
// as statistics tell; maxTime if they do not.
func (t *Times) startError(g timing.Guarantee) int64 {
	if g == timing.Exact {
		return 0
	}
	s, ok := t.slack(g)
	if !ok {
		return maxTime
	}
	return s.start
}

// slack returns that of a series of a guarantee of any calls, and whether statistics tell.
func (t *Times) slack(g timing.Guarantee) (slack, bool) {
	var signatures []sequitur.Symbol
	for n := range t.trace.Signatures() {
		if t.source(n) != None {
			signatures = append(signatures, sequitur.Symbol(n))
		}
	}
	s := t.slackOf(signatures, func(n sequitur.Symbol) int { return int(n) }, g)
	return s, !s.unknown && len(signatures) > 0
}

// ceiling returns a number of nanoseconds above ns.
func ceiling(ns float64) int64 {
	if ns = math.Ceil(ns) + 1; ns < maxTime {
		return int64(ns)
	}
	return maxTime
}

// elapsed returns how much time goes by from one time to another.
func elapsed(from, to int64) float64 {
	if d := to - from; d < 0 == (to < from) {
		return float64(d)
	}
	return float64(to) - float64(from)
}

// addTimes returns the sum of times, which ends at what is the least or the greatest.
func addTimes(t, u int64) int64 {
	switch sum := t + u; {
	case t > 0 && u > 0 && sum < 0:
		return maxTime
	case t < 0 && u < 0 && sum >= 0:
		return minTime
	default:
		return sum
	}
}

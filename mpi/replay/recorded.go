package replay

import (
	"iter"
	"math"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Recorded is a Machine on which ranks compute as long as they did in the run, and nothing else takes time.
// Computing is the gaps between the calls of a thread, and the calls that do nothing to other ranks: as the
// times of every call say where the trace has them, else as the means of the call's signature do, or its
// histograms, see [Recorded.Draw], and none where the trace has no times. A thread begins at the start of its
// first call.
//
// It counts the time before, between and after calls on, so that it is good for one replay.
type Recorded struct {
	Instant
	durations, gaps timing.Summary
	known           map[int]twoMeans // by signature
	bounds          func(*trace.Rank) (first, last uint64)
	bounded         map[*trace.Rank][2]uint64
	own             func(*trace.Rank) iter.Seq2[uint32, Mean]
	owned           map[*trace.Rank][]twoMeans // by terminal; nil if the rank has none of its own
	threads         map[threadKey]*clock
	draws           *draws // nil if means are taken
	speed           int64  // of hosts, in floating-point operations a second
	amounts         []bool // by function: its calls say how much they compute
	means           bool
	last            timing.Time // of the call whose computing was asked for last
	timed           bool        // they are known
	err             error
}

type threadKey struct {
	rank   *trace.Rank
	thread int
}

// A clock reads the times of the calls of a thread.
type clock struct {
	times *trace.TimeReader
	at    uint64 // position of the next call
	gaps  bool   // the series has them, so that the error of a long call before does not add
	begun bool
	end   int64 // of the call before
}

// NewRecorded returns the computing of a trace.
func NewRecorded(t *trace.Trace) (*Recorded, error) {
	need.That(t != nil, "replay: no trace")
	r := &Recorded{threads: make(map[threadKey]*clock)}
	for _, f := range t.Functions() {
		r.amounts = append(r.amounts, semantics.HasAmount(f))
	}
	ranks, _, err := t.SeriesRanks()
	r.means = err == nil && ranks.Len() == 0
	r.durations, r.gaps, err = t.Summaries()
	return r, err
}

// Means reports whether calls of one signature always take the same time, because the trace does not have
// the times of every call and they are not drawn: see [SteadyMachine].
func (r *Recorded) Means() bool { return r.means && r.draws == nil }

// Speed has the amounts of computing in a trace of SimGrid take as long as hosts of so many floating-point
// operations a second need, and its sleep actions as long as they say. Without it they take no time.
func (r *Recorded) Speed(flops int64) {
	r.speed = flops
}

// Err returns the first error about the times that were read.
func (r *Recorded) Err() error { return r.err }

// Bound has ranks compute between two calls alone, which bounds returns by position: from the first on, the
// gap before it included, and up to the beginning of the last. Other calls, and gaps, take no time: so the
// startup of a run and its shutdown are left out.
func (r *Recorded) Bound(bounds func(*trace.Rank) (first, last uint64)) {
	r.bounds, r.bounded = bounds, make(map[*trace.Rank][2]uint64)
}

// Compute returns what the trace says of a call.
func (r *Recorded) Compute(c *Call) (before, within Time) {
	need.That(c != nil && c.Rank != nil, "replay: no call")
	before, within = r.compute(c)
	if r.bounds == nil {
		return before, within
	}
	of, known := r.bounded[c.Rank.Rank]
	if !known {
		of[0], of[1] = r.bounds(c.Rank.Rank)
		r.bounded[c.Rank.Rank] = of
	}
	if c.Position < of[0] || c.Position > of[1] {
		before = 0
	}
	if c.Position < of[0] || c.Position >= of[1] {
		within = 0
	}
	return before, within
}

// Last returns the times of the call whose computing was asked for last, false if they are not those of every
// call.
func (r *Recorded) Last() (timing.Time, bool) { return r.last, r.timed }

// compute returns what the trace says of a call, also of one that is not in the bounds.
func (r *Recorded) compute(c *Call) (before, within Time) {
	gap, duration, ok := r.exact(c)
	r.timed = ok
	told := picoseconds(int64(c.Rank.Computes(c.Terminal)))
	if !ok {
		signature := c.Rank.Signature(c.Terminal)
		if told == 0 && r.speed > 0 && r.amounts[c.Rank.Function(c.Terminal)] {
			return 0, r.amount(c)
		}
		if r.draws != nil {
			if gap, duration = r.drawn(c, signature); told > 0 {
				duration = told
			}
			return gap, duration
		}
		gap, duration = r.meansOfCall(c, signature)
		if c.Position == 0 {
			gap = 0
		}
	}
	if told > 0 {
		duration = told
	} else if !c.Local {
		duration = 0
	}
	return gap, duration
}

// amount returns how long an action takes that says how much it computes.
func (r *Recorded) amount(c *Call) Time {
	call := c.Rank.Call(c.Terminal)
	a := semantics.AmountOf(&call)
	return seconds(a.Flops/float64(r.speed) + a.Seconds)
}

// seconds returns a number of seconds as a Time, rounded, none if there are not more than 0.
func seconds(s float64) Time {
	if !(s > 0) {
		return 0
	}
	return Time(min(math.Round(s*float64(Second)), 1<<62))
}

// exact returns the gap before a call and its duration, false if they are not known.
func (r *Recorded) exact(c *Call) (gap, duration Time, ok bool) {
	k := threadKey{c.Rank.Rank, c.Thread}
	t, known := r.threads[k]
	if !known {
		if series := c.Rank.Series(); series != nil {
			t = &clock{gaps: series.Form() == timing.Gaps}
		}
		r.threads[k] = t
	}
	if t == nil {
		return 0, 0, false
	}
	if t.times == nil || t.at > c.Position || c.Position-t.at > maxPassed {
		t.times, t.at = c.Rank.ReadTimes(c.Position), c.Position
	}
	for ; t.at < c.Position; t.at++ { // calls of other threads
		_, _ = t.times.Next()
	}
	at, err := t.times.Next()
	if t.at++; err != nil {
		if r.err == nil {
			r.err = err
		}
		return 0, 0, false
	}
	switch {
	case t.begun && t.gaps:
		gap = picoseconds(at.Delta)
	case t.begun:
		gap = picoseconds(at.Start - t.end)
	}
	t.begun, t.end, r.last = true, at.Start+at.Duration, at
	return gap, picoseconds(at.Duration), true
}

// maxPassed is how many calls of other threads are passed over: it costs less than to begin anew.
const maxPassed = 1 << 16

// picoseconds returns a time in nanoseconds as a Time, none if it is negative.
func picoseconds(ns int64) Time {
	if ns <= 0 {
		return 0
	}
	return Time(min(ns, int64(endOfTime/Nanosecond))) * Nanosecond
}

// A Mean is how long calls take, and the gaps before them, in nanoseconds.
type Mean struct{ Duration, Gap float64 }

// Scale has the calls of a rank take the means that own returns for its terminals, instead of those of the
// signature in all ranks, and times that are drawn be as much longer or shorter, but for extremes. Own
// returns nil for a rank of which it knows none.
func (r *Recorded) Scale(own func(*trace.Rank) iter.Seq2[uint32, Mean]) { r.own = own }

// meansOfCall returns the means of the signature of a call, of its rank if they are known.
func (r *Recorded) meansOfCall(c *Call, signature int) (gap, duration Time) {
	if r.own == nil {
		return r.meansOf(signature)
	}
	means, ok := r.owned[c.Rank.Rank]
	if !ok {
		if own := r.own(c.Rank.Rank); own != nil {
			means = make([]twoMeans, c.Rank.Terminals())
			for terminal, m := range own {
				means[terminal] = twoMeans{rounded(m.Gap), rounded(m.Duration)}
			}
		}
		if r.owned == nil {
			r.owned = make(map[*trace.Rank][]twoMeans)
		}
		r.owned[c.Rank.Rank] = means
	}
	if means == nil {
		return r.meansOf(signature)
	}
	return means[c.Terminal].gap, means[c.Terminal].duration
}

// rounded returns nanoseconds as a Time, none if they are negative.
func rounded(ns float64) Time {
	if ns > 0 {
		return Time(min(math.Round(ns*float64(Nanosecond)), 1<<62))
	}
	return 0
}

// A twoMeans is the means of the gaps before calls, and of how long these take.
type twoMeans struct{ gap, duration Time }

// meansOf returns the means of a signature. They are kept, as it takes a while to divide exactly.
func (r *Recorded) meansOf(signature int) (gap, duration Time) {
	m, ok := r.known[signature]
	if !ok {
		m = twoMeans{meanOf(&r.gaps, signature), meanOf(&r.durations, signature)}
		if r.known == nil {
			r.known = make(map[int]twoMeans)
		}
		r.known[signature] = m
	}
	return m.gap, m.duration
}

// meanOf returns the mean of what a summary has of a signature, none if it has nothing.
func meanOf(s *timing.Summary, signature int) Time {
	if signature >= len(s.Statistics) || s.Statistics[signature].Count == 0 {
		return 0
	}
	if mean := s.Statistics[signature].Mean() * float64(Nanosecond); mean > 0 {
		return Time(min(mean, 1<<62))
	}
	return 0
}

package query

import (
	"iter"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Clock says when the calls of a rank began, and how long they took, in
// nanoseconds. Its methods may be called from several goroutines at once.
//
// Of a rank of which the trace has the times of every call, a Clock tells these, as
// their codec has them. Any other Clock is an estimate from the statistics or the
// histograms of all calls of a signature, on all ranks: each call takes the mean of
// these, and comes as long after the end of the call before as they do on average;
// after that call, if histograms are by pairs of calls. If the trace keeps times of the
// rank, the means of each function are multiplied by what makes
// their sum that of the rank, and the gaps by what makes it run as long as it did.
// If calls overlap, and such a
// gap is negative, ends do not go back, and the clock runs more slowly, so that it
// ends where the rank did or, if that is not known, the sum of all means does, if that is
// positive. An estimate counts from the first call of the rank that began first, as far as that
// is known, and otherwise of this rank, or from [Times.Begin], which is 0 unless other ranks have
// the times of every call.
//
// Times are those of the recording: those of every call may count from any time.
type Clock struct {
	rank   *trace.Rank
	source Source
	starts int64 // the error of starts
	before int64 // how long a call begins at most before the one before it ends
	clock        // nil if source is None
}

// A clock is how the times of a rank are known. Positions are below the length of the
// rank.
type clock interface {
	at(position uint64) (start, duration int64, err error)

	// where is Clock.At.
	where(time int64) (Place, error)

	// positions is Clock.Positions.
	positions(from, to int64) (first, end uint64, err error)

	// earliest returns when the first call began, of so many that are looked at.
	earliest(most uint64) (int64, error)

	// end returns when the last call ended.
	end() (int64, error)

	calls(from uint64) iter.Seq2[trace.Call, error]

	// usage returns the calls of a window that is not empty, by signature, and sets how
	// long they are if that is known.
	usage(w *Window) (map[sequitur.Symbol]Usage, error)
}

// Clock returns the clock of a rank of the trace. An estimate takes time in proportion to the
// grammar of the rank; ranks of a shape share it if the trace keeps no times of each, or if that
// is too much.
func (t *Times) Clock(r *trace.Rank) (*Clock, error) {
	need.That(r != nil, "query: no rank")
	c := &Clock{rank: r}
	if r.Len() == 0 {
		return c, nil
	}
	if s := r.Series(); s != nil {
		shape, err := t.shapeOf(r)
		if err != nil {
			return nil, err
		}
		slack := t.slackOf(shape.grammar.FirstUse(), shape.signature, s.Guarantee(), s.Starts())
		c.source, c.clock = Series, newSeriesClock(r, s, slack)
		c.before = wire.AddTimes(slack.overlap, wire.AddTimes(slack.duration, 2*slack.start))
		if c.starts = slack.start; slack.unknown && r.Len() > 1 { // the first start is exact
			c.starts = t.startError(s.Guarantee())
		}
		return c, nil
	}
	shape, err := t.shapeOf(r)
	if err != nil {
		return nil, err
	}
	if shape.source != None {
		e, err := t.estimateOf(r, shape)
		if err != nil {
			return nil, err
		}
		c.source, c.clock = shape.source, &rankEstimate{e, r}
	}
	return c, nil
}

// estimateOf returns the estimate of a rank of a shape.
func (t *Times) estimateOf(r *trace.Rank, shape *shapeTimes) (*estimate, error) {
	if shape.grammar.Symbols() <= maxOwnSymbols/shape.ranks {
		if own := t.ownOf(r); own != nil {
			return t.newEstimate(shape, own)
		}
	}
	return shape.estimate()
}

// Source returns what the times are known by. A Clock of the Source None, and of a rank
// without calls, has none of the times below: they are 0.
func (c *Clock) Source() Source { return c.source }

// Guarantee returns how far a duration may be from what it was, if the Source is Series.
// It says nothing of estimates.
func (c *Clock) Guarantee() timing.Guarantee {
	if c.source == Series {
		return c.rank.Series().Guarantee()
	}
	return timing.Exact
}

// StartError returns how far a start may be from what it was, in nanoseconds, if the Source is Series; math.MaxInt64
// if that is not known. It says nothing of estimates.
func (c *Clock) StartError() int64 { return c.starts }

// Overlap returns how long before the end of the call before it a call of the rank begins at most, in nanoseconds, if
// the Source is Series, as far as statistics tell; more where calls never overlap and their times are not exact.
func (c *Clock) Overlap() int64 { return c.before }

// Time returns when a call began, and how long it took. It takes O(depth · log symbols
// of a rule) steps of the grammar in an estimate, and otherwise decodes the calls before
// it in a block. It panics unless there is such a call.
func (c *Clock) Time(position uint64) (start, duration int64, err error) {
	if position >= c.rank.Len() {
		panic("query: position out of range")
	}
	if c.clock == nil {
		return 0, 0, nil
	}
	return c.clock.at(position)
}

// Start returns when a call began, as [Clock.Time] does; for the number of calls when the last
// ended.
func (c *Clock) Start(position uint64) (int64, error) {
	if c.clock != nil && position == c.rank.Len() {
		return c.clock.end()
	}
	start, _, err := c.Time(position)
	return start, err
}

// Span returns when the first call began, and when the last one ended. In a series of
// calls that overlap, it looks for the former as [Times.Begin] does.
func (c *Clock) Span() (begin, end int64, err error) {
	if c.clock == nil {
		return 0, 0, nil
	}
	if begin, err = c.clock.earliest(maxBegins); err == nil {
		end, err = c.clock.end()
	}
	return begin, end, err
}

// A Place is where a rank is at a time.
type Place struct {
	// Position is that of the call that the rank is Inside; of several, which are in
	// one another or overlap, the one that began last. If it is in none, that of the
	// first call that ends later, or the number of calls if none does.
	Position uint64 `json:"position"`
	Inside   bool   `json:"inside"`

	Start    int64 `json:"start_ns"` // of that call; if there is none, when the last one ended
	Duration int64 `json:"duration_ns"`
}

// At returns where the rank is at a time. In an estimate it takes as many steps as
// [Clock.Time]; otherwise it finds the blocks as [Clock.Positions] does, and decodes
// these. Where the durations of a series are not exact, a long call may seem to overlap
// others that came after it: At says that the rank is in these.
func (c *Clock) At(time int64) (Place, error) {
	if c.clock == nil {
		return Place{Position: c.rank.Len()}, nil
	}
	return c.clock.where(time)
}

// Overlaps reports whether a call is between two times, from ≤ to: at least in part or,
// if it takes no time, from ≤ start < to.
func Overlaps(start, duration, from, to int64) bool {
	return start < to && (start >= from || wire.AddTimes(start, duration) > from)
}

// Positions returns the positions first ≤ p < end of the calls that are between two
// times, as [Overlaps] has it: from the first of them to the last; first is end if there
// are none. The error is [ErrNoTimes] if the Source is None and the rank has calls.
//
// In a series, calls stand in the order in which they returned, and they overlap where
// there are several threads, or calls that functions make which a call has called, or
// where times are not exact. So there may be others among those between the times. Of a
// series, the blocks are found by binary search and as many of them are decoded as may
// have the first and the last of these calls: about one for each, and more in proportion
// to how far calls overlap at most, and to the error of starts and durations, which the
// statistics of the trace tell. If it has none, blocks are decoded from the first and
// from the last.
//
// An estimate may have calls that come later than times go: they come before math.MaxInt64, the end. In an
// estimate of calls that overlap, others that begin before to may come after them.
func (c *Clock) Positions(from, to int64) (first, end uint64, err error) {
	switch {
	case c.clock != nil:
		return c.clock.positions(from, to)
	case c.rank.Len() > 0:
		return 0, 0, ErrNoTimes
	}
	return 0, 0, nil
}

// Calls returns an iterator over the calls of the rank, in order, from a
// position on, as [trace.Rank.Calls] does, with Start and Duration wherever the
// clock has them: all are Timed then, which takes some nanoseconds for each call of an
// estimate.
func (c *Clock) Calls(from uint64) iter.Seq2[trace.Call, error] {
	if c.clock == nil {
		return c.rank.Calls(from)
	}
	return c.clock.calls(from)
}

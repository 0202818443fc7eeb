package events

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
)

// perCall is how long a call takes of which there are no times.
const perCall = 1000

// A clock tells the times of the calls of a rank, since the run began.
type clock struct {
	rank  *reprise.Rank
	clock *query.Clock // nil if there are no times
	begin int64        // of the run
}

// openClock returns the clock of a rank. Of times that are lost, LostTimes tells.
func openClock(ctx context.Context, times *query.Times, r *reprise.Rank) (clock, error) {
	begin, lost := times.Begin()
	if lost != nil {
		begin = 0
	}
	c, err := times.Clock(r)
	switch {
	case err != nil && r.LostTimes() == nil:
		return clock{}, err
	case err != nil || c.Source() == query.None:
		c = nil
	}
	return clock{r, c, begin}, ctx.Err()
}

// source returns what the times are known by.
func (c clock) source() query.Source {
	if c.clock == nil {
		return query.None
	}
	return c.clock.Source()
}

// A timedCall is a call with its time.
type timedCall struct {
	terminal   uint32
	start, end int64
}

// calls returns an iterator over the positions and the calls of an interval, from the
// first to the last: others may be among them.
func (c clock) calls(in Interval) iter.Seq2[uint64, timedCall] {
	if c.clock == nil {
		return c.positions(in)
	}
	return func(yield func(uint64, timedCall) bool) {
		first, end, err := c.clock.Positions(c.begin+in.From, c.after(in.To))
		if err != nil {
			first, end = 0, c.rank.Len() // which takes longer; LostTimes tells
		}
		if first == end {
			return
		}
		at := in.From // the end of the call before
		for position, call := range c.clock.Calls(first) {
			t := timedCall{call.Terminal, at, at}
			if call.Timed {
				t.start = call.Start - c.begin
				t.end = t.start + call.Duration
			}
			if !yield(position, t) {
				return
			}
			if at = max(t.start, t.end); position+1 == end {
				return
			}
		}
	}
}

// after returns the time of the clock so long after the run began.
func (c clock) after(time int64) int64 {
	if c.begin > 0 && time > math.MaxInt64-c.begin {
		return math.MaxInt64
	}
	return c.begin + time
}

// positions returns an iterator over calls without times, as if they had some.
func (c clock) positions(in Interval) iter.Seq2[uint64, timedCall] {
	return func(yield func(uint64, timedCall) bool) {
		first := uint64(in.From / perCall)
		walk, at := c.rank.Walk(first), int64(first)*perCall
		for run := walk.Next(); run.Count > 0; run = walk.Next() {
			for range run.Count {
				if at >= in.To || !yield(first, timedCall{run.Symbol, at, at + perCall}) {
					return
				}
				first++
				at += perCall
			}
		}
	}
}

// guarantee returns how far durations may be from what they were, if the source is Series.
func (c clock) guarantee() timing.Guarantee {
	if c.clock == nil {
		return timing.Exact
	}
	return c.clock.Guarantee()
}

// Label says what times of a source are, for a person, and how exact they are.
func Label(s query.Source, g timing.Guarantee) string {
	switch {
	case s == query.None:
		return "none were recorded: a call takes one microsecond"
	case s == query.Series && g == timing.Exact:
		return "as recorded"
	case s == query.Series:
		return fmt.Sprintf("of every call, durations and gaps at most %.4g %% off", 100*float64(g))
	}
	return "estimated from " + s.String()
}

package events

import (
	"context"
	"iter"
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
)

// perCall is how long a call takes of which there are no times.
const perCall = 1000

// A clock tells the times of the calls of a rank, since the run began.
type clock struct {
	*query.Clock
	begin int64 // of the run
}

// openClock returns the clock of a rank.
func openClock(ctx context.Context, times *query.Times, r *reprise.Rank) (clock, error) {
	begin, err := times.Begin()
	if err != nil {
		begin = 0 // the times of all ranks are lost, which LostTimes tells
	}
	c, err := times.Clock(r)
	if err != nil {
		return clock{}, err
	}
	return clock{c, begin}, ctx.Err()
}

// A timedCall is a call with its time.
type timedCall struct {
	terminal   uint32
	start, end int64
}

// calls returns an iterator over the positions and the calls from about a time on: some
// may end before.
func (c clock) calls(from int64) iter.Seq2[uint64, timedCall] {
	if c.Source() == query.None {
		return c.positions(uint64(from / perCall))
	}
	return func(yield func(uint64, timedCall) bool) {
		first, _, err := c.Positions(c.begin+from, math.MaxInt64)
		if err != nil {
			first = 0 // which takes longer; LostTimes tells
		}
		at := from // the end of the call before
		for position, call := range c.Calls(first) {
			t := timedCall{call.Terminal, at, at}
			if call.Timed {
				t.start = call.Start - c.begin
				t.end = t.start + call.Duration
			}
			if !yield(position, t) {
				return
			}
			at = max(t.start, t.end)
		}
	}
}

// positions returns an iterator over calls without times, as if they had some.
func (c clock) positions(first uint64) iter.Seq2[uint64, timedCall] {
	return func(yield func(uint64, timedCall) bool) {
		walk, at := c.Rank().Walk(first), int64(first)*perCall
		for run := walk.Next(); run.Count > 0; run = walk.Next() {
			for range run.Count {
				if !yield(first, timedCall{uint32(run.Symbol), at, at + perCall}) {
					return
				}
				first++
				at += perCall
			}
		}
	}
}

// Label says what times of a source are, for a person.
func Label(s query.Source) string {
	switch s {
	case query.None:
		return "none were recorded: a call takes one microsecond"
	case query.Series:
		return "as recorded"
	}
	return "estimated from " + s.String()
}

package reprise

import (
	"io"
	"maps"

	"github.com/reprise-trace/reprise/sequitur"
)

// A CallReader reads the calls of all ranks of a trace. It must not be used by
// two goroutines at once.
type CallReader struct {
	trace *Trace
	at    *cursor // in the rank whose turn it is; nil before the first turn
	turn  uint64  // calls of that rank that come before those of another rank
	err   error   // sticks

	// Rank by rank, the next turn is that of the first active rank from next on.
	next int

	// In an interleaving, turns are the runs of order. The cursor of a rank is
	// made at its first turn, at the position that skip has for it.
	order   *sequitur.Walker // nil if the order is rank by rank
	skip    map[sequitur.Symbol]uint64
	cursors map[sequitur.Symbol]*cursor
}

// A cursor is a place in the calls of a rank.
type cursor struct {
	rank *Rank
	walk *sequitur.Walker
	call *Call
	left uint64 // how often call comes before walk goes on

	position uint64      // of the next
	times    *timeReader // nil if there are none
}

func newCursor(r *Rank, position uint64) *cursor {
	c := &cursor{rank: r, walk: r.Walk(position), position: position}
	if r.series != nil {
		c.times = newTimeReader(r, position)
	}
	return c
}

// read returns the call at c and moves on. There must be one. If its time cannot be read,
// it returns the call and the error.
func (c *cursor) read() (Call, error) {
	if c.left == 0 {
		run := c.walk.Next()
		c.call, c.left = c.rank.call(run.Symbol), run.Count
	}
	c.left--
	call := *c.call
	call.Position = c.position
	c.position++
	if c.times == nil {
		return call, nil
	}
	err := c.rank.setTime(&call, c.times)
	return call, err
}

// Calls returns a CallReader of the calls of all ranks in the order in which
// they stood in the source of the trace, beginning at a position in that order.
// Finding the position costs what the order and, if that is rank by rank, the
// grammars of the ranks before it cost, not what their calls do. A CallReader
// reads a rank when its first call is due. It holds one rank at a time, of an
// interleaving all that had a turn.
func (t *Trace) Calls(position uint64) *CallReader {
	r := &CallReader{trace: t}
	if g := t.Run().Interleaving; g != nil {
		r.order = g.Walk(position)
		r.skip = maps.Collect(g.OccurrencesBefore(position))
		r.cursors = make(map[sequitur.Symbol]*cursor)
	} else {
		r.err = r.nextRank(position)
	}
	return r
}

// Read returns the next call, or io.EOF after the last. Errors stick, but for that of a
// time which cannot be read: the call comes with it, without the time.
func (r *CallReader) Read() (Call, error) {
	if r.turn == 0 && r.err == nil {
		r.err = r.nextTurn()
	}
	if r.err != nil {
		return Call{}, r.err
	}
	r.turn--
	return r.at.read()
}

// nextTurn goes on to the rank whose calls are next. A turn has no more calls
// than its rank has left, because [Trace.Rank] counts them.
func (r *CallReader) nextTurn() error {
	if r.order == nil {
		return r.nextRank(0)
	}
	turn := r.order.Next()
	if turn.Count == 0 {
		return io.EOF
	}
	c, ok := r.cursors[turn.Symbol]
	if !ok {
		rank, err := r.trace.Rank(int(turn.Symbol))
		if err != nil {
			return err
		}
		c = newCursor(rank, r.skip[turn.Symbol])
		r.cursors[turn.Symbol] = c
	}
	r.at, r.turn = c, turn.Count
	return nil
}

// nextRank goes on to a position in the calls of the ranks that follow, in the
// order rank by rank.
func (r *CallReader) nextRank(position uint64) error {
	for {
		number, ok := r.trace.index.next(r.next)
		if !ok {
			return io.EOF
		}
		rank, err := r.trace.Rank(number)
		if err != nil {
			return err
		}
		r.next = number + 1
		if n := rank.Len(); position < n {
			r.at, r.turn = newCursor(rank, position), n-position
			return nil
		}
		position -= rank.Len()
	}
}

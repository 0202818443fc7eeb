package trace

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A cursor is a place in the calls of a rank.
type cursor struct {
	rank *Rank
	walk *sequitur.Walker
	call *Call
	left uint64 // how often call comes before walk goes on

	position uint64      // of the next
	values   *restReader // nil if all calls of a terminal are the same
	times    *TimeReader // nil if there are none
}

func newCursor(r *Rank, position uint64) *cursor {
	c := &cursor{rank: r, walk: r.Walk(position), position: position, values: r.valuesFrom(position)}
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
	call = c.values.in(call)
	c.position++
	if c.times == nil {
		return call, nil
	}
	err := c.rank.setTime(&call, c.times)
	return call, err
}

// Calls returns an iterator over the calls of all ranks in the order in which they stood in the source of the
// trace, beginning at a position in that order. Finding the position costs what the order and, if that is
// rank by rank, the grammars of the ranks before it cost, not what their calls do. A rank is read when its
// first call is due, as [Trace.Folded] reads it: one is held at a time, of an interleaving all that had a turn.
// It ends after an error, but for that of a time which cannot be read: the call comes with it, without the time.
func (t *Trace) Calls(position uint64) iter.Seq2[Call, error] {
	turns := t.rankByRank
	if t.run.Interleaving != nil {
		turns = t.interleave
	}
	return func(yield func(Call, error) bool) {
		err := turns(position, func(c *cursor, calls uint64) bool {
			for range calls {
				if !yield(c.read()) {
					return false
				}
			}
			return true
		})
		if err != nil {
			yield(Call{}, err)
		}
	}
}

// rankByRank calls use, until it returns false, with a place in the calls of one rank after the other, and
// how many are left there.
func (t *Trace) rankByRank(position uint64, use func(c *cursor, calls uint64) bool) error {
	for number, ok := t.index.next(0); ok; number, ok = t.index.next(number + 1) {
		rank, err := t.Folded(number, nil)
		if err != nil {
			return err
		}
		if n := rank.Len(); position >= n {
			position -= n
		} else if !use(newCursor(rank, position), n-position) {
			return nil
		} else {
			position = 0
		}
	}
	return nil
}

// interleave calls use, until it returns false, with a place in the calls of the rank that has a turn, and
// how many calls come before those of another rank: no more than the rank has left, because [Trace.Rank]
// counts them.
func (t *Trace) interleave(position uint64, use func(c *cursor, calls uint64) bool) error {
	order := t.run.Interleaving
	skip, cursors := maps.Collect(order.OccurrencesBefore(position)), make(map[sequitur.Symbol]*cursor)
	walk := order.Walk(position)
	for turn := walk.Next(); turn.Count > 0; turn = walk.Next() {
		c := cursors[turn.Symbol]
		if c == nil {
			rank, err := t.Folded(int(turn.Symbol), nil)
			if err != nil {
				return err
			}
			c = newCursor(rank, skip[turn.Symbol])
			cursors[turn.Symbol] = c
		}
		if !use(c, turn.Count) {
			return nil
		}
	}
	return nil
}

// ErrUntimed is in the error of [Trace.ByTime] if a rank has no times of its calls.
var ErrUntimed = errors.New("the trace does not have the times of every call (tracer.Options.Series keeps them)")

// ByTime returns an iterator over the calls of all ranks in the order in which they began; of calls that
// began at once, the one of the lower rank comes first, and of one rank the one before. It ends after an
// error, which is [ErrUntimed] if there is a rank without times: [Trace.SeriesRanks] are those that have
// them. All ranks are in memory at once, each with a block of its times, and a rank of which the calls do not
// stand in the order of time, as those of its threads or within callbacks, with all its times, 32 bytes a
// call.
func (t *Trace) ByTime() iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		var lines timelines
		for _, rank := range t.RankSet().All() {
			l, err := t.timeline(rank)
			if err != nil {
				yield(Call{}, err)
				return
			}
			lines = append(lines, l)
		}
		heap.Init(&lines)
		for len(lines) > 0 {
			first := lines[0]
			if !yield(first.next, nil) {
				return
			}
			switch more, err := first.advance(); {
			case err != nil:
				yield(Call{}, err)
				return
			case more:
				heap.Fix(&lines, 0)
			default:
				heap.Pop(&lines)
			}
		}
	}
}

// A timeline is the calls of a rank in the order of time.
type timeline struct {
	next Call

	cursor *cursor // nil if the calls do not stand in this order
	left   uint64  // calls of cursor

	sorted []timedCall // instead of cursor
}

// A timedCall is a call and its time.
type timedCall struct {
	call            *Call
	position        uint64
	start, duration int64
}

// timeline returns the timeline of a rank, at its first call.
func (t *Trace) timeline(number int) (*timeline, error) {
	r, err := t.Folded(number, nil)
	if err != nil {
		return nil, err
	}
	if r.series == nil {
		return nil, fmt.Errorf("trace: rank %d: %w", number, ErrUntimed)
	}
	ascend, last := true, int64(math.MinInt64)
	for time, err := range r.Times(0) {
		if err != nil {
			return nil, err
		}
		if ascend, last = time.Start >= last, time.Start; !ascend {
			break
		}
	}
	l := &timeline{cursor: newCursor(r, 0), left: r.Len()}
	if !ascend {
		if err := l.sort(); err != nil {
			return nil, err
		}
	}
	_, err = l.advance()
	return l, err
}

// sort reads all calls that are left.
func (l *timeline) sort() error {
	c := l.cursor
	for ; l.left > 0; l.left-- {
		call, err := c.read()
		if err != nil {
			return err
		}
		of := c.call
		if call.one {
			of = &call
		}
		l.sorted = append(l.sorted, timedCall{of, call.Position, call.Start, call.Duration})
	}
	slices.SortStableFunc(l.sorted, func(x, y timedCall) int { return cmp.Compare(x.start, y.start) })
	l.cursor = nil
	return nil
}

// advance goes on to the next call, and reports whether there is one.
func (l *timeline) advance() (more bool, err error) {
	switch {
	case l.left > 0:
		l.left--
		l.next, err = l.cursor.read()
		return true, err
	case len(l.sorted) > 0:
		x := l.sorted[0]
		l.sorted = l.sorted[1:]
		l.next = *x.call
		l.next.Position, l.next.Timed, l.next.Start, l.next.Duration = x.position, true, x.start, x.duration
		return true, nil
	}
	return false, nil
}

// timelines are a heap of those that have a call.
type timelines []*timeline

func (t timelines) Len() int      { return len(t) }
func (t timelines) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timelines) Push(x any)   { *t = append(*t, x.(*timeline)) }

func (t timelines) Less(i, j int) bool {
	x, y := &t[i].next, &t[j].next
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Rank, y.Rank)) < 0
}

func (t *timelines) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}

package events

import (
	"iter"

	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
)

// maxWaiting bounds the calls that wait for what their threads call next.
const maxWaiting = 1 << 10

// A cutter cuts off the ends of calls whose durations are not exact where the next call of their
// thread tells that they were over: starts are much nearer to the truth than ends.
type cutter struct {
	thread []int32 // by terminal
	queue  []timedCall
	first  int           // how many calls were before those of the queue
	last   map[int32]int // the number of the last call of each thread
}

// cut returns calls with such ends, in the same order.
func (r *Rank) cut(calls iter.Seq2[timedCall, error]) iter.Seq2[timedCall, error] {
	if r.clock.source() != query.Series || r.clock.guarantee() == timing.Exact {
		return calls
	}
	return func(yield func(timedCall, error) bool) {
		c := cutter{thread: r.thread, last: make(map[int32]int)}
		for call, err := range calls {
			if err != nil {
				if c.emit(yield, 0) {
					yield(call, err)
				}
				return
			}
			c.add(call)
			if !c.emit(yield, 1) {
				return
			}
		}
		c.emit(yield, 0)
	}
}

// add adds the next call to return, and cuts off the one before it on its thread.
func (c *cutter) add(call timedCall) {
	thread := c.thread[call.terminal]
	if n, ok := c.last[thread]; ok && n >= c.first {
		before := &c.queue[n-c.first]
		over := call.start
		if call.start <= before.start { // which is within the call
			over = max(call.end, before.start)
		}
		before.end = min(before.end, over)
	}
	c.last[thread] = c.first + len(c.queue)
	c.queue = append(c.queue, call)
}

// emit yields the calls after which their threads made others, up to the first that waits for that; all
// calls if none is to be kept. It reports whether yield wants more.
func (c *cutter) emit(yield func(timedCall, error) bool, kept int) bool {
	for len(c.queue) > kept && (kept == 0 || len(c.queue) > maxWaiting ||
		c.last[c.thread[c.queue[0].terminal]] != c.first) {
		call := c.queue[0]
		c.queue = c.queue[1:]
		c.first++
		if !yield(call, nil) {
			return false
		}
	}
	return true
}

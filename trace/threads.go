package trace

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// The calls of a rank with several threads may stand in another order than their times, which stand thread by thread, those
// of the threads with lower numbers first.

// A weave says where the calls of each thread are in the sequence of a rank whose calls do not stand thread by thread.
type weave struct {
	threads []int          // by terminal, from 0 on
	firsts  []uint64       // of the times of each thread, and the number of calls
	counts  []*sync.Once   // by thread
	sums    []*threadCalls // by thread, nil until it is asked for
}

// threadCalls count the calls of a thread.
type threadCalls struct {
	measure   *sums.Measure
	positions []uint64 // of the calls, if there is no grammar
}

// weaveOf returns the weave of the rank, nil if its calls stand thread by thread.
func (r *Rank) weaveOf() *weave {
	r.weaveOnce.Do(func() { r.woven = r.newWeave() })
	return r.woven
}

func (r *Rank) newWeave() *weave {
	of := func(f cst.Function) bool { return len(f.Params) > 0 && f.Params[0].Name == ThreadParam }
	if !slices.ContainsFunc(r.trace.Functions(), of) {
		return nil
	}
	numbers := make([]int, r.Terminals())
	for terminal := range numbers {
		if of(r.trace.Functions()[r.Function(uint32(terminal))]) {
			numbers[terminal] = r.call(uint32(terminal)).Thread()
		}
	}
	all := slices.Compact(slices.Sorted(slices.Values(numbers)))
	if len(all) < 2 {
		return nil
	}
	w := &weave{threads: numbers, firsts: make([]uint64, len(all)+1)}
	for terminal, n := range numbers {
		w.threads[terminal], _ = slices.BinarySearch(all, n)
	}
	for terminal, n := range r.Occurrences() {
		w.firsts[w.threads[terminal]+1] += n
	}
	for i := range all {
		w.firsts[i+1] += w.firsts[i]
	}
	if r.isThreadByThread(w) || !r.hasPieces(w) {
		return nil
	}
	w.sums = make([]*threadCalls, len(all))
	for range all {
		w.counts = append(w.counts, new(sync.Once))
	}
	return w
}

// isThreadByThread reports whether the first call of each thread stands where those of the threads before it end.
func (r *Rank) isThreadByThread(w *weave) bool {
	seen := make([]bool, len(w.firsts)-1)
	first := func(position uint64, terminal sequitur.Symbol) bool {
		thread := w.threads[terminal]
		again := seen[thread]
		seen[thread] = true
		return again || position == w.firsts[thread]
	}
	if r.list == nil {
		for position, terminal := range r.grammar.FirstUses() {
			if !first(position, terminal) {
				return false
			}
		}
		return true
	}
	for position, terminal := range r.list {
		if !first(uint64(position), terminal) {
			return false
		}
	}
	return true
}

// hasPieces reports whether the times of each thread begin a piece of the series.
func (r *Rank) hasPieces(w *weave) bool {
	if r.series == nil {
		return false
	}
	pieces := r.series.Pieces()
	for _, n := range w.firsts[:len(w.firsts)-1] {
		_, ok := slices.BinarySearchFunc(pieces, n, func(block int, n uint64) int { return cmp.Compare(r.series.First(block), n) })
		if !ok {
			return false
		}
	}
	return true
}

// callsOf returns the counts of the calls of a thread.
func (r *Rank) callsOf(w *weave, thread int) *threadCalls {
	w.counts[thread].Do(func() {
		c := new(threadCalls)
		w.sums[thread] = c
		if r.list == nil {
			c.measure = sums.Of(r.grammar).Measure(func(s sequitur.Symbol) uint64 {
				if w.threads[s] == thread {
					return 1
				}
				return 0
			})
			return
		}
		for position, s := range r.list {
			if w.threads[s] == thread {
				c.positions = append(c.positions, uint64(position))
			}
		}
	})
	return w.sums[thread]
}

// before returns how many calls of the thread there are before a position.
func (c *threadCalls) before(position uint64) uint64 {
	if c.measure != nil {
		return c.measure.Before(position).Weight
	}
	return uint64(sort.Search(len(c.positions), func(i int) bool { return c.positions[i] >= position }))
}

// at returns the position of the n-th call of the thread, from 0 on.
func (c *threadCalls) at(n uint64) uint64 {
	if c.measure != nil {
		position, _, _ := c.measure.Find(n)
		return position
	}
	return c.positions[n]
}

// timed returns the position of the call that has the n-th time of the series, n < r.Len().
func (r *Rank) timed(n uint64) (position uint64) {
	w := r.weaveOf()
	if w == nil {
		return n
	}
	thread := w.of(n)
	return r.callsOf(w, thread).at(n - w.firsts[thread])
}

// of returns the thread that has the n-th time.
func (w *weave) of(n uint64) int {
	return sort.Search(len(w.firsts), func(i int) bool { return w.firsts[i] > n }) - 1
}

// A TimedCall is the time of a call, with its position and terminal.
type TimedCall struct {
	Position uint64
	Terminal uint32
	timing.Time
}

// InSeries returns an iterator over the times of the series from the n-th on, thread by thread, with
// the calls that have them, which stand in the order in which they were made, as far as it matters: none if the trace does not have them. Errors are as those of [Rank.Times].
func (r *Rank) InSeries(n uint64) iter.Seq2[TimedCall, error] {
	return func(yield func(TimedCall, error) bool) {
		if r.series == nil || n >= r.Len() {
			return
		}
		times, walk := newThreadTimes(r, n), newThreadWalker(r, n)
		for ; n < r.Len(); n++ {
			position, terminal := walk.next()
			at, err := times.read()
			if err != nil {
				err = r.trace.named(err)
			}
			if !yield(TimedCall{position, terminal, at}, err) {
				return
			}
		}
	}
}

// A threadWalker goes through the calls of a rank in the order of their times.
type threadWalker struct {
	rank     *Rank
	weave    *weave
	thread   int
	walk     *sequitur.Walker
	run      sequitur.Run // what is left of it
	position uint64       // of the next call of run
	left     uint64       // calls of the thread
}

// newThreadWalker returns one at the call with the n-th time.
func newThreadWalker(r *Rank, n uint64) *threadWalker {
	w := &threadWalker{rank: r, weave: r.weaveOf(), position: n, left: r.Len() - n}
	if w.weave != nil && n < r.Len() {
		w.enter(n)
	}
	w.walk = r.Walk(w.position)
	return w
}

// enter goes to the thread that has the n-th time.
func (w *threadWalker) enter(n uint64) {
	w.thread = w.weave.of(n)
	w.position, w.left = w.rank.timed(n), w.weave.firsts[w.thread+1]-n
}

// next returns the next call.
func (w *threadWalker) next() (position uint64, terminal sequitur.Symbol) {
	if w.left == 0 && w.weave != nil && w.thread+2 < len(w.weave.firsts) {
		w.enter(w.weave.firsts[w.thread+1])
		w.walk, w.run = w.rank.Walk(w.position), sequitur.Run{}
	}
	for {
		if w.run.Count == 0 {
			w.run = w.walk.Next()
		}
		if w.weave != nil && w.weave.threads[w.run.Symbol] != w.thread {
			w.position += w.run.Count
			w.run.Count = 0
			continue
		}
		w.run.Count--
		w.left--
		w.position++
		return w.position - 1, w.run.Symbol
	}
}

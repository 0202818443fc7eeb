package trace

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// The calls of a rank with several threads may stand in another order than their times, which stand thread by
// thread, those of the threads with lower numbers first.

// A weave says where the calls of each thread are in the sequence of a rank whose calls do not stand thread
// by thread.
type weave struct {
	threads []int              // by terminal, from 0 on
	firsts  []uint64           // of the times of each thread, and the number of calls
	calls   []func() someCalls // by thread
}

// A lazyWeave is a weave that is made when it is asked for.
type lazyWeave struct {
	once  sync.Once
	weave *weave
}

// weaveOf returns the weave of the rank, nil if its calls stand thread by thread.
func (r *Rank) weaveOf() *weave {
	r.threads.once.Do(func() { r.threads.weave = r.newWeave() })
	return r.threads.weave
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
	for thread := range all {
		w.calls = append(w.calls, sync.OnceValue(func() someCalls {
			return r.flow.calls.some(func(x sequitur.Symbol) bool { return w.threads[x] == thread })
		}))
	}
	return w
}

// isThreadByThread reports whether the first call of each thread stands where those of the threads before it
// end.
func (r *Rank) isThreadByThread(w *weave) bool {
	seen := make([]bool, len(w.firsts)-1)
	for position, terminal := range r.flow.calls.FirstUses() {
		thread := w.threads[terminal]
		if !seen[thread] && position != w.firsts[thread] {
			return false
		}
		seen[thread] = true
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
		_, ok := slices.BinarySearchFunc(pieces, n, func(block int, n uint64) int {
			return cmp.Compare(r.series.First(block), n)
		})
		if !ok {
			return false
		}
	}
	return true
}

// timed returns the position of the call that has the n-th time of the series, n < r.Len().
func (r *Rank) timed(n uint64) (position uint64) {
	w := r.weaveOf()
	if w == nil {
		return n
	}
	thread := w.of(n)
	return w.calls[thread]().at(n - w.firsts[thread])
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

// InSeries returns an iterator over the times of the series from the n-th on, thread by thread, with the
// calls that have them, which stand in the order in which they were made, as far as it matters: none if the
// trace does not have them. Errors are as those of [Rank.Times].
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

// A recordedWalker finds the terminals that the times of calls are of, where values that advance make others.
type recordedWalker struct {
	rank *Rank
	walk *sequitur.Walker // nil before the first
	run  sequitur.Run     // what is left of it
	at   uint64           // the position of its first
}

// terminal returns that of the call at a position.
func (w *recordedWalker) terminal(position uint64) sequitur.Symbol {
	const near = 1 << 16 // calls that are walked over
	if w.walk == nil || position < w.at || position > w.at+near {
		w.walk, w.run, w.at = w.rank.recorded.calls.Walk(position), sequitur.Run{}, position
	}
	for {
		if w.run.Count == 0 {
			w.run = w.walk.Next()
		}
		if position-w.at < w.run.Count {
			w.run.Count -= position - w.at
			w.at = position
			return w.run.Symbol
		}
		w.at += w.run.Count
		w.run.Count = 0
	}
}

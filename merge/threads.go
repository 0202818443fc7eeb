package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A ThreadOrder says which calls of the threads of a rank come after which calls of its other threads. What
// is not said of two calls does not matter: neither makes a difference to the other. The zero ThreadOrder
// says nothing. It holds what is said as grammars, as small as the pattern is.
type ThreadOrder struct {
	threads []orderedThread
	marks   map[orderMark]sequitur.Symbol
	list    []orderMark // by symbol
	ending  []int
}

// An orderMark is a call of a thread that comes after calls of another one.
type orderMark struct {
	skip  uint64 // calls of the thread since the mark before
	of    int    // the other thread
	calls uint64 // of that, beyond those of the mark before with that thread
}

// An orderedThread is what is said of the calls of a thread.
type orderedThread struct {
	marks sequitur.Builder
	at    uint64       // the call of the last mark
	seen  map[int]seen // by other threads
}

// A seen says how many calls of a thread come before the last mark of another one, and how many marks say.
type seen struct{ calls, said uint64 }

// maxInherited is how many threads a thread has seen at most so that one that has seen it is taken to have
// seen these: it saves marks, and costs time for each.
const maxInherited = 32

// After says that a call of a thread, by its position among those of the thread, comes after the first so
// many calls of another one. Calls of each thread must be told of in ascending order, and those that they
// come after before them.
func (o *ThreadOrder) After(thread int, call uint64, of int, calls uint64) {
	for len(o.threads) <= max(thread, of) {
		o.threads = append(o.threads, orderedThread{})
	}
	t, other := &o.threads[thread], &o.threads[of]
	before := t.seen[of]
	if before.calls >= calls {
		return
	}
	if t.seen == nil {
		t.seen = make(map[int]seen)
	}
	m := orderMark{call - t.at, of, calls - before.said}
	symbol, known := o.marks[m]
	if !known {
		if o.marks == nil {
			o.marks = make(map[orderMark]sequitur.Symbol)
		}
		symbol = sequitur.Symbol(len(o.list))
		o.marks[m], o.list = symbol, append(o.list, m)
	}
	t.marks.Append(symbol)
	t.at, t.seen[of] = call, seen{calls, calls}
	if other.at >= calls || len(other.seen) > maxInherited { // it may have seen more since
		return
	}
	for third, has := range other.seen {
		if own := t.seen[third]; third != thread && own.calls < has.calls {
			t.seen[third] = seen{has.calls, own.said}
		}
	}
}

// Ending returns an order in which the last call of each of some threads comes after all other calls, as one
// does that has not returned. It shares memory with o.
func (o *ThreadOrder) Ending(threads []int) *ThreadOrder {
	return &ThreadOrder{o.threads, o.marks, o.list, threads}
}

// isThreadByThread reports whether the calls of one thread may stand after those of the other.
func (o *ThreadOrder) isThreadByThread(threads int) bool {
	for _, t := range o.ending {
		if t < threads-1 {
			return false
		}
	}
	for i := range o.threads {
		for of, s := range o.threads[i].seen {
			if of > i && s.said > 0 {
				return false
			}
		}
	}
	return true
}

// weave returns the calls of threads in one sequence. It has as few changes from thread to thread as can be
// if the first thread goes on until it must come after another, which then goes on until that call, and so
// on. The i-th thread has the grammar with number of[i], or no calls if that is the number of the next.
func (o *ThreadOrder) weave(grammars []*sequitur.Grammar, of []int) *sequitur.Grammar {
	w := weaver{threads: make([]wovenThread, len(of))}
	for i := range w.threads {
		t := &w.threads[i]
		if end := len(grammars); i+1 < len(of) && of[i] < of[i+1] || i+1 == len(of) && of[i] < end {
			t.calls, t.len = grammars[of[i]].Walk(0), grammars[of[i]].Len()
		}
		if i < len(o.threads) {
			t.marks = o.threads[i].marks.Snapshot().Walk(0)
			t.advance(o.list)
		}
	}
	for i := range w.threads {
		n := w.threads[i].len
		if n > 0 && slices.Contains(o.ending, i) {
			n--
		}
		w.reach(o.list, i, n)
	}
	for i := range w.threads {
		w.reach(o.list, i, w.threads[i].len)
	}
	return w.woven.Finish()
}

// A weaver makes one sequence of those of threads.
type weaver struct {
	woven   sequitur.Builder
	threads []wovenThread
	goals   []goal
}

// A goal is to have so many calls of a thread in the sequence.
type goal struct {
	thread int
	calls  uint64
}

// A wovenThread is one whose first calls are in the sequence.
type wovenThread struct {
	calls *sequitur.Walker
	run   sequitur.Run // what is left of it
	done  uint64
	len   uint64
	goal  bool // there is a goal for it

	marks *sequitur.Walker // nil if there are none
	left  uint64           // how often the mark comes before marks goes on
	mark  orderMark
	at    uint64         // the call of the mark
	seen  map[int]uint64 // of other threads
	more  bool           // there is a mark
}

// advance goes on to the next mark.
func (t *wovenThread) advance(list []orderMark) {
	if t.left == 0 {
		run := t.marks.Next()
		if t.more = run.Count > 0; !t.more {
			return
		}
		t.left, t.mark = run.Count, list[run.Symbol]
	}
	t.left--
	t.at += t.mark.skip
}

// reach adds calls until there are so many of a thread.
func (w *weaver) reach(list []orderMark, thread int, calls uint64) {
	w.push(thread, calls)
	for len(w.goals) > 0 {
		g := w.goals[len(w.goals)-1]
		t := &w.threads[g.thread]
		switch {
		case t.done >= g.calls:
			t.goal = false
			w.goals = w.goals[:len(w.goals)-1]
		case t.more && t.at <= t.done:
			if t.seen == nil {
				t.seen = make(map[int]uint64)
			}
			of := t.mark.of
			t.seen[of] += t.mark.calls
			n := t.seen[of]
			t.advance(list)
			if of < len(w.threads) && !w.threads[of].goal { // else, each would wait for the other
				w.push(of, min(n, w.threads[of].len))
			}
		default:
			end := g.calls
			if t.more {
				end = min(end, t.at)
			}
			w.take(t, end-t.done)
		}
	}
}

func (w *weaver) push(thread int, calls uint64) {
	w.goals = append(w.goals, goal{thread, calls})
	w.threads[thread].goal = true
}

// take adds the next calls of a thread.
func (w *weaver) take(t *wovenThread, n uint64) {
	for n > 0 {
		if t.run.Count == 0 {
			t.run = t.calls.Next()
		}
		some := min(n, t.run.Count)
		w.woven.AppendRun(t.run.Symbol, some)
		t.run.Count -= some
		t.done += some
		n -= some
	}
}

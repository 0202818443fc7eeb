package reprise

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A Call is one call of a rank.
type Call struct {
	Rank     int
	Function *cst.Function // must not be changed
	Args     []cst.Value   // one for each parameter; shared, must not be changed
	Terminal uint32        // equal calls of one rank have one terminal

	// Start is when the call began, and Duration how long it took, in nanoseconds,
	// if it is Timed. What is returned for a terminal is not, nor is a call of
	// which the time cannot be read, which [Rank.LostTimes] tells.
	Timed           bool
	Start, Duration int64

	of *Rank // from which it was read
}

// Arg returns the argument of the parameter with a name, and whether the function
// has one. Of MPI, a parameter may be missing where it does not count in the call, and
// be of kind Handle and class constant where the argument is a null pointer or the
// like; see package mpi/collect.
func (c Call) Arg(name string) (value cst.Value, ok bool) {
	for i := range c.Function.Params {
		if c.Function.Params[i].Name == name {
			return c.Args[i], true
		}
	}
	return cst.Value{}, false
}

// Thread returns the number of the thread that made the call: zero for the first, and
// if the trace does not say it.
func (c Call) Thread() int {
	if len(c.Args) > 0 && c.Function.Params[0].Name == ThreadParam && c.Args[0].Kind() == cst.KindInt {
		return int(c.Args[0].Int())
	}
	return 0
}

// ThreadParam is the name of the first parameter of a function that says which thread
// made the call, which must be a number. Calls of the first thread do without it.
const ThreadParam = "thread"

// String returns the call as it is written in listings, such as
// MPI_Send(count=1, dest=2, tag=0).
func (c Call) String() string { return string(cst.AppendCall(nil, *c.Function, c.Args)) }

// A Rank is what one rank of a run called. Its methods may be called from
// several goroutines at once.
type Rank struct {
	number    int
	sequence  *merge.Calls
	functions []cst.Function
	calls     []atomic.Pointer[Call] // by terminal, nil until it is decoded
	series    *timing.Series         // nil if there is none, or it is lost
	lost      atomic.Pointer[error]  // the first about times
	printed   atomic.Pointer[printedRank]
	name      func(error) error // puts the name of the file into an error
}

func newRank(number int, c *merge.Calls, name func(error) error) *Rank {
	return &Rank{name: name, number: number, sequence: c, functions: c.Table().Functions(), calls: make([]atomic.Pointer[Call], c.Table().Len())}
}

// A decodedCall is a call in one piece of memory with its arguments, if these are
// few.
type decodedCall struct {
	Call
	few [2]cst.Value
}

// Len returns the number of calls.
func (r *Rank) Len() uint64 { return r.sequence.Len() }

// Grammar returns the sequence of calls as a grammar over terminals, at the cost
// of [merge.Calls.Grammar].
func (r *Rank) Grammar() *sequitur.Grammar { return r.sequence.Grammar() }

// Walk returns a Walker of the terminals of the calls from a position on, as
// [Rank.CallsFrom] does of the calls.
func (r *Rank) Walk(position uint64) *sequitur.Walker { return r.sequence.Walk(position) }

// Find returns an iterator over the positions, from a given one on, of the calls whose
// terminals are to be kept, and these terminals, at the cost of [merge.Calls.Find].
// Keep must always say the same of a terminal.
func (r *Rank) Find(position uint64, keep func(terminal sequitur.Symbol) bool) iter.Seq2[uint64, sequitur.Symbol] {
	return r.sequence.Find(position, keep)
}

// Occurrences returns an iterator over the terminals, in ascending order, and how
// many calls each stands for. It does not need a grammar of the calls.
func (r *Rank) Occurrences() iter.Seq2[sequitur.Symbol, uint64] { return r.sequence.Occurrences() }

// Table returns the signatures of the terminals. It must not be changed. Its
// counts are zero; [Rank.Occurrences] has them.
func (r *Rank) Table() *cst.Table { return r.sequence.Table() }

// Signature returns the number of the signature of the trace, of all ranks, that a
// terminal, terminal < r.Table().Len(), stands for: the first, if it stands for
// several. [merge.Trace.Signature] describes it, and [merge.Trace.Summaries] has the
// times of its calls.
func (r *Rank) Signature(terminal uint32) int { return r.sequence.Signature(terminal) }

// Call returns the call that a terminal stands for. It panics unless terminal is
// less than r.Table().Len(). Each signature is decoded once and then kept, in at
// most 32 bytes of memory for each byte of its encoding and some for the call.
func (r *Rank) Call(terminal uint32) Call { return *r.call(terminal) }

// call is Call with a result that must not be changed.
func (r *Rank) call(terminal uint32) *Call {
	if c := r.calls[terminal].Load(); c != nil {
		return c
	}
	return r.decode(terminal)
}

// decode is call for a terminal that was not decoded before.
func (r *Rank) decode(terminal uint32) *Call {
	d := &decodedCall{}
	fn, args := r.sequence.Table().AppendSignature(d.few[:0], terminal)
	d.Call = Call{Rank: r.number, Function: &r.functions[fn], Args: slices.Clip(args), Terminal: terminal, of: r}
	r.calls[terminal].Store(&d.Call) // equal to what another goroutine may have stored
	return &d.Call
}

// Calls returns an iterator over the positions and calls of the rank, in order.
// It expands lazily: stopping after k calls costs O(k + depth of the grammar).
// If the trace has the times of every call, they are decoded; [Rank.Walk] goes
// through the calls without them.
func (r *Rank) Calls() iter.Seq2[uint64, Call] { return r.CallsFrom(0) }

// CallsFrom is like [Rank.Calls] but begins at a position, which costs as much
// as [sequitur.Grammar.At], not as reading the calls before it. There is nothing
// from r.Len() on.
func (r *Rank) CallsFrom(position uint64) iter.Seq2[uint64, Call] {
	return func(yield func(uint64, Call) bool) {
		if r.series != nil {
			r.timedCalls(position, yield)
			return
		}
		at, w := position, r.Walk(position)
		for run := w.Next(); run.Count > 0; run = w.Next() {
			call := r.call(run.Symbol)
			for range run.Count {
				if !yield(at, *call) {
					return
				}
				at++
			}
		}
	}
}

// Select is like [Rank.CallsFrom] but yields only calls that are to be kept, such as
// those of some functions. Keep is called with what [Rank.Call] returns for a terminal.
// The cost is that of [Rank.Find], and of decoding the blocks of times in which calls
// are that are kept.
func (r *Rank) Select(position uint64, keep func(Call) bool) iter.Seq2[uint64, Call] {
	return func(yield func(uint64, Call) bool) {
		var times *timeReader
		if r.series != nil {
			times = newTimeReader(r, position)
		}
		for at, terminal := range r.Find(position, func(x sequitur.Symbol) bool { return keep(*r.call(x)) }) {
			call := *r.call(terminal)
			if times != nil {
				times.seek(r, at)
				r.setTime(&call, times)
			}
			if !yield(at, call) {
				return
			}
		}
	}
}

// timedCalls yields the calls from a position on, with their times.
func (r *Rank) timedCalls(position uint64, yield func(uint64, Call) bool) {
	c := newCursor(r, position)
	for at := position; at < r.Len(); at++ {
		if !yield(at, c.read()) {
			return
		}
	}
}

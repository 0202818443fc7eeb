package trace

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
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

	// Position is that of the call among those of its rank, 0 if the call stands for all
	// of a terminal.
	Position uint64

	// Start is when the call began, and Duration how long it took, in nanoseconds, if it is
	// Timed. What is returned for a terminal is not. Start counts as the clock of the trace
	// does: from 1970 if reprise recorded an MPI program, else from where the tracer that wrote
	// it counts. The Begin of package query's Times is the start of the first call of the run.
	Timed           bool
	Start, Duration int64

	of  *Rank // from which it was read
	one bool  // it is that at Position, where others of its terminal have other arguments
}

// Arg returns the argument of the parameter with a name, and whether the function
// has one. Of MPI, a parameter may be missing where it does not count in the call, and
// be of kind Handle and class constant where the argument is a null pointer or the
// like; see package mpi/collect.
func (c Call) Arg(name string) (value cst.Value, ok bool) {
	c.check()
	for i := range c.Function.Params {
		if c.Function.Params[i].Name == name {
			return c.Args[i], true
		}
	}
	return cst.Value{}, false
}

// IsOne reports whether the arguments are those of the call alone: other calls of its terminal may have others,
// as those of [Trace.Folded] may.
func (c Call) IsOne() bool { return c.one }

// Alone returns a call that may stand for others as one that does not: a [Printer] writes its arguments, and not
// how they go on.
func (c Call) Alone() Call {
	c.one = c.of != nil && c.of.rest != nil
	return c
}

// check panics unless c is a call of a function, with an argument for each of its parameters.
func (c *Call) check() {
	need.That(c.Function != nil && len(c.Args) == len(c.Function.Params), "trace: not a call with all arguments")
}

// Thread returns the number of the thread that made the call: zero for the first, and
// if the trace does not say it.
func (c Call) Thread() int {
	if len(c.Args) == 0 {
		return 0
	}
	c.check()
	if c.Function.Params[0].Name == ThreadParam && c.Args[0].Kind() == cst.KindInt {
		return int(c.Args[0].Int())
	}
	return 0
}

// ThreadParam is the name of the first parameter of a function that says which thread
// made the call, which must be a number. Calls of the first thread do without it.
const ThreadParam = "thread"

// String returns the call as it is written in listings, such as
// MPI_Send(count=1, dest=2, tag=0).
func (c Call) String() string {
	c.check()
	return string(cst.AppendCall(nil, *c.Function, c.Args))
}

// A Rank is what one rank of a run called. Its methods may be called from
// several goroutines at once.
type Rank struct {
	number   int
	trace    *Trace
	shape    *Shape     // nil if the rank made no calls
	flow     *flow      // its calls over terminals
	recorded *flow      // those over which its times are: what advances in them is in streams
	rest     *rest      // what advances in calls of one terminal of flow; nil if nothing does
	values   lazyValues // what its calls have stored, rank by rank

	calls   []atomic.Pointer[Call] // by terminal, nil until it is decoded
	series  *timing.Series         // nil if there is none
	threads lazyWeave              // where they stand in calls and series
	printed atomic.Pointer[printedRank]
}

// Rank reads what a rank called, and where the times of its calls are. It reads nothing
// that concerns ranks of other shapes only. A rank that made no calls is empty.
//
// Equal calls have one terminal, and no others. So loops whose arguments advance from one iteration to the next
// are expanded, as far as their iterations differ, in some 100 bytes of memory for each different call: see
// [Trace.Folded].
func (t *Trace) Rank(rank int) (*Rank, error) {
	r, _, err := t.expandedRank(rank)
	return t.withTimes(r, err)
}

// withTimes returns a rank with the times of its calls, or an error with the name of the file.
func (t *Trace) withTimes(r *Rank, err error) (*Rank, error) {
	if err == nil {
		r.series, err = t.openSeries(r)
	}
	if err != nil {
		return nil, t.named(err)
	}
	return r, nil
}

// expandedRank is Rank without the times of the calls, and without the name of the file in its errors. It also
// returns the streams of what advances, if something does.
func (t *Trace) expandedRank(rank int) (*Rank, *runs, error) {
	r, x, err := t.readRank(rank)
	if err == nil && x != nil {
		r.flow, err = r.spread(r.recorded, x, t.allSlots(), true, math.MaxInt)
	}
	if err != nil {
		return nil, nil, err
	}
	r.calls = make([]atomic.Pointer[Call], r.Terminals())
	return r, x, nil
}

// readRank reads a rank, with what advances in streams, which it returns if there are some.
func (t *Trace) readRank(rank int) (*Rank, *runs, error) {
	if rank < 0 || rank >= t.run.Ranks {
		return nil, nil, fmt.Errorf("trace: there is no rank %d in a run of %d", rank, t.run.Ranks)
	}
	r := &Rank{number: rank, trace: t, flow: noCalls, recorded: noCalls}
	number, ok := t.index.find(rank)
	if !ok {
		return r, nil, nil
	}
	s, err := t.shape(number)
	if err != nil {
		return nil, nil, err
	}
	if n := s.Grammar.Len(); t.calls != nil && t.calls[sequitur.Symbol(rank)] != n {
		return nil, nil, layout.Damaged(layout.KindInterleaving, 0,
			layout.Corrupt("%d calls of rank %d, which has %d", t.calls[sequitur.Symbol(rank)], rank, n))
	}
	if err := r.checkStretches(s); err != nil {
		return nil, nil, err
	}
	r.shape = s
	u, err := r.readValues()
	if err != nil {
		return nil, nil, err
	}
	if r.recorded = u.flow; s.template().varying {
		if r.recorded, err = r.expand(u.firsts); err != nil {
			return nil, nil, err
		}
	}
	r.flow = r.recorded
	if s.index == nil {
		return r, nil, nil
	}
	x, err := r.readRuns()
	return r, x, err
}

// readValues reads the stored values of r, or, if it was read before, leaves them until they are asked for,
// and returns its union.
func (r *Rank) readValues() (*union, error) {
	s := r.shape
	u, kept := s.unions.of(r.number), s.kept.Load()
	if u != nil && kept != nil && len(kept.columns) > 0 {
		r.values.kept = kept
		return u, nil
	}
	v, err := s.readStored(r.number)
	if err != nil {
		return nil, err
	}
	r.values.found.Store(&v)
	return s.union(r.number, v), nil
}

// stored returns the values that are stored for r.
func (r *Rank) stored() *storedValues { return r.values.get(r.shape, r.number) }

// Number returns the number of the rank.
func (r *Rank) Number() int { return r.number }

// Len returns the number of calls.
func (r *Rank) Len() uint64 { return r.flow.calls.Len() }

// Terminals returns the number of terminals, which are numbered from 0 on in the order
// of their first use: of calls that differ in their function or an argument.
func (r *Rank) Terminals() int { return r.terminalsOf(r.flow) }

// terminalsOf is Terminals of a flow.
func (r *Rank) terminalsOf(f *flow) int {
	switch {
	case f.of != nil:
		return len(f.of)
	case r.shape != nil:
		return r.shape.own
	}
	return 0
}

// Listed reports whether the calls are held one by one, as where their arguments vary
// without a pattern: then [Rank.Walk] goes through them, but [Rank.Grammar] has to make
// a grammar of them.
func (r *Rank) Listed() bool {
	_, ok := r.flow.calls.(*listedCalls)
	return ok
}

// Grammar returns the sequence of calls as a grammar over terminals. Where the
// arguments of calls vary without a pattern, it is made call by call the first time,
// and [Rank.Walk] does without it.
func (r *Rank) Grammar() *sequitur.Grammar { return r.flow.calls.grammar() }

// Walk returns a Walker of the terminals of the calls from a position on, which
// costs as much as [sequitur.Grammar.At] at most.
func (r *Rank) Walk(position uint64) *sequitur.Walker { return r.flow.calls.Walk(position) }

// Find returns an iterator over the positions, from a given one on, of the calls whose
// terminals are to be kept, and these terminals. Keep must always say the same of a
// terminal. Each of these calls is found in O(d·log s) steps, for a grammar of depth d with s symbols in its
// longest rule; calls whose arguments vary without a pattern are gone through one by one.
func (r *Rank) Find(position uint64, keep func(terminal sequitur.Symbol) bool) iter.Seq2[uint64, sequitur.Symbol] {
	need.That(keep != nil, "trace: nothing says which calls to keep")
	return r.flow.calls.some(keep).from(position)
}

// Occurrences returns an iterator over the terminals, in ascending order, and how
// many calls each stands for. It does not need a grammar of the calls.
func (r *Rank) Occurrences() iter.Seq2[sequitur.Symbol, uint64] { return r.flow.calls.Occurrences() }

// Signature returns the number of the signature of the trace, of all ranks, that a
// terminal, terminal < r.Terminals(), stands for: the first, if it stands for
// several. [Trace.Signature] describes it, and [Trace.Summaries] has the times of its
// calls.
func (r *Rank) Signature(terminal uint32) int {
	need.That(uint(terminal) < uint(r.Terminals()), "trace: terminal out of range")
	return int(r.shape.signatures[r.flow.signatureOf(terminal)])
}

// Function returns the number of the function, in [Trace.Functions], of the calls of a
// terminal, terminal < r.Terminals().
func (r *Rank) Function(terminal uint32) int {
	return int(r.trace.signatures.Functions[r.Signature(terminal)])
}

// functionOf is Function for a terminal of a flow.
func (r *Rank) functionOf(f *flow, terminal uint32) int {
	return int(r.trace.signatures.Functions[r.shape.signatures[f.signatureOf(terminal)]])
}

// Call returns the call that a terminal stands for: the first of them, if they differ, as those of a rank of
// [Trace.Folded] may. It panics unless terminal is less than r.Terminals(). Each call is decoded once and then
// kept, in some 32 bytes of memory for each argument and element.
func (r *Rank) Call(terminal uint32) Call { return *r.call(terminal) }

// call is Call with a result that must not be changed.
func (r *Rank) call(terminal uint32) *Call {
	need.That(uint(terminal) < uint(len(r.calls)), "trace: terminal out of range")
	if c := r.calls[terminal].Load(); c != nil {
		return c
	}
	return r.decode(terminal)
}

// A decodedCall is a call in one piece of memory with its arguments, if these are
// few.
type decodedCall struct {
	Call
	few [2]cst.Value
}

// decode is call for a terminal that was not decoded before.
func (r *Rank) decode(terminal uint32) *Call {
	d := &decodedCall{}
	var few [12]int64
	e := evaluation{slots: few[:0]}
	fn := r.Function(terminal)
	d.Call = Call{Rank: r.number, Function: &r.trace.Functions()[fn], Terminal: terminal, of: r}
	d.Args = slices.Clip(r.arguments(d.few[:0], &e, terminal))
	if r.rest != nil {
		r.rest.setFirst(&d.Call)
	}
	r.calls[terminal].Store(&d.Call) // equal to what another goroutine may have stored
	return &d.Call
}

// arguments appends the arguments of the calls of a terminal to args, and sets e to
// their evaluation, in the memory that it has.
func (r *Rank) arguments(args []cst.Value, e *evaluation, terminal uint32) []cst.Value {
	return r.argumentsOf(args, e, r.flow, terminal, nil)
}

// argumentsOf is arguments for a terminal of a flow, after a change of the slots unless that is nil.
func (r *Rank) argumentsOf(args []cst.Value, e *evaluation, f *flow, terminal uint32,
	change func(slots []int64)) []cst.Value {
	i := f.signatureOf(terminal)
	s := r.shape.signature(i, &e.scratch)
	e.rank, e.size = r.number, r.trace.run.Ranks
	e.evaluate(s, r.stored().scalars[r.shape.template().scalars[i]:])
	r.setVaried(e.slots, s, f, terminal)
	if change != nil {
		change(e.slots)
	}
	e.decodeRows(r.stored().rows[r.shape.template().rows[i]:r.shape.template().rows[i+1]])
	return r.trace.rebuild(args, e, s)
}

// decodeRows sets e.rows to the elements of rows, in the memory that it has.
func (e *evaluation) decodeRows(rows []storedRow) {
	n := 0
	for k := range rows {
		n += rows[k].len()
	}
	e.rows = slices.Grow(e.rows[:0], n)
	for k := range rows {
		e.rows = rows[k].appendTo(e.rows)
	}
}

// rebuild appends the arguments of a call to args, whose slots are those of e and, of
// arrays, e.rows, which arrays of numbers keep.
func (t *Trace) rebuild(args []cst.Value, e *evaluation, s *layout.Template) []cst.Value {
	fn := &t.Functions()[s.Function]
	u := layout.Rebuilder{Slots: e.slots, Lengths: s.Lengths, Texts: t.texts, Elements: e.elements[:0]}
	arrays, rows := s.Arrays, e.rows
	for k := range fn.Params {
		if fn.Params[k].Type.Kind != cst.KindArray {
			args = append(args, u.Value(fn.Params[k].Type))
			continue
		}
		others, n := u.Slots, arrays[0].Slots
		u.Slots = rows[:n]
		args = append(args, u.Value(fn.Params[k].Type))
		u.Slots, arrays, rows = others, arrays[1:], rows[n:]
	}
	e.elements = u.Elements
	return args
}

// group returns what r is in the group that the calls of a terminal name, if it is
// known.
func (r *Rank) group(terminal uint32) (merge.Group, bool) {
	i := r.flow.signatureOf(terminal)
	e := evaluation{rank: r.number, size: r.trace.run.Ranks}
	e.evaluate(r.shape.signature(i, &e.scratch), r.stored().scalars[r.shape.template().scalars[i]:])
	return e.group, e.grouped
}

// Calls returns an iterator over the calls of the rank from a position on, in order. Finding the position
// costs as much as [sequitur.Grammar.At], not as reading the calls before it; there is nothing from r.Len()
// on. It expands lazily: stopping after k calls costs O(k + depth of the grammar). If the trace has the times
// of every call, they are decoded; [Rank.Walk] goes through the calls without them. A call whose time cannot
// be read comes without it, and with the error: so do all of its block of times, and none of the next.
func (r *Rank) Calls(position uint64) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		if r.series != nil {
			r.timedCalls(position, yield)
			return
		}
		w := r.Walk(position)
		values := r.valuesFrom(position)
		for run := w.Next(); run.Count > 0; run = w.Next() {
			call := *r.call(run.Symbol)
			for range run.Count {
				call.Position = position
				if !yield(values.in(call), nil) {
					return
				}
				position++
			}
		}
	}
}

// CallAt returns the call at a position, position < r.Len(), without its time. It costs what
// [sequitur.Grammar.OccurrencesBefore] does if r is of [Trace.Folded], else what [sequitur.Grammar.At] does.
func (r *Rank) CallAt(position uint64) Call {
	need.That(position < r.Len(), "trace: no call at this position")
	call := *r.call(r.Walk(position).Next().Symbol)
	call.Position = position
	return r.valuesFrom(position).in(call)
}

// timedCalls yields the calls from a position on, with their times.
func (r *Rank) timedCalls(position uint64, yield func(Call, error) bool) {
	c := newCursor(r, position)
	for range r.Len() - min(position, r.Len()) {
		if !yield(c.read()) {
			return
		}
	}
}

// Select is like [Rank.Calls] but yields only calls that are to be kept, such as
// those of some functions. Keep is called with what [Rank.Call] returns for a terminal.
// The cost is that of [Rank.Find], and of decoding the blocks of times in which calls
// are that are kept. Of a rank of [Trace.Folded], also calls count whose arguments advance with those that are kept.
func (r *Rank) Select(position uint64, keep func(Call) bool) iter.Seq2[Call, error] {
	need.That(keep != nil, "trace: nothing says which calls to keep")
	return func(yield func(Call, error) bool) {
		var times *TimeReader
		if r.series != nil {
			times = newTimeReader(r, position)
		}
		kept := make([]bool, r.Terminals())
		for x := range kept {
			kept[x] = keep(*r.call(uint32(x)))
		}
		values, also := r.valuesFrom(position), r.rest.sharing(kept)
		for at, terminal := range r.Find(position, func(x sequitur.Symbol) bool { return kept[x] || also[x] }) {
			call := *r.call(terminal)
			call.Position = at
			call = values.in(call)
			if !kept[terminal] {
				continue
			}
			var err error
			if times != nil {
				times.Seek(at)
				err = r.setTime(&call, times)
			}
			if !yield(call, err) {
				return
			}
		}
	}
}

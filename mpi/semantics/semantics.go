package semantics

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A Model says what the calls of a trace mean. Its methods may be called from several
// goroutines at once.
type Model struct {
	trace   *trace.Trace
	dialect dialect // nil if the functions are not known
	world   *Communicator

	unresolved error
}

// A dialect is what a trace's functions belong to.
type dialect interface {
	// rank returns what the calls of a rank mean, by terminal.
	rank(r *trace.Rank, number int) (meanings, error)

	// counts reports whether the meaning of calls of a function may depend on an argument.
	counts(function, param int) bool
}

// Meanings are what the calls of a rank mean.
type meanings interface {
	// at returns the operation of a call.
	at(position uint64, terminal uint32) *Operation

	// same returns the operation of all calls of a terminal, false if they do not all mean the
	// same.
	same(terminal uint32) (*Operation, bool)

	// all yields the operations of a terminal that occurs count times.
	all(terminal uint32, count uint64, yield func(Occurrence) bool) bool

	// exchange returns the data that a call exchanges.
	exchange(d *dataCall) Exchange
}

// Open returns what the calls of a trace mean, by the names of its functions: those of MPI, or of
// SimGrid's actions; or by the definitions of the archive of OTF2 that the trace was made of. It reads ranks only if the meaning of communicators depends on what they do. What
// other functions mean, [OpenWith] is told.
func Open(ctx context.Context, t *trace.Trace) (*Model, error) {
	return open(ctx, t, groups.Options{})
}

func open(ctx context.Context, t *trace.Trace, o groups.Options) (*Model, error) {
	need.That(t != nil, "semantics: no trace")
	if s, err := otf2.SemanticsOf(t); err != nil {
		return nil, err
	} else if s != nil {
		return OpenWith(t, s)
	}
	m := newModel(t)
	switch functions := t.Functions(); {
	case isTI(functions):
		m.dialect = newTI(m, functions)
	case isMPI(functions):
		d, unresolved, err := newMPI(ctx, m, o)
		if err != nil {
			return nil, err
		}
		m.dialect, m.unresolved = d, unresolved
	}
	return m, nil
}

// newModel returns a model of a trace of which no function is known.
func newModel(t *trace.Trace) *Model {
	return &Model{trace: t, world: &Communicator{Name: "world", size: t.Ranks()}}
}

// Unresolved returns an error about communicators, windows and files that could not be resolved: because what
// processes recorded does not fit, or because too many calls make or free them: then the error wraps
// [format.ErrLimit], and only MPI_COMM_WORLD and MPI_COMM_SELF are known; nil if there are none. What is on
// them has no communicator and no known peers.
func (m *Model) Unresolved() error { return m.unresolved }

// Known reports whether it is known what the functions of the trace mean. If it is not,
// no call has an [Operation].
func (m *Model) Known() bool { return m.dialect != nil }

// IsMPI reports whether the functions are MPI's, and IsSimGrid whether they are SimGrid's actions.
func (m *Model) IsMPI() bool {
	_, ok := m.dialect.(*mpiDialect)
	return ok
}

func (m *Model) IsSimGrid() bool {
	_, ok := m.dialect.(*tiDialect)
	return ok
}

// Trace returns the trace.
func (m *Model) Trace() *trace.Trace { return m.trace }

// World returns the communicator of all ranks of the run.
func (m *Model) World() *Communicator { return m.world }

// Rank reads what a rank called, as [trace.Trace.Folded] does: of arguments that advance from call to call, those
// are kept apart on which the meaning of calls may depend, as counts and tags, and not addresses.
func (m *Model) Rank(rank int) (*Rank, error) {
	var counts func(function, param int) bool
	if m.dialect != nil {
		counts = m.dialect.counts
	}
	read, err := m.trace.Folded(rank, counts)
	if err != nil {
		return nil, err
	}
	return m.Of(read, rank)
}

// Of returns what the calls of a rank mean that was read from the trace.
func (m *Model) Of(read *trace.Rank, rank int) (*Rank, error) {
	need.That(read != nil, "semantics: no rank")
	r := &Rank{Rank: read}
	if m.dialect == nil {
		return r, nil
	}
	var err error
	r.meanings, err = m.dialect.rank(read, rank)
	return r, err
}

// A Rank is what one rank called, and what that means. Its methods may be called from
// several goroutines at once.
type Rank struct {
	*trace.Rank
	meanings meanings // nil if the functions are not known
}

// At returns what the call at a position means, whose terminal must be the one given;
// nil if it means nothing to other processes.
func (r *Rank) At(position uint64, terminal uint32) *Operation {
	need.That(uint(terminal) < uint(r.Terminals()), "semantics: terminal out of range")
	if r.meanings == nil {
		return nil
	}
	return r.meanings.at(position, terminal)
}

// Same returns what all calls with a terminal mean, nil if that is nothing to other processes;
// ok is false if it depends on the position.
func (r *Rank) Same(terminal uint32) (o *Operation, ok bool) {
	need.That(uint(terminal) < uint(r.Terminals()), "semantics: terminal out of range")
	if r.meanings == nil {
		return nil, true
	}
	return r.meanings.same(terminal)
}

// Begun returns the position of the call that began the operation which a request stands for at a position,
// and whether a call before that position tried to cancel it. It is the call that made the request, and of a
// persistent request the one that started it. The request is one of [Operation.Completes] or
// [Operation.Frees]; ok is false if it is not active, or was made while recording was off. The cost is some
// steps through the grammar.
func (r *Rank) Begun(request int64, position uint64) (began uint64, cancelled, ok bool) {
	m, isMPI := r.meanings.(*mpiRank)
	if !isMPI || request < 0 {
		return 0, false, false
	}
	return m.requests().begun(request, position)
}

// Object returns the communicator, or that of the window or file, which an argument of the call at a position stands
// for, whose terminal must be the one given: of one that the call makes, the new one. Windows and files have a
// Communicator each. It is nil if the trace does not say which, or the parameter is no such handle. The cost is that
// of a few searches, and grows with the number of calls that make such objects only by its logarithm.
func (r *Rank) Object(position uint64, terminal uint32, param string) *Communicator {
	need.That(uint(terminal) < uint(r.Terminals()), "semantics: terminal out of range")
	m, ok := r.meanings.(*mpiRank)
	if !ok {
		return nil
	}
	e := evaluation{mpiRank: m, position: position, extent: everywhere}
	args := e.arguments(terminal)
	v, ok := args.find(param, cst.KindHandle)
	if !ok {
		return nil
	}
	return e.scope(args.class(param), v.Int()).communicator
}

// SwitchesRecording reports whether the rank has calls that switch off or on what package
// [github.com/reprise-trace/reprise/mpi/collect] records: others may be missing then. It
// costs what looking at each signature costs.
func (r *Rank) SwitchesRecording() bool {
	m, ok := r.meanings.(*mpiRank)
	return ok && m.switches()
}

// An Occurrence says how many calls with a terminal are an operation.
type Occurrence struct {
	Terminal  uint32
	Operation *Operation
	Count     uint64
}

// All returns an iterator over the operations of all calls, in the order of terminals.
// A terminal occurs several times if its calls do not all mean the same, and not at all
// if they mean nothing to other processes. The cost is that of the grammar and the
// signatures, not of the calls.
func (r *Rank) All() iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		if r.meanings == nil {
			return
		}
		for terminal, count := range r.Occurrences() {
			if !r.meanings.all(terminal, count, yield) {
				return
			}
		}
	}
}

// AllWithin is [Rank.All] of the calls in some spans, which must be as those of [trace.Rank.Within], and which it costs.
// Calls of a terminal that do not all mean the same are gone through one by one.
func (r *Rank) AllWithin(spans []trace.Span) iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		if r.meanings == nil {
			return
		}
		for terminal, count := range r.Within(spans) {
			o, same := r.meanings.same(terminal)
			switch {
			case same && o != nil:
				if !yield(Occurrence{terminal, o, count}) {
					return
				}
			case !same && !r.each(terminal, spans, yield):
				return
			}
		}
	}
}

// each yields the operations of the calls in some spans that have a terminal.
func (r *Rank) each(terminal uint32, spans []trace.Span, yield func(Occurrence) bool) bool {
	var order []*Operation
	counts := make(map[*Operation]uint64)
	for _, s := range spans {
		for position := range r.Find(s.First, func(x sequitur.Symbol) bool { return x == terminal }) {
			if position >= s.End {
				break
			}
			if o := r.meanings.at(position, terminal); o != nil {
				if counts[o]++; counts[o] == 1 {
					order = append(order, o)
				}
			}
		}
	}
	for _, o := range order {
		if !yield(Occurrence{terminal, o, counts[o]}) {
			return false
		}
	}
	return true
}

// A memo keeps the operations of terminals whose calls all mean the same.
type memo []atomic.Pointer[Operation]

// none stands in a memo for calls that mean nothing, where nil stands for what is not known yet.
var none = new(Operation)

// get returns the operation of a terminal, nil if it means nothing; ok is false if it is not
// known yet.
func (m memo) get(terminal uint32) (o *Operation, ok bool) {
	switch o = m[terminal].Load(); o {
	case nil:
		return nil, false
	case none:
		return nil, true
	}
	return o, true
}

// put sets the operation of a terminal, unless another goroutine did, and returns it.
func (m memo) put(terminal uint32, o *Operation) *Operation {
	if o == nil {
		o = none
	}
	m[terminal].CompareAndSwap(nil, o)
	o, _ = m.get(terminal)
	return o
}

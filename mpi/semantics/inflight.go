package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
)

// An InFlight is a call that had not returned when the recording ended.
type InFlight struct {
	Position uint64
	Terminal uint32
	Thread   int // of the rank, in the order in which threads made their first call
	Role     *spec.Role

	// Operation is what the call means to other processes. It is nil if it means nothing to
	// them, and if it waits for operations that other calls began or looks for messages.
	Operation *Operation

	// Requests are those that the call waits for, and Any is set if one of them is enough.
	Requests []int64
	Any      bool

	// Probed is the message that the call looks for, as a receive of it would say; nil if it
	// looks for none.
	Probed *Message
}

// InFlight reports whether the trace has calls that had not returned when the recording ended.
func (m *Model) InFlight() bool {
	d, ok := m.dialect.(*mpiDialect)
	return ok && slices.Contains(d.outcomes, spec.InFlight)
}

// InFlight returns the calls of a rank that had not returned when the recording ended, in the
// order of their positions: of each thread one at most. It is empty for those that came to
// their end, and costs nothing if the run did.
func (r *Rank) InFlight() []InFlight {
	m, ok := r.meanings.(*mpiRank)
	if !ok || !slices.Contains(m.outcomes, spec.InFlight) {
		return nil
	}
	var list []InFlight
	for position, terminal := range r.Find(0, func(s sequitur.Symbol) bool {
		return m.outcomes[m.function(s)] == spec.InFlight
	}) {
		list = append(list, m.inFlight(position, terminal))
	}
	return list
}

// Ended reports whether the rank has left MPI: it has returned from MPI_Finalize.
func (r *Rank) Ended() bool {
	m, ok := r.meanings.(*mpiRank)
	if !ok {
		return false
	}
	for terminal := range uint32(r.Terminals()) {
		if f := m.function(terminal); m.roles[f].Ends && m.outcomes[f] == spec.Succeeded {
			return true
		}
	}
	return false
}

func (r *mpiRank) inFlight(position uint64, terminal uint32) InFlight {
	args := r.arguments(terminal)
	c := InFlight{
		Position: position, Terminal: terminal, Thread: r.read.Call(terminal).Thread(),
		Role: r.roles[r.function(terminal)], Operation: r.at(position, terminal),
	}
	switch {
	case c.Role.Requests == spec.Waits:
		c.Requests = slices.DeleteFunc(slices.Clone(requestsOf(args)), func(id int64) bool { return id < 0 })
		c.Any = c.Role.Some
	case c.Role.Class == spec.Probe:
		e := evaluation{mpiRank: r, position: position, extent: everywhere}
		c.Probed = e.sought(args)
	}
	return c
}

// sought returns the message that a probe looks for, nil if there can be none.
func (e *evaluation) sought(args arguments) *Message {
	var o Operation
	p := spec.RoleOf("MPI_Recv")
	e.message(&o, p, Receive, args, e.scope(commClass, args.number("comm", cst.KindHandle)))
	if len(o.Messages) == 0 {
		return nil
	}
	return &o.Messages[0]
}

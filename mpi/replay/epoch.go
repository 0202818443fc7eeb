package replay

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// The calls that open and close epochs of one-sided operations by groups of ranks are executed as messages
// of no bytes, tokens: MPI_Win_post sends one to each rank of its group, for which MPI_Win_complete of
// these waits; that sends one to each rank of the group of MPI_Win_start when its accesses are done, for
// which MPI_Win_wait waits. MPI_Win_start itself need not wait.

// Tags of tokens.
const (
	postTag     = -10
	completeTag = -11
	drawnTag    = -12 // of messages whose tag is not known
)

// An epoch is what a call does to epochs.
type epoch uint8

const (
	noEpoch epoch = iota
	opensExposure
	opensAccess
	closesAccess
	closesExposure
)

var epochs = map[*spec.Role]epoch{
	spec.RoleOf("MPI_Win_post"):     opensExposure,
	spec.RoleOf("MPI_Win_start"):    opensAccess,
	spec.RoleOf("MPI_Win_complete"): closesAccess,
	spec.RoleOf("MPI_Win_wait"):     closesExposure,
	spec.RoleOf("MPI_Win_test"):     closesExposure,
}

// An epochKey is a window of a rank, and what is open on it.
type epochKey struct {
	window int64
	access bool
}

// compileEpoch adds to an op what a call does to epochs, with the tokens of its group.
func (r *rank) compileEpoch(o *op, meaning *semantics.Operation, terminal uint32) {
	call := r.calls.Call(terminal)
	if flag, ok := call.Arg("flag"); ok && flag.Kind() == cst.KindInt && flag.Int() == 0 {
		return
	}
	if o.epoch = epochs[meaning.Role]; o.epoch == noEpoch || meaning.Communicator == nil {
		o.epoch = noEpoch
		return
	}
	if window, ok := call.Arg("win"); ok {
		o.window = window.Int()
	}
	for _, peer := range meaning.Group {
		if o.epoch == opensExposure {
			o.given = append(o.given, r.token(meaning.Communicator, peer, semantics.Send, postTag))
			o.taken = append(o.taken, r.token(meaning.Communicator, peer, semantics.Receive, completeTag))
		} else {
			o.given = append(o.given, r.token(meaning.Communicator, peer, semantics.Send, completeTag))
			o.taken = append(o.taken, r.token(meaning.Communicator, peer, semantics.Receive, postTag))
		}
	}
}

func (r *rank) token(c *semantics.Communicator, peer int, d semantics.Direction, tag int64) message {
	m := r.message(&semantics.Message{Direction: d, Peer: peer, Tag: tag, Communicator: c, Mode: "buffered"})
	m.token = true
	return m
}

// epoch does what a call does to epochs.
func (s *strand) epoch(o *op) {
	k := epochKey{o.window, o.epoch == opensAccess || o.epoch == closesAccess}
	var taken []message
	switch o.epoch {
	case opensExposure:
		s.give(o.given)
		fallthrough
	case opensAccess:
		if s.rank.epochs == nil {
			s.rank.epochs = make(map[epochKey]*op)
		}
		s.rank.epochs[k] = o
	default:
		if opened := s.rank.epochs[k]; opened != nil {
			if taken = opened.taken; k.access {
				s.give(opened.given)
			}
			delete(s.rank.epochs, k)
		}
	}
	for i := range taken {
		s.rank.post(s, &taken[i], &s.own)
	}
}

// give sends tokens, when the accesses of the rank are done.
func (s *strand) give(tokens []message) {
	busy := s.busy
	s.busy = max(s.busy, s.rank.accessed)
	for i := range tokens {
		cost := s.rank.engine.machine.Message(&tokens[i].Message)
		s.rank.engine.send(s, &tokens[i], &s.own, &cost)
	}
	s.busy = busy
}

package replay

import (
	"errors"

	"github.com/reprise-trace/reprise/sequitur"
)

// ErrThreadsUnordered says that a replay cannot go on, and that this may be because it is not known in which
// order the threads of ranks made their calls.
var ErrThreadsUnordered = errors.New(
	"replay: it is not known in which order the threads of ranks made their calls, without which the run cannot be replayed")

// Turns say which threads of a rank take part in the collective operations on a communicator, send on a
// channel, or receive from it, one call after the other. MPI takes them in that order.
type turns struct {
	order   sequitur.Builder // of threads, until all are known
	walk    *sequitur.Walker
	run     sequitur.Run // what is left of it: the thread whose turn it is
	waiting []*strand    // for their turn
}

// A turnKey is what a rank's calls take turns at: a *comm, or a *channel at which the rank sends or receives.
type turnKey struct {
	of    any
	sends bool
}

// turnKeys returns at what an operation takes turns, each once.
func turnKeys(o *op) (list []turnKey) {
	seen := make(map[turnKey]bool)
	add := func(k turnKey) {
		if !seen[k] {
			seen[k] = true
			list = append(list, k)
		}
	}
	for i := range o.collectives {
		add(turnKey{o.collectives[i].comm, false})
	}
	for i := range o.messages {
		if m := &o.messages[i]; m.channel != nil && m.kind != accesses {
			add(turnKey{m.channel, m.kind == sends})
		}
	}
	return list
}

// eachOperation calls use with the operation of each call of the rank, in their order.
func (r *rank) eachOperation(use func(o *op)) {
	walk := r.calls.Walk(0)
	position := uint64(0)
	for run := walk.Next(); run.Count > 0; run = walk.Next() {
		for range run.Count {
			o := r.ops[run.Symbol]
			if o == nil || o.varies {
				o = r.operation(position, run.Symbol)
			}
			use(o)
			position++
		}
	}
}

// sharedTurns returns what several threads of the rank do.
func (r *rank) sharedTurns() map[turnKey]*turns {
	users, shared := make(map[turnKey]int32), make(map[turnKey]*turns)
	r.eachOperation(func(o *op) {
		if o.looked {
			return
		}
		o.looked = true
		for _, k := range turnKeys(o) {
			if by, ok := users[k]; ok && by != o.thread {
				shared[k] = new(turns)
			}
			users[k] = o.thread
		}
	})
	return shared
}

// findTurns finds what several threads of the rank do, and in which order their calls stand.
func (r *rank) findTurns() {
	shared := r.sharedTurns()
	if len(shared) == 0 {
		return
	}
	r.turns = shared
	r.eachOperation(func(o *op) {
		r.setTurns(o)
		for _, t := range o.turns {
			t.order.Append(sequitur.Symbol(o.thread))
		}
	})
	for _, t := range r.turns {
		t.walk = t.order.Finish().Walk(0)
		t.run = t.walk.Next()
	}
}

// setTurns sets what an operation takes turns at.
func (r *rank) setTurns(o *op) {
	if o.turned || len(r.turns) == 0 {
		return
	}
	o.turned = true
	for _, k := range turnKeys(o) {
		if t := r.turns[k]; t != nil {
			o.turns = append(o.turns, t)
		}
	}
}

// hasTurn reports whether the strand may begin a call, or else has it wait until it may.
func (s *strand) hasTurn(o *op) bool {
	for _, t := range o.turns {
		if t.run.Count > 0 && t.run.Symbol != sequitur.Symbol(s.thread) {
			t.waiting = append(t.waiting, s)
			s.state = queued
			return false
		}
	}
	return true
}

// takeTurns has the strand begin a call, and others take their turn.
func (s *strand) takeTurns(o *op) {
	for _, t := range o.turns {
		if t.run.Count > 0 {
			t.run.Count--
		}
		if t.run.Count > 0 {
			continue
		}
		t.run = t.walk.Next()
		list := t.waiting
		t.waiting = nil
		for _, w := range list {
			w.state = starting
			w.busy = max(w.busy, s.rank.engine.now)
			s.rank.engine.later.push(moment{at: s.rank.engine.now, strand: w})
		}
	}
}

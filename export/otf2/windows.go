package otf2

import (
	"slices"

	"github.com/reprise-trace/reprise/mpi/semantics"
)

// An access is one to the memory of another process, or several that are complete together.
type access struct {
	window, target, id uint64
	explicit           bool // a request completes it
	combined           bool // it is complete there when it is here, as what is read is
	local              bool // it is complete here
}

// complete adds that an access is complete here, and if all is said of it, there.
func (a *access) complete(to []event, all bool) []event {
	if !a.local {
		a.local = true
		to = append(to, eventOf(kinds.rmaDone, a.window, a.id))
	}
	if all || a.combined {
		to = append(to, eventOf(kinds.rmaDoneRemote, a.window, a.id))
	}
	return to
}

// accessWindow adds a one-sided operation.
func (p *process) accessWindow(n *entry, o *semantics.Operation) {
	for i := range o.Messages {
		m := &o.Messages[i]
		if m.Communicator == nil {
			continue
		}
		w := p.window(m.Communicator)
		target, ok := p.peerOf(w.comm, p.rank.Number, m.Peer)
		if !ok {
			continue
		}
		a := p.accessOf(w, target, n, o, m)
		bytes := p.size(m.Bytes)
		switch m.Direction {
		case semantics.Put:
			n.begin = append(n.begin, eventOf(kinds.put, w.id, target, bytes, a.id))
		case semantics.Get:
			n.begin = append(n.begin, eventOf(kinds.get, w.id, target, bytes, a.id))
		default:
			what, back := constants.accumulate, uint64(0)
			if m.Direction == semantics.Fetch {
				what, back = constants.fetchAndAccumulate, bytes
			}
			if n.call.base == "Compare_and_swap" {
				what = constants.compareAndSwap
			}
			n.begin = append(n.begin, eventOf(kinds.atomic, w.id, target, what, bytes, back, a.id))
		}
	}
}

// accessOf returns what an operation is part of: those that no request completes are one until they are complete.
func (p *process) accessOf(w *window, target uint64, n *entry, o *semantics.Operation, m *semantics.Message) *access {
	combined := m.Direction == semantics.Get || m.Direction == semantics.Fetch
	if len(o.Begins) == 0 {
		for _, a := range p.remote[w] {
			if a.target == target && a.combined == combined && !a.explicit && !a.local {
				return a
			}
		}
	}
	a := &access{window: w.id, target: target, id: p.newID(), combined: combined, explicit: len(o.Begins) > 0}
	if a.explicit {
		p.drop(o.Begins[0])
		p.pend(o.Begins[0], pending{id: a.id, access: a})
	}
	if !a.explicit || !combined {
		p.remote[w] = append(p.remote[w], a)
	}
	return a
}

// completeAccesses adds that accesses are complete, of one target or, if that is unknown32, of all: here, or also
// there.
func (p *process) completeAccesses(n *entry, w *window, target uint64, all bool) {
	p.remote[w] = slices.DeleteFunc(p.remote[w], func(a *access) bool {
		if target != unknown32 && a.target != target {
			return false
		}
		if all || !a.local {
			n.end = a.complete(n.end, all)
		}
		return all || a.combined
	})
}

// synchronize adds a call that orders accesses.
func (p *process) synchronize(n *entry, o *semantics.Operation) {
	if o.Communicator == nil {
		return
	}
	w := p.window(o.Communicator)
	target := uint64(unknown32)
	if rank, ok := n.call.trace.number("rank"); ok {
		c := w.comm
		if rank < 0 || c.IsInter() || rank >= int64(c.Size()) {
			return
		}
		if target, ok = p.rankOf(c, 0, c.Member(int(rank))); !ok {
			return
		}
	}
	both := constants.syncProcess | constants.syncMemory
	switch n.call.base {
	case "Win_lock", "Win_lock_all":
		kind := constants.shared
		if n.call.exclusive {
			kind = constants.exclusive
		}
		n.begin = append(n.begin, eventOf(kinds.lock, w.id, target, 0, kind))
	case "Win_unlock", "Win_unlock_all":
		p.completeAccesses(n, w, target, true)
		n.end = append(n.end, eventOf(kinds.unlock, w.id, target, 0))
	case "Win_flush", "Win_flush_all":
		p.completeAccesses(n, w, target, true)
	case "Win_flush_local", "Win_flush_local_all":
		p.completeAccesses(n, w, target, false)
	case "Win_sync":
		if self, ok := p.rankOf(w.comm, 0, p.rank.Number); ok {
			n.end = append(n.end, eventOf(kinds.sync, w.id, self, constants.syncOfMemory))
		}
	case "Win_start":
		p.epoch(n, w, 0, o)
	case "Win_post":
		p.epoch(n, w, 1, o)
	case "Win_complete":
		p.completeAccesses(n, w, unknown32, true)
		p.groupSync(n, w, 0, both)
	case "Win_wait":
		p.groupSync(n, w, 1, both)
	case "Win_test":
		if flag, _ := n.call.trace.number("flag"); flag == 0 {
			both = 0
		}
		p.groupSync(n, w, 1, both)
	}
}

// epoch adds that an epoch begins: of access 0, and of exposure 1.
func (p *process) epoch(n *entry, w *window, which int, o *semantics.Operation) {
	known := p.exposed[w]
	if known[which] = 0; o.Group != nil {
		known[which] = p.set(o.Group)
	}
	p.exposed[w] = known
	p.groupSync(n, w, which, constants.syncProcess)
}

// groupSync adds that the processes of an epoch are synchronized, if they are known.
func (p *process) groupSync(n *entry, w *window, which int, level uint64) {
	if group := p.exposed[w][which]; group > 0 {
		n.end = append(n.end, eventOf(kinds.groupSync, level, w.id, group))
	}
}

// collectiveOnWindow adds a collective call that makes a window, frees it, or is a fence.
func (p *process) collectiveOnWindow(n *entry, o *semantics.Operation, made string) {
	object := o.Communicator
	if made != "" {
		object = p.means.Object(n.Position, n.Terminal, n.call.makes)
	}
	if object == nil {
		return
	}
	w := p.window(object)
	op, level := constants.barrier, constants.syncProcess
	var inside event
	switch {
	case made != "":
		if op = constants.makes; n.call.role.Allocates {
			op = constants.makesAndAllocates
		}
		inside = eventOf(kinds.windowMade, w.id)
	case o.Role.Frees:
		p.completeAccesses(n, w, unknown32, true)
		op, inside = constants.frees, eventOf(kinds.windowFreed, w.id)
	case n.call.base == "Win_fence":
		p.completeAccesses(n, w, unknown32, true)
		level |= constants.syncMemory
	default:
		return
	}
	n.begin = append(n.begin, eventOf(kinds.rmaCollectiveBegin))
	if inside.kind != nil {
		w.flags = constants.windowEvents
		n.end = append(n.end, inside)
	}
	n.end = append(n.end, eventOf(kinds.rmaCollectiveEnd, op, level, w.id, unknown32, 0, 0))
}

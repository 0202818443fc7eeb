package resolve

import (
	"cmp"
	"fmt"
	"slices"
)

// A half is the creation of an intercommunicator by one of its two groups. The
// halves that belong together are those whose leaders name each other and the
// same tag and peer communicator. A leader may do that several times, so halves
// meet in the order of the leader's calls: a half is looked at when all creations
// of intercommunicators that the leader called before are decided. As these calls
// block, there is always one to go on with, unless something is missing or several
// threads call them, which resolution.pairRest is for.
type half struct {
	creation
	leader int32 // call
	key    interKey
	posed  bool // looked at, and in resolution.open
	done   bool
}

// An interKey is what halves that belong together have in common.
type interKey struct {
	peer      *Group // nil while it is not known
	low, high int32  // leaders, by rank in the run
	tag       int64
}

// intercommCreate resolves half of an intercommunicator as far as it can.
func (s *resolution) intercommCreate(c *creation) {
	first := &s.calls[c.calls[0]]
	leader := first.more.leader
	if c.parent.Remote != nil || leader < 0 || leader >= len(c.calls) {
		s.fail(c, c.calls, first.rank, fmt.Sprintf("call %d: no leader %d in the parent", first.position, leader))
		return
	}
	for _, n := range c.calls {
		if call := &s.calls[n]; call.more.leader != leader {
			s.fail(c, c.calls, call.rank, fmt.Sprintf("call %d names leader %d, that of rank %d names %d",
				call.position, call.more.leader, first.rank, leader))
			return
		}
	}
	h := &half{creation: *c, leader: c.calls[leader]}
	call := &s.calls[h.leader]
	peer := call.more.peer
	if peer == none {
		s.fail(c, c.calls, call.rank, fmt.Sprintf("call %d: the peer communicator is not known", call.position))
		return
	}
	s.halves = append(s.halves, h)
	if s.calls[peer].group == nil {
		s.waiting[peer] = append(s.waiting[peer], h)
		return
	}
	s.peerKnown(h)
}

// peerKnown goes on with a half whose leader's peer communicator is known.
func (s *resolution) peerKnown(h *half) {
	call := &s.calls[h.leader]
	peer := &s.calls[call.more.peer]
	ranks := Member{Group: peer.group, Remote: peer.remote}.Peers()
	remote := call.more.remoteLeader
	if remote < 0 || remote >= len(ranks) || ranks[remote] == int(call.rank) {
		h.done = true
		s.fail(&h.creation, h.calls, call.rank, fmt.Sprintf(
			"call %d: no remote leader %d in the peer communicator", call.position, remote))
		return
	}
	other := int32(ranks[remote])
	h.key = interKey{peer.group, min(call.rank, other), max(call.rank, other), call.more.tag}
	s.ready[h.leader] = h
	s.fronts = append(s.fronts, call.rank)
}

// tryFront looks at the first creation of an intercommunicator by a process that
// is not decided, and goes on to the next as long as it then is.
func (s *resolution) tryFront(rank int32) {
	v := &s.ranks[rank]
	for v.front < len(v.inter) {
		n := v.inter[v.front]
		if c := &s.calls[n]; c.group != nil || c.failed {
			v.front++
			continue
		}
		h := s.ready[n]
		if h == nil || h.posed {
			return
		}
		other := s.open[h.key]
		if other == nil {
			h.posed = true
			s.open[h.key] = h
			return
		}
		delete(s.open, h.key)
		s.pair(h, other)
	}
}

// pairRest pairs halves that are left when nothing else can go on, in the order
// of the leaders' calls, and reports whether there were any. If there are none, it
// notes an error for each half that is left.
func (s *resolution) pairRest() bool {
	type sides struct{ low, high []*half }
	var (
		rest   = make(map[interKey]*sides)
		keys   []interKey
		paired bool
	)
	s.halves = slices.DeleteFunc(s.halves, func(h *half) bool { return h.done })
	for _, h := range s.halves {
		if h.key.peer == nil {
			continue
		}
		l := rest[h.key]
		if l == nil {
			l = new(sides)
			rest[h.key] = l
			keys = append(keys, h.key)
		}
		if s.calls[h.leader].rank == h.key.low {
			l.low = append(l.low, h)
		} else {
			l.high = append(l.high, h)
		}
	}
	order := func(a, b *half) int { return cmp.Compare(a.leader, b.leader) }
	for _, k := range keys {
		l := rest[k]
		slices.SortFunc(l.low, order)
		slices.SortFunc(l.high, order)
		for i := range min(len(l.low), len(l.high)) {
			delete(s.open, k)
			s.pair(l.low[i], l.high[i])
			paired = true
		}
	}
	if paired {
		return true
	}
	for _, h := range s.halves {
		call := &s.calls[h.leader]
		rank, reason := call.rank, fmt.Sprintf("call %d: the peer communicator is not resolved", call.position)
		if k := h.key; k.peer != nil {
			rank = k.low + k.high - call.rank
			reason = fmt.Sprintf("no such call, with a group that it leads, but rank %d has one, call %d",
				call.rank, call.position)
		}
		s.fail(&h.creation, h.calls, rank, reason)
	}
	s.halves, s.fronts = nil, nil
	return false
}

// pair makes an intercommunicator of two halves.
func (s *resolution) pair(a, b *half) {
	if s.calls[b.leader].rank < s.calls[a.leader].rank {
		a, b = b, a
	}
	a.done, b.done = true, true
	g := &Group{
		Parent: a.parent, Kind: a.kind, Ordinal: a.ordinal, Class: s.calls[a.leader].class,
		Members: a.parent.Members, Remote: b.parent.Members,
	}
	w := work{group: g, calls: slices.Concat(a.calls, b.calls)}
	for _, h := range []*half{a, b} {
		for i, n := range h.calls {
			if !s.fits(n, g.Class, i, len(h.calls)) {
				s.fail(&h.creation, w.calls, s.calls[n].rank, s.misfit(n, i, len(h.calls)))
				return
			}
		}
	}
	for i, n := range a.calls {
		s.assign(n, g, i, false)
	}
	for i, n := range b.calls {
		s.assign(n, g, i, true)
	}
	s.add(w)
}

// intercommMerge resolves a creation of one group of the two of the parent.
func (s *resolution) intercommMerge(c *creation) {
	first := &s.calls[c.calls[0]]
	split := len(c.parent.Members)
	if c.parent.Remote == nil {
		s.fail(c, c.calls, first.rank, fmt.Sprintf("call %d: the parent is no intercommunicator", first.position))
		return
	}
	recorded := true
	for i, n := range c.calls {
		call, of := &s.calls[n], first
		if i >= split {
			of = &s.calls[c.calls[split]]
		}
		if call.more.high != of.more.high {
			s.fail(c, c.calls, call.rank, fmt.Sprintf("call %d says high is %v, that of rank %d does not",
				call.position, call.more.high, of.rank))
			return
		}
		recorded = recorded && call.size != 0
	}
	order := c.calls
	second := s.calls[c.calls[split]].more.high
	switch {
	case recorded:
		order = slices.SortedStableFunc(slices.Values(c.calls), func(a, b int32) int {
			return cmp.Compare(s.calls[a].want, s.calls[b].want)
		})
	case first.more.high == second:
		s.fail(c, c.calls, first.rank, fmt.Sprintf("call %d: which group is first is not recorded", first.position))
		return
	case first.more.high:
		order = slices.Concat(c.calls[split:], c.calls[:split])
	}
	g := &Group{Parent: c.parent, Kind: c.kind, Ordinal: c.ordinal, Class: first.class}
	for i, n := range order {
		if !s.fits(n, g.Class, i, len(order)) {
			s.fail(c, c.calls, s.calls[n].rank, s.misfit(n, i, len(order)))
			return
		}
		g.Members = append(g.Members, int(s.calls[n].rank))
	}
	for i, n := range order {
		s.assign(n, g, i, false)
	}
	s.add(work{group: g, calls: order})
}

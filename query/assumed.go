package query

import (
	"context"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A pairing matches what arrives at one rank on one communicator, where receives do not
// tell the source or the tag, or the trace not the tag that messages have: as many sends as
// can be with receives that can get them, and as few as can be that are assumed. What is
// matched goes through edges from sends to receives. If a receive has got all it can, what
// it has of another send goes to another receive: along an augmenting path (H. W. Kuhn, "The
// Hungarian method for the assignment problem", Naval Research Logistics Quarterly 2, 1955).
type pairing struct {
	ends  []*end   // that take part
	spare []uint64 // by end: of a send, what is not matched; of a receive, what it can get yet
	edges []pairingEdge
	of    [][]int32 // numbers of the edges, by end
	dead  []bool    // ends from which no path leads to a receive that can get more
}

// A pairingEdge leads from a send to a receive, by their places in the list of ends.
type pairingEdge struct {
	send, receive int32
	flow          uint64 // messages that are matched so
	same          bool   // the two are of one channel
}

// A pattern is what a receive tells of its channel.
type pattern struct {
	source int
	tag    int64
}

func newPairing(ends []*end) *pairing {
	p := &pairing{ends: ends, spare: make([]uint64, len(ends)), of: make([][]int32, len(ends)),
		dead: make([]bool, len(ends))}
	receives := make(map[pattern]int32)
	bySource := make(map[int][]int32)
	for i, e := range ends {
		p.spare[i] = e.left
		if e.direction == semantics.Receive {
			p.spare[i] -= e.cancelled
			receives[pattern{e.channel.Source, e.channel.Tag}] = int32(i)
			bySource[e.channel.Source] = append(bySource[e.channel.Source], int32(i))
		}
	}
	for i, e := range ends {
		if e.direction != semantics.Send {
			continue
		}
		for _, source := range []int{e.channel.Source, semantics.AnySource} {
			if e.channel.Tag < 0 {
				for _, receive := range bySource[source] {
					p.link(int32(i), receive)
				}
				continue
			}
			for _, tag := range []int64{e.channel.Tag, semantics.AnyTag, semantics.NoTag} {
				if receive, ok := receives[pattern{source, tag}]; ok {
					p.link(int32(i), receive)
				}
			}
		}
	}
	return p
}

// link adds an edge.
func (p *pairing) link(send, receive int32) {
	n := int32(len(p.edges))
	p.edges = append(p.edges, pairingEdge{send: send, receive: receive,
		same: p.ends[send].channel == p.ends[receive].channel})
	p.of[send], p.of[receive] = append(p.of[send], n), append(p.of[receive], n)
}

// maximize matches as many as can be, and those receives last that the program tried to
// cancel.
func (p *pairing) maximize(ctx context.Context) error {
	for i := range p.edges { // first, so that as few as can be are assumed
		if e := &p.edges[i]; e.same {
			e.flow = min(p.spare[e.send], p.spare[e.receive])
			p.spare[e.send] -= e.flow
			p.spare[e.receive] -= e.flow
		}
	}
	if err := p.augment(ctx); err != nil {
		return err
	}
	cancelled := false
	for i, e := range p.ends {
		if e.direction == semantics.Receive && e.cancelled > 0 {
			p.spare[i] += e.cancelled
			cancelled = true
		}
	}
	if !cancelled {
		return nil
	}
	clear(p.dead)
	return p.augment(ctx)
}

// augment matches what is left of sends.
func (p *pairing) augment(ctx context.Context) error {
	before := make([]int32, len(p.ends)) // the edge by which an end was reached
	for i, e := range p.ends {
		for e.direction == semantics.Send && p.spare[i] > 0 && !p.dead[i] {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			p.push(int32(i), p.search(int32(i), before), before)
		}
	}
	return nil
}

// search returns a receive that can get more, to which a path leads from a send, the
// shortest there is: −1 if there is none, and then all that it came to is dead.
func (p *pairing) search(send int32, before []int32) int32 {
	queue := []int32{send}
	p.dead[send] = true // until a path is found, what was seen
	found := int32(-1)
	for i := 0; i < len(queue) && found < 0; i++ {
		at := queue[i]
		for _, n := range p.of[at] {
			e := &p.edges[n]
			to := e.receive
			if p.ends[at].direction == semantics.Receive {
				if to = e.send; e.flow == 0 {
					continue
				}
			}
			if p.dead[to] {
				continue
			}
			p.dead[to], before[to] = true, n
			queue = append(queue, to)
			if to == e.receive && p.spare[to] > 0 {
				found = to
				break
			}
		}
	}
	if found >= 0 {
		for _, at := range queue {
			p.dead[at] = false
		}
	}
	return found
}

// push matches as many messages of a send as can be, along the path to a receive.
func (p *pairing) push(send, receive int32, before []int32) {
	if receive < 0 {
		return
	}
	amount := min(p.spare[send], p.spare[receive])
	each := func(do func(e *pairingEdge, forward bool)) {
		for at := receive; at != send; {
			e := &p.edges[before[at]]
			forward := at == e.receive
			do(e, forward)
			if at = e.send; !forward {
				at = e.receive
			}
		}
	}
	each(func(e *pairingEdge, forward bool) {
		if !forward {
			amount = min(amount, e.flow)
		}
	})
	each(func(e *pairingEdge, forward bool) {
		if forward {
			e.flow += amount
		} else {
			e.flow -= amount
		}
	})
	p.spare[send] -= amount
	p.spare[receive] -= amount
}

// apply tells ends and m what is matched.
func (p *pairing) apply(m *Match) {
	for i := range p.edges {
		e := &p.edges[i]
		p.ends[e.send].left -= e.flow
		p.ends[e.receive].left -= e.flow
		m.Messages = wire.AddSat(m.Messages, e.flow)
		if !e.same {
			m.Assumed = wire.AddSat(m.Assumed, e.flow)
		}
	}
}

// unmatched returns what is left of ends. What could as well be left of others is told of
// all of them.
func (p *pairing) unmatched(ends []*end) []Unmatched {
	groups := p.groups()
	var list []Unmatched
	at := make(map[int32]int) // numbers in list, by group
	for i, e := range ends {
		group := int32(-1)
		if groups != nil {
			group = groups[i]
		}
		if group < 0 {
			if e.left > 0 {
				list = append(list, Unmatched{Channel: e.channel, Direction: e.direction, Rank: e.rank(),
					Count: e.left, Matched: e.count - e.left})
			}
			continue
		}
		n, ok := at[group]
		if !ok {
			n = len(list)
			at[group] = n
			list = append(list, Unmatched{Channel: e.channel, Direction: e.direction, Rank: e.rank()})
		}
		u := &list[n]
		u.Count = wire.AddSat(u.Count, e.left)
		u.Matched = e.count - e.left // if it stays the only one
		u.Among = append(u.Among, e.channel)
	}
	for i := range list {
		if u := &list[i]; len(u.Among) == 1 {
			u.Among = nil
		} else if len(u.Among) > 1 {
			u.Matched = 0
		}
	}
	return list
}

// groups numbers the ends of which messages may be left, by what of them could be left in
// place of what; −1 of the others. It is nil if nothing was assumed.
func (p *pairing) groups() []int32 {
	if len(p.ends) == 0 {
		return nil
	}
	groups := make([]int32, len(p.ends))
	for i := range groups {
		groups[i] = -1
	}
	for _, direction := range []semantics.Direction{semantics.Send, semantics.Receive} {
		var left []int32
		for i, e := range p.ends {
			if e.direction == direction && e.left > 0 {
				left = append(left, int32(i))
			}
		}
		// Another is left in place of one if its match can go to that, or come from it.
		in := make([]bool, len(p.ends))
		p.reach(in, left, func(at int32, e *pairingEdge) bool {
			return p.ends[at].direction == direction || e.flow > 0
		})
		seen := make([]bool, len(p.ends))
		for i, e := range p.ends {
			if !in[i] || e.direction != direction || seen[i] {
				continue
			}
			for _, at := range p.reach(seen, []int32{int32(i)}, func(_ int32, e *pairingEdge) bool {
				return in[e.send] && in[e.receive]
			}) {
				if p.ends[at].direction == direction {
					groups[at] = int32(i)
				}
			}
		}
	}
	return groups
}

// reach returns some ends, and those that are reached from them through edges that may be
// taken. It takes note of what it has seen.
func (p *pairing) reach(seen []bool, from []int32, may func(at int32, e *pairingEdge) bool) []int32 {
	for _, at := range from {
		seen[at] = true
	}
	for i := 0; i < len(from); i++ {
		for _, n := range p.of[from[i]] {
			e := &p.edges[n]
			if to := e.send + e.receive - from[i]; !seen[to] && may(from[i], e) {
				seen[to] = true
				from = append(from, to)
			}
		}
	}
	return from
}

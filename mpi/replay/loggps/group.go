package loggps

import (
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A group is the members of a communicator as they are on the nodes of a machine. It simulates the steps of
// algorithms: t is when each member is done with those before.
type group struct {
	between, within *Link
	node            []int // of members; nil if all links are between nodes
	alone           bool  // all are on one node
	beside          []int // how many others are on the node of each; nil until it is needed
	t, next         []replay.Time
	partner         []int // of the step, −1 for none

	offsets offsets
	rooted  *rooted // nil until it is needed
}

// newGroup returns a group of so many members on nodes, which are nil if all links are between nodes.
func newGroup(between, within *Link, size int, node []int) *group {
	g := &group{between: between, within: within, node: node, t: make([]replay.Time, size),
		next: make([]replay.Time, size), partner: make([]int, size)}
	g.alone = node != nil
	for _, n := range node {
		g.alone = g.alone && n == node[0]
	}
	return g
}

func (m *Machine) group(of *semantics.Communicator) *group {
	g := m.groups[of]
	if g != nil {
		return g
	}
	var node []int
	if m.RanksPerNode != 1 {
		for _, rank := range slices.Concat(of.Members(0), of.Members(1)) {
			node = append(node, m.node(rank))
		}
	}
	g = newGroup(&m.Between, &m.Within, of.Size(), node)
	m.groups[of] = g
	return g
}

// A hop is what a message of a size costs within a node and between nodes.
type hop struct {
	group           *group
	within, between replay.Cost
}

func (g *group) hop(size int64) *hop {
	h := &hop{group: g, between: g.between.cost(size)}
	if g.node != nil {
		h.within = g.within.cost(size)
	}
	return h
}

// of returns what a message costs from one member to another.
func (h *hop) of(from, to int) *replay.Cost {
	if node := h.group.node; node != nil && node[from] == node[to] {
		return &h.within
	}
	return &h.between
}

// worst returns what the dearest messages between members cost.
func (h *hop) worst() replay.Cost {
	switch g := h.group; {
	case g.alone:
		return h.within
	case g.node == nil:
		return h.between
	}
	return replay.Cost{
		Send: max(h.within.Send, h.between.Send), Transfer: max(h.within.Transfer, h.between.Transfer),
		Receive:    max(h.within.Receive, h.between.Receive),
		Rendezvous: h.within.Rendezvous || h.between.Rendezvous,
	}
}

// pass has a member send a message to another.
func (g *group) pass(h *hop, from, to int) {
	c := h.of(from, to)
	g.t[from] = plus(g.t[from], c.Send)
	begin := g.t[from]
	if c.Rendezvous {
		begin = max(begin, g.t[to])
	}
	arrived := plus(begin, c.Transfer)
	if c.Rendezvous {
		g.t[from] = arrived
	}
	g.t[to] = plus(max(g.t[to], arrived), c.Receive)
}

// shift has each member send to the one that is so many further, and receive from the one so many before.
func (g *group) shift(h *hop, by int) {
	n := len(g.t)
	for i := range g.t {
		to, from := i+by, i-by
		if to >= n {
			to -= n
		}
		if from < 0 {
			from += n
		}
		g.next[i] = g.received(h, i, to, from)
	}
	g.t, g.next = g.next, g.t
}

// exchange has the members send to their partners and receive from them.
func (g *group) exchange(h *hop) {
	for i, p := range g.partner {
		if g.next[i] = g.t[i]; p >= 0 {
			g.next[i] = g.received(h, i, p, p)
		}
	}
	g.t, g.next = g.next, g.t
}

// received returns when a member is done that sends to one and receives from one at once.
func (g *group) received(h *hop, i, to, from int) replay.Time {
	out, in := h.of(i, to), h.of(from, i)
	sent, begin := plus(g.t[i], out.Send), plus(g.t[from], in.Send)
	if out.Rendezvous {
		sent = plus(max(sent, g.t[to]), out.Transfer)
	}
	if in.Rendezvous {
		begin = max(begin, g.t[i])
	}
	return plus(max(sent, plus(begin, in.Transfer)), in.Receive)
}

// A round is one step of members of which each has a partner: that whose number differs in a bit.
type round struct {
	bit  int
	size int64
}

// rounds has members exchange in rounds. Where their number is no power of two, some stand back at
// first: the last of those that are too many give to a neighbour before, and get from it in the end.
func (g *group) rounds(list []round, before, after int64) {
	n := len(g.t)
	power := powerBelow(n)
	back := n - power // members 0, 2, 4 …
	if back > 0 {
		h := g.hop(before)
		for i := 0; i < 2*back; i += 2 {
			g.pass(h, i, i+1)
		}
	}
	member := func(k int) int {
		if k < back {
			return 2*k + 1
		}
		return k + back
	}
	for _, r := range list {
		for i := 0; i < 2*back; i += 2 {
			g.partner[i] = -1
		}
		for k := range power {
			g.partner[member(k)] = member(k ^ r.bit)
		}
		g.exchange(g.hop(r.size))
	}
	if back > 0 {
		h := g.hop(after)
		for i := 0; i < 2*back; i += 2 {
			g.pass(h, i+1, i)
		}
	}
}

// powerBelow returns the largest power of two that is not above n.
func powerBelow(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// halving are rounds in which members give half of what they have, and doubling in which they get as much
// as they have.
func halving(members int, size int64, up bool) (list []round) {
	power := powerBelow(members)
	for k := 1; k < power; k *= 2 {
		size = (size + 1) / 2
		bit := power / 2 / k
		if up {
			bit = k
		}
		list = append(list, round{bit: bit, size: size})
	}
	return list
}

func doubling(members int, block int64) (list []round) {
	for k := 1; k < powerBelow(members); k *= 2 {
		list = append(list, round{bit: k, size: block * int64(k)})
	}
	return list
}

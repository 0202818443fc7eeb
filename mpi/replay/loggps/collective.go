package loggps

import (
	"math/bits"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Collective sets when members leave an operation.
func (m *Machine) Collective(c *replay.Collective) {
	need.That(c != nil, "loggps: no collective operation")
	n := len(c.Enter)
	for _, i := range c.Leaving {
		c.Leave[i] = c.Enter[i]
	}
	if n < 2 || c.Role.Frees && c.Role.On == "comm" {
		return
	}
	g, o := m.group(c.Communicator), m.operation(c.Role)
	switch {
	case c.Communicator.IsInter() && isRooted(c.Role):
		g.fromOrTo(c, o)
	case c.Role.Gives.Of == "root":
		g.fromRoot(c, o)
	case c.Role.Gets.Of == "root":
		g.toRoot(c, o)
	case o.scan:
		g.scan(c)
	case o.neighbours:
		for _, i := range c.Leaving {
			w := g.hop(atMost(c.Sent[i])).worst()
			c.Leave[i] = plus(c.Enter[i], plus(plus(w.Send, w.Transfer), w.Receive))
		}
	case c.Communicator.IsInter() && c.Role.Data != "":
		m.across(c, g, o)
	default:
		copy(g.t, c.Enter)
		size := g.size(c, o.name)
		g.run(o.of(n, size), o.name, size)
		besides := m.Besides[o.name].of(size)
		for _, i := range c.Leaving {
			c.Leave[i] = plus(g.t[i], besides)
		}
	}
}

// An operation is what a machine knows of the operations of a function.
type operation struct {
	name             string    // as in algorithms
	algorithm        Algorithm // that it always has; empty if it is chosen by size
	scan, neighbours bool
}

func (m *Machine) operation(role *spec.Role) *operation {
	o := m.operations[role]
	if o == nil {
		name := strings.ToLower(role.Data)
		o = &operation{name: name, algorithm: m.Collectives[name], scan: strings.HasSuffix(name, "scan"),
			neighbours: strings.HasPrefix(name, "neighbor_")}
		m.operations[role] = o
	}
	return o
}

// of returns the algorithm for a number of members and a size.
func (o *operation) of(members int, size int64) Algorithm {
	if o.algorithm != "" {
		return o.algorithm
	}
	return choose(o.name, members, size)
}

// size returns the size by which the algorithm of an operation is chosen.
func (g *group) size(c *replay.Collective, name string) (size int64) {
	for i := range c.Sent {
		size = max(size, g.sizeOf(c, name, i, len(g.t)))
	}
	return size
}

// sizeOf returns that size by what a member gives and gets, to and from so many.
func (g *group) sizeOf(c *replay.Collective, name string, member, others int) int64 {
	switch {
	case name == "" || others == 0: // no data of members: of a file, perhaps
		return 0
	case strings.HasPrefix(name, "allgather"):
		return atMost(c.Received[member])
	case strings.HasPrefix(name, "alltoall"):
		return (atMost(c.Sent[member]) + int64(others) - 1) / int64(others)
	}
	return atMost(c.Sent[member])
}

// atMost returns a number of bytes, none if it is unknown, and no more than can be multiplied with a number
// of members.
func atMost(size int64) int64 { return min(max(size, 0), 1<<44) }

// run takes the steps of an algorithm in which all members need all.
func (g *group) run(a Algorithm, name string, size int64) {
	n := len(g.t)
	block := (size + int64(n) - 1) / int64(n)
	switch {
	case name == "allreduce" && a == recursiveDoubling:
		list := doubling(n, 0)
		for i := range list {
			list[i].size = size
		}
		g.rounds(list, size, size)
	case name == "allreduce" && a == ring:
		g.ring(block)
		g.ring(block)
	case a == rabenseifner:
		g.rabenseifner(size)
	case a == recursiveHalving:
		g.rounds(halving(n, size, false), size, block)
	case a == recursiveDoubling && name != "barrier" && n == powerBelow(n):
		g.rounds(doubling(n, block), 0, 0)
	case a == recursiveDoubling && name == "barrier":
		g.rounds(doubling(n, 0), 0, 0)
	case a == ring:
		g.ring(block)
	case a == pairwise && strings.HasPrefix(name, "reduce_scatter"):
		g.pairwise(block)
	case a == pairwise:
		g.pairwise(size)
	case a == linear:
		g.linear(size)
	case name == "alltoall": // Bruck: blocks whose distance has a bit go that far
		for k := 1; k < n; k *= 2 {
			blocks := n / (2 * k) * k
			blocks += max(0, n%(2*k)-k)
			g.shift(g.hop(size*int64(blocks)), k)
		}
	default: // Bruck, and barriers, in which blocks are empty
		for k := 1; k < n; k *= 2 {
			g.shift(g.hop(block*int64(min(k, n-k))), n-k)
		}
	}
}

// rabenseifner halves vectors, and then doubles them.
func (g *group) rabenseifner(size int64) {
	list := halving(len(g.t), size, true)
	for i := len(list) - 1; i >= 0; i-- {
		list = append(list, list[i])
	}
	g.rounds(list, size, size)
}

// scan has members exchange in rounds with those whose number differs in a bit. Nobody waits.
func (g *group) scan(c *replay.Collective) {
	for _, i := range c.Leaving {
		h := g.hop(atMost(c.Sent[i]))
		for bit := 1; bit < len(g.t); bit *= 2 {
			if p := i ^ bit; p < len(g.t) {
				w := h.of(i, p)
				c.Leave[i] = plus(c.Leave[i], plus(plus(w.Send, w.Transfer), w.Receive))
			}
		}
	}
}

// Offsets are when members are done with an operation into which all enter at 0: with what the root gives, or
// of an intercommunicator.
type offsets struct {
	name      string
	algorithm Algorithm
	root      int // −1 for none
	size      int64
	after     []replay.Time // nil if there are none
}

// after returns offsets, and has steps set t of the group if they are not those that were wanted last.
func (g *group) after(k offsets, steps func()) []replay.Time {
	o := &g.offsets
	if o.after == nil || k.name != o.name || k.algorithm != o.algorithm || k.root != o.root || k.size != o.size {
		clear(g.t)
		steps()
		k.after = append(o.after[:0], g.t...)
		g.offsets = k
	}
	return g.offsets.after
}

// fromRoot has members leave of what the root gives. All but the root count as if they had entered before,
// but each is busy with what is for itself once it has.
func (g *group) fromRoot(c *replay.Collective, o *operation) {
	if c.Root < 0 || c.Enter[c.Root] < 0 {
		return
	}
	size := atMost(c.Sent[c.Root])
	a := o.of(len(g.t), size)
	after := g.after(offsets{name: o.name, algorithm: a, root: c.Root, size: size}, func() {
		g.give(a, o.name, c.Root, size)
	})
	own := size
	if o.name != "bcast" {
		own = (size + int64(len(g.t)) - 1) / int64(len(g.t))
	}
	h := g.hop(own)
	for _, i := range c.Leaving {
		if c.Leave[i] = plus(c.Enter[c.Root], after[i]); i != c.Root {
			c.Leave[i] = max(c.Leave[i], plus(c.Enter[i], h.of(c.Root, i).Receive))
		}
	}
}

// give takes the steps of an algorithm in which the root gives to all.
func (g *group) give(a Algorithm, name string, root int, size int64) {
	n := len(g.t)
	block := int64(0) // for each, or all to all
	if name != "bcast" || a == scatterDoubling || a == scatterRing {
		block = (size + int64(n) - 1) / int64(n)
	}
	if a == linear {
		if name != "bcast" {
			size = block
		}
		h, free := g.hop(size), g.t[root]
		for k := 1; k < n; k++ {
			g.t[root] = max(g.t[root], free)
			free = plus(g.t[root], g.slowest(size))
			g.pass(h, root, (root+k)%n)
		}
		return
	}
	for k := powerBelow(n); k > 0; k /= 2 {
		if k >= n {
			continue
		}
		h := g.hop(size)
		if block > 0 {
			h = g.hop(block * int64(k))
		}
		for i := 0; i+k < n; i += 2 * k {
			if block > 0 && n-i-k < k { // fewer than k members are left
				h = g.hop(block * int64(n-i-k))
			}
			g.pass(h, (i+root)%n, (i+k+root)%n)
		}
	}
	switch {
	case a == scatterRing, a == scatterDoubling && n != powerBelow(n):
		g.ring(block)
	case a == scatterDoubling:
		g.rounds(doubling(n, block), 0, 0)
	}
}

// toRoot has members leave that give to the root: others than it when they have sent.
func (g *group) toRoot(c *replay.Collective, o *operation) {
	for _, i := range c.Leaving {
		size := atMost(c.Sent[i])
		if i == c.Root {
			g.gather(c, o)
			c.Leave[i] = g.t[i]
			continue
		}
		w := g.hop(0).worst()
		sends, receives := 1, 0
		if k := (i - max(c.Root, 0) + len(g.t)) % len(g.t); o.of(len(g.t), g.given(o.name, size)) != linear {
			below := min(bits.TrailingZeros(uint(k)), bits.Len(uint(len(g.t)-1-k))) // of members that give to this one
			receives = max(below, 0)
		}
		c.Leave[i] = plus(c.Enter[i], plus(times(w.Send, sends), times(w.Receive, receives)))
	}
}

// given returns the size by which the algorithm is chosen of an operation in which a member gives some bytes
// to the root.
func (g *group) given(name string, size int64) int64 {
	if name == "reduce" {
		return size
	}
	return size * int64(len(g.t))
}

// gather takes the steps of an algorithm in which all members give to the root.
func (g *group) gather(c *replay.Collective, o *operation) {
	n, size := len(g.t), int64(0)
	for i, sent := range c.Sent {
		if i != c.Root {
			size = max(size, atMost(sent))
		}
	}
	copy(g.t, c.Enter)
	a := o.of(n, g.given(o.name, size))
	if a == linear {
		h := g.hop(size)
		for k := 1; k < n; k++ {
			g.t[c.Root] = plus(g.t[c.Root], max(0, g.slowest(size)-h.of(c.Root, (c.Root+k)%n).Receive))
			g.pass(h, (c.Root+k)%n, c.Root)
		}
		return
	}
	if a == rabenseifner {
		g.rounds(halving(n, size, true), size, 0)
		size = (size + int64(n) - 1) / int64(n)
	}
	for k := 1; k < n; k *= 2 {
		h, blocks := g.hop(size), o.name != "reduce" || a == rabenseifner
		if blocks {
			h = g.hop(size * int64(k))
		}
		for i := 0; i+k < n; i += 2 * k {
			if blocks && n-i-k < k { // fewer than k members are left
				h = g.hop(size * int64(n-i-k))
			}
			g.pass(h, (i+k+c.Root)%n, (i+c.Root)%n)
		}
	}
}

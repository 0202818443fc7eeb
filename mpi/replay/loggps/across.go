package loggps

import (
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Operations on intercommunicators, on which the members of one group get data of the other.

// across has members leave an operation without a root: as much later than all of the other group have
// entered as they would leave one of all members that enter at once.
func (m *Machine) across(c *replay.Collective, g *group, o *operation) {
	first := len(c.Communicator.Members(0))
	var last [2]replay.Time
	for i, at := range c.Enter {
		if i < first {
			last[0] = max(last[0], at)
		} else {
			last[1] = max(last[1], at)
		}
	}
	for _, i := range c.Leaving {
		others, other := len(c.Enter)-first, 1
		if i >= first {
			others, other = first, 0
		}
		size := g.sizeOf(c, o.name, i, others)
		a := o.of(len(g.t), size)
		after := g.after(offsets{name: o.name, algorithm: a, root: -1, size: size}, func() { g.run(a, o.name, size) })
		c.Leave[i] = plus(plus(max(c.Enter[i], last[other]), after[i]), m.Besides[o.name].of(size))
	}
}

func isRooted(p *spec.Role) bool { return p.Gives.Of == "root" || p.Gets.Of == "root" }

// A rooted is what takes part in an operation on an intercommunicator that has a root, as if it were a
// communicator: the root, which is its first member, and the other group.
type rooted struct {
	root, from, to int // members of the intercommunicator: the root, and from ≤ member < to
	group          *group
	operation      replay.Collective
}

// fromOrTo has members leave of what a root gives to the other group or gets from it.
func (g *group) fromOrTo(c *replay.Collective, o *operation) {
	if c.Root < 0 {
		return
	}
	if g.rooted == nil || g.rooted.root != c.Root {
		g.rooted = g.newRooted(c.Root, len(c.Communicator.Members(0)))
	}
	r := g.rooted
	r.set(c)
	if c.Role.Gives.Of == "root" {
		r.group.fromRoot(&r.operation, o)
	} else {
		r.group.toRoot(&r.operation, o)
	}
	for _, k := range r.operation.Leaving {
		i := r.root
		if k > 0 {
			i = r.from + k - 1
		}
		c.Leave[i] = r.operation.Leave[k]
	}
}

// newRooted returns what takes part with a root, of an intercommunicator whose first group has so many
// members.
func (g *group) newRooted(root, first int) *rooted {
	r := &rooted{root: root, from: first, to: len(g.t)}
	if root >= first {
		r.from, r.to = 0, first
	}
	var node []int
	if g.node != nil {
		node = append([]int{g.node[root]}, g.node[r.from:r.to]...)
	}
	r.group = newGroup(g.between, g.within, 1+r.to-r.from, node)
	return r
}

// set takes over who has entered and is leaving.
func (r *rooted) set(c *replay.Collective) {
	k := &r.operation
	k.Communicator, k.Role, k.Leaving = c.Communicator, c.Role, k.Leaving[:0]
	k.Enter, k.Leave = partOf(r, k.Enter, c.Enter), partOf(r, k.Leave, c.Enter)
	k.Sent, k.Received = partOf(r, k.Sent, c.Sent), partOf(r, k.Received, c.Received)
	if others := int64(r.to - r.from); c.Role.Gives.Parts != "once" && others > 0 { // parts, one of which would be the root's
		k.Sent[0] = atMost(k.Sent[0])
		k.Sent[0] += (k.Sent[0] + others - 1) / others
	}
	for _, i := range c.Leaving {
		switch {
		case i == r.root:
			k.Leaving = append(k.Leaving, 0)
		case r.from <= i && i < r.to:
			k.Leaving = append(k.Leaving, i-r.from+1)
		}
	}
}

// partOf returns what is of the root and of the other group, in dst.
func partOf[T any](r *rooted, dst, of []T) []T {
	return append(append(dst[:0], of[r.root]), of[r.from:r.to]...)
}

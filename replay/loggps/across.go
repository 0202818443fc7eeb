package loggps

import (
	"slices"

	"github.com/reprise-trace/reprise/replay"
)

// Rooted is an operation on an intercommunicator that has a root, as one of the root and the other group, as if these were
// a communicator whose first member is the root. Others of the root's group take no part.
type rooted struct {
	root, from, to int // members of the intercommunicator: the root, and from ≤ member < to
	group          *group
	operation      replay.Collective
}

// across has members leave an operation on an intercommunicator that has a root.
func (g *group) across(c *replay.Collective, o *operation) {
	if c.Root < 0 { // only such have entered that take no part
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

// newRooted returns what is of a root, of an intercommunicator whose first group has so many members.
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
	part := func(dst []replay.Time, of []replay.Time) []replay.Time {
		return append(append(dst[:0], of[r.root]), of[r.from:r.to]...)
	}
	bytes := func(dst []int64, of []int64) []int64 { return append(append(dst[:0], of[r.root]), of[r.from:r.to]...) }
	k := &r.operation
	k.Communicator, k.Role = c.Communicator, c.Role // the root is member 0
	k.Enter, k.Leave, k.Leaving = part(k.Enter, c.Enter), part(k.Leave, c.Enter), k.Leaving[:0]
	k.Sent, k.Received = bytes(k.Sent, c.Sent), bytes(k.Received, c.Received)
	if others := int64(r.to - r.from); c.Role.Gives.Parts != "once" { // parts, one of which would be the root's
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
	slices.Sort(k.Leaving)
}

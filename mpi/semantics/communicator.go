package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Communicator is a communicator of a run, or the one that a window or a file was created on.
// Pointers to Communicators of one Model are equal exactly if it is the same for all
// members. It must not be changed.
//
// A communicator has one group of processes, and an intercommunicator two, which
// [Communicator.Groups] tells apart by the rank that asks.
type Communicator struct {
	// Name is that of the parent and which of its creations made it, such as
	// world/0:1, and no other of the run has it; MPI_COMM_WORLD is called world.
	Name string

	size    int   // of members, or of world, which has none
	members []int // ranks in the run, in the order of their ranks in the communicator
	remote  []int // the same, of the second group of an intercommunicator; nil for others

	reordered bool // a topology whose ranks are not those of the communicator it was made on

	of     *Communicator // the whole one, of persistent operations of a kind; nil for others
	parent *Communicator // that it was made on; nil if there is none
}

// Parent returns the communicator on which c was made, as that of a window or a file; nil for MPI_COMM_WORLD and
// MPI_COMM_SELF, and for others that were made on none.
func (c *Communicator) Parent() *Communicator { return c.Whole().parent }

// Whole returns the communicator of the program that c is, or is a part of. The persistent collective
// operations of one function and root have a Communicator of their own, such as "world, persistent
// MPI_Bcast of 0", because members may start them in any order; they make the requests in one order
// (MPI-4.1, §6.13).
func (c *Communicator) Whole() *Communicator {
	if c != nil && c.of != nil {
		return c.of
	}
	return c
}

// MarshalText returns the name.
func (c *Communicator) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// IsInter reports whether c is an intercommunicator.
func (c *Communicator) IsInter() bool { return c.remote != nil }

// Size returns the number of all members: of both groups of an intercommunicator.
func (c *Communicator) Size() int { return c.size + len(c.remote) }

// InRunOrder reports whether the ranks of the members in c are those in the run, 0 to Size()−1, as in
// MPI_COMM_WORLD. Then no list of them is kept, and Members and Groups make one, of 8 bytes for each rank
// that the trace claims to have.
func (c *Communicator) InRunOrder() bool { return c.members == nil }

// Member returns the rank in the run of a member of a communicator that is no intercommunicator, by its rank
// in c, 0 ≤ rank < c.Size().
func (c *Communicator) Member(rank int) int {
	need.Index(rank, c.size, "semantics: member")
	if c.members == nil && rank < c.size {
		return rank
	}
	return c.members[rank]
}

// Members returns the ranks in the run of the members of a group, in the order of their ranks
// in c: of group 0 or, of an intercommunicator, 1. They must not be changed.
func (c *Communicator) Members(group int) []int {
	switch {
	case group != 0:
		return c.remote
	case c.members != nil:
		return c.members
	}
	all := make([]int, c.size)
	for i := range all {
		all[i] = i
	}
	return all
}

// Groups returns the ranks in the run of the members of the group that a rank of the run belongs
// to, in the order of their ranks in c, and of the other group of an intercommunicator: nil for
// other communicators. Both are nil if that rank is no member. They must not be changed.
func (c *Communicator) Groups(rank int) (local, remote []int) {
	switch {
	case c.members == nil && rank >= 0 && rank < c.size:
		for member := range c.size {
			local = append(local, member)
		}
		return local, nil
	case slices.Contains(c.members, rank):
		return c.members, c.remote
	case slices.Contains(c.remote, rank):
		return c.remote, c.members
	}
	return nil, nil
}

// RankSet returns the ranks in the run of all members, of an intercommunicator those of
// both groups. That of MPI_COMM_WORLD costs the same whatever its size.
func (c *Communicator) RankSet() rankenc.Set {
	if c.members == nil {
		return rankenc.World(c.size)
	}
	return rankenc.SetOf(slices.Concat(c.members, c.remote)...)
}

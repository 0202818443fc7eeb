package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/rankenc"
)

// A Communicator is a communicator of a run, or what a window or a file was created on.
// Pointers to Communicators of one Model are equal exactly if it is the same for all
// members. It must not be changed.
type Communicator struct {
	// Name is that of [github.com/reprise-trace/reprise/symbolic.Group.Name], such as
	// world/0:1, and no other of the run has it; MPI_COMM_WORLD is called world. One
	// that stands for several has the first and the last number: see Count.
	Name string

	count   uint64
	size    int   // of Members, or of world, which has none
	members []int // ranks in the run, in the order of their ranks in the communicator
	remote  []int // likewise, of the second group of an intercommunicator; nil for others
}

// Count returns how many communicators c stands for: 1, or those that loops make one after
// the other, alike and of the same members, in a trace that makes very many. See
// [github.com/reprise-trace/reprise/mpi/groups].
func (c *Communicator) Count() uint64 { return max(1, c.count) }

// MarshalText returns the name.
func (c *Communicator) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// Size returns the number of members, of an intercommunicator those of the first group.
func (c *Communicator) Size() int { return c.size }

// Member returns the rank in the run of a member, 0 ≤ rank < c.Size().
func (c *Communicator) Member(rank int) int {
	if c.members == nil && rank < c.size {
		return rank
	}
	return c.members[rank]
}

// Members returns the ranks in the run of the members, in the order of their ranks in the
// communicator. The caller owns the result.
func (c *Communicator) Members() []int {
	list := make([]int, c.size)
	for i := range list {
		list[i] = c.Member(i)
	}
	return list
}

// RankSet returns the ranks in the run of all members, of an intercommunicator those of
// both groups. That of MPI_COMM_WORLD costs the same whatever its size.
func (c *Communicator) RankSet() rankenc.Set {
	if c.members == nil {
		return rankenc.World(c.size)
	}
	return rankenc.SetOf(slices.Concat(c.members, c.remote)...)
}

// Remote returns the ranks in the run of the members of the second group of an
// intercommunicator; nil for other communicators. The caller owns the result.
func (c *Communicator) Remote() []int { return slices.Clone(c.remote) }

package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/rankenc"
)

// A Communicator is a communicator of a run, or the one that a window or a file was created on.
// Pointers to Communicators of one Model are equal exactly if it is the same for all
// members. It must not be changed.
//
// A communicator has one group of processes. An intercommunicator has two, and the methods
// [Communicator.Local] and [Communicator.Remote] tell them apart by the rank that asks.
type Communicator struct {
	// Name is that of [github.com/reprise-trace/reprise/symbolic.Group.Name], such as
	// world/0:1, and no other of the run has it; MPI_COMM_WORLD is called world.
	Name string

	size    int   // of members, or of world, which has none
	members []int // ranks in the run, in the order of their ranks in the communicator
	remote  []int // likewise, of the second group of an intercommunicator; nil for others
}

// MarshalText returns the name.
func (c *Communicator) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// IsInter reports whether c is an intercommunicator.
func (c *Communicator) IsInter() bool { return c.remote != nil }

// Size returns the number of all members: of both groups of an intercommunicator.
func (c *Communicator) Size() int { return c.size + len(c.remote) }

// Member returns the rank in the run of a member of a communicator that is no intercommunicator, by its rank
// in c, 0 ≤ rank < c.Size().
func (c *Communicator) Member(rank int) int {
	if c.members == nil && rank < c.size {
		return rank
	}
	return c.members[rank]
}

// Local returns the group that a rank of the run belongs to: the ranks in the run of its
// members, in the order of their ranks in c. It is nil if that rank is no member. The caller
// owns the result.
func (c *Communicator) Local(rank int) []int {
	if c.members == nil && rank >= 0 && rank < c.size {
		list := make([]int, c.size)
		for i := range list {
			list[i] = i
		}
		return list
	}
	for _, group := range [][]int{c.members, c.remote} {
		if slices.Contains(group, rank) {
			return slices.Clone(group)
		}
	}
	return nil
}

// Remote returns the other group of an intercommunicator than the one that a rank of the run
// belongs to, like Local; nil for other communicators. The caller owns the result.
func (c *Communicator) Remote(rank int) []int {
	switch {
	case slices.Contains(c.members, rank):
		return slices.Clone(c.remote)
	case slices.Contains(c.remote, rank):
		return slices.Clone(c.members)
	}
	return nil
}

// RankSet returns the ranks in the run of all members, of an intercommunicator those of
// both groups. That of MPI_COMM_WORLD costs the same whatever its size.
func (c *Communicator) RankSet() rankenc.Set {
	if c.members == nil {
		return rankenc.World(c.size)
	}
	return rankenc.SetOf(slices.Concat(c.members, c.remote)...)
}

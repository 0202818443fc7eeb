package symbolic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Local names a group object, such as a communicator, as one process does: by
// its class, as in "comm" or "win", and its symbolic id among those.
type Local struct {
	Class string // not empty
	ID    int64
}

// A Kind is a way to create a group object.
type Kind uint8

const (
	// Duplicate makes an object with the members of the parent, in their order:
	// MPI_Comm_dup and its variants, blocking or not, windows, files.
	Duplicate Kind = iota + 1

	// Topology makes an object of all members of the parent that get one, in the
	// order that they were recorded to have in it, and else in that of the parent:
	// MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create.
	Topology

	// Split makes an object for each color, of the members that gave it, by key and
	// rank in the parent: MPI_Comm_split. MPI_Cart_sub is one, whose color is made
	// of the coordinates that it drops and whose key of those that it keeps.
	Split

	// SplitType is Split where the color is not an argument but known otherwise,
	// such as the rank in the parent of the first member: MPI_Comm_split_type. The
	// order is as recorded; else it is that of keys.
	SplitType

	// Create makes objects of members that the callers name, and all members of
	// the parent call it: MPI_Comm_create. If Members is nil, callers with one
	// Color are in one object, in the order recorded, else of keys.
	Create

	// CreateGroup is Create that only the named members call, in no order with
	// what others do: MPI_Comm_create_group. Members must be given, and Tag.
	CreateGroup

	// IntercommCreate joins the parent and the remote group of another process
	// that Leader, a rank in the parent, agrees with: MPI_Intercomm_create. Only the
	// leader's Peer and RemoteLeader matter.
	IntercommCreate

	// IntercommMerge makes one group of the two of its parent: MPI_Intercomm_merge.
	// The order is as recorded; else that group is first whose members have High
	// false.
	IntercommMerge
)

var kindNames = [...]string{
	Duplicate: "duplicate", Topology: "topology", Split: "split", SplitType: "split by type", Create: "create",
	CreateGroup: "create group", IntercommCreate: "create intercommunicator", IntercommMerge: "merge intercommunicator",
}

// String returns what the kind does, in words.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// A Creation is a call that creates a group object, as one process recorded it.
type Creation struct {
	Kind   Kind
	Parent Local
	Result Local // zero if the process got none, as with an undefined color

	Color, Key int64 // Split, SplitType, Create without Members

	// Members are ranks in the parent, the local group if that is an
	// intercommunicator, in the order that they have in the result. They are kept,
	// not copied; processes may share them, which saves comparing them.
	Members []int
	Tag     int64 // CreateGroup, IntercommCreate

	Leader, RemoteLeader int   // IntercommCreate; the latter is a rank in Peer
	Peer                 Local // IntercommCreate

	High bool // IntercommMerge

	// Rank and Size are those of the process and its group in the result, if they
	// were recorded. Size is −1 if only the rank was, and 0 if neither was. What
	// follows from other arguments is checked against them.
	Rank, Size int
}

// A Group is a group object, which all members agree on: pointers to Groups are
// equal exactly if the objects are the same. It must not be changed.
type Group struct {
	Parent  *Group // nil for one that was declared
	Kind    Kind   // of the creation; 0 if declared
	Class   string
	Ordinal int   // how many were created on the parent before; see [Group.Name]
	Color   int64 // Split, SplitType, Create: what the members have in common

	Members []int // ranks in the run, in the order of their ranks in the group
	Remote  []int // of the second group of an intercommunicator; nil for others

	// A Resolver tells all objects apart, and leaves these zero. Who sums up several in one
	// Group says here how many there are, and the Ordinal of the last.
	Count uint64
	Last  int

	declared string
}

// Name returns a name that is the same for all members and for no other group:
// that of the parent, a slash, and how many creations there were on the parent
// before. Color, or the rank in the parent of the first member where Members were
// given, follows a colon. A Group that stands for several objects has the first and the
// last of these numbers, as in world/0…99. Groups by [CreateGroup] are counted apart, by the first
// member: g3.0 is the first that rank 3 of the parent is first in.
func (g *Group) Name() string {
	var parts []string
	for ; g.Parent != nil; g = g.Parent {
		n := strconv.Itoa(g.Ordinal)
		if g.Last > g.Ordinal {
			n += "…" + strconv.Itoa(g.Last)
		}
		switch g.Kind {
		case Split, SplitType, Create:
			n += ":" + strconv.FormatInt(g.Color, 10)
		case CreateGroup:
			n = "g" + strconv.FormatInt(g.Color, 10) + "." + n
		}
		parts = append(parts, n)
	}
	parts = append(parts, g.declared)
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}

// A Member says what a process is in a group.
type Member struct {
	Group  *Group
	Rank   int  // in the group, or in its own of the two of an intercommunicator
	Remote bool // whether it is a member of Group.Remote
}

// Local returns the ranks in the run of the members of the process's group.
func (m Member) Local() []int {
	if m.Remote {
		return m.Group.Remote
	}
	return m.Group.Members
}

// Peers returns the ranks in the run of those processes that ranks in the
// arguments of a call mean: of the remote group if m.Group is an
// intercommunicator, else of the group.
func (m Member) Peers() []int {
	if m.Group.Remote == nil || m.Remote {
		return m.Group.Members
	}
	return m.Group.Remote
}

// A GroupError says what is inconsistent in what processes recorded.
type GroupError struct {
	Rank    int    // in the run, of the process whose record does not fit
	Kind    Kind   // of the creation; 0 if it is not about one
	Parent  *Group // nil if it is not known
	Ordinal int    // as in the name that the group would have
	Reason  string
}

func (e *GroupError) Error() string {
	switch {
	case e.Kind == 0:
		return fmt.Sprintf("symbolic: rank %d: %s", e.Rank, e.Reason)
	case e.Parent == nil:
		return fmt.Sprintf("symbolic: rank %d: %v: %s", e.Rank, e.Kind, e.Reason)
	default:
		return fmt.Sprintf("symbolic: rank %d: creation %d on %s, %v: %s", e.Rank, e.Ordinal, e.Parent.Name(), e.Kind, e.Reason)
	}
}

package spec

import "fmt"

// A Creation is a way to create a group object, such as a communicator.
type Creation uint8

const (
	// Duplicate makes an object with the members of the parent, in their order:
	// MPI_Comm_dup and its variants, blocking or not, windows, files.
	Duplicate Creation = iota + 1

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

	// Spawn joins the parent and the processes that its members start together:
	// MPI_Comm_spawn and MPI_Comm_spawn_multiple. Members, which need be known of one
	// caller only, are their ranks in the run.
	Spawn

	// SpawnedBy is the intercommunicator of the [Spawn] that started the process, which has no
	// parent of its own: MPI_Comm_get_parent. A process may ask for it several times.
	SpawnedBy

	// Accept and Connect join the parent of the one and that of the other:
	// MPI_Comm_accept and MPI_Comm_connect. Those belong together of which the leaders name the
	// same port, in the order of their calls; if several groups accept there, or
	// connect, which of them met is not known.
	Accept
	Connect
)

var creationNames = [...]string{
	Duplicate: "duplicate", Topology: "topology", Split: "split", SplitType: "split by type", Create: "create",
	CreateGroup: "create group", IntercommCreate: "create intercommunicator", IntercommMerge: "merge intercommunicator",
	Spawn: "spawn", SpawnedBy: "get parent", Accept: "accept", Connect: "connect",
}

// String returns what the creation does, in words.
func (c Creation) String() string {
	if c == 0 || int(c) >= len(creationNames) {
		return fmt.Sprintf("kind %d", uint8(c))
	}
	return creationNames[c]
}

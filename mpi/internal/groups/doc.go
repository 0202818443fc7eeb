// Package groups finds out which communicators, windows and files of different
// processes of a recorded MPI program are the same, and who their members are.
//
// In a trace, a communicator is a number that its process gave it. [Resolve] goes
// through the calls that create and free such objects, which is enough to tell:
// they are collective, so that the members agree on their order. What it returns
// answers, for a process, the number of an object and the position of a call, which
// object is meant and who is what in it, by ranks in the run:
//
//	all, err := groups.Resolve(ctx, trace, groups.Options{})
//	…
//	m, ok := all.At(rank, resolve.Local{Class: "comm", ID: 0}, position)
//
// # Calls
//
// Package [github.com/reprise-trace/reprise/mpi/collect] has under "Calls in a trace"
// what the calls of MPI are there: one that failed, and so creates nothing, has a last
// parameter error. The functions are known by their names, and their arguments by those
// of the parameters. Duplicates, windows and files have the members of a communicator. Those
// of MPI_Comm_split follow from colors and keys; those of MPI_Comm_split_type and
// MPI_Comm_create from the parameters leader, the rank in the parent of the first
// member, and newrank, the rank of the caller; those of MPI_Comm_create_group from
// members; of topologies and of MPI_Intercomm_merge, newrank tells the order if MPI
// had a choice. MPI_Cart_sub is a split by the coordinates that it drops, which follow
// from the rank in the parent: that is resolved before.
//
// # Several worlds
//
// A run may have several worlds, see [merge.Run]: those that MPI_Comm_spawn starts, and those of programs
// that were recorded together. Then each is an MPI_COMM_WORLD. The trace says by which call of MPI_Comm_spawn
// a world began, so that its intercommunicator, and that of MPI_Comm_get_parent, are known. Those of
// MPI_Comm_accept and MPI_Comm_connect meet at the name of a port, if no more than one group accepts there
// and no more than one connects. Those of MPI_Comm_create_from_group, as of sessions, follow from members,
// ranks in the world, and the tag, which is a string. So do the two sides of those of
// MPI_Intercomm_create_from_groups, which meet at their leaders, ranks in the world, too. What MPI_Comm_join
// makes is not resolved, nor what is created from it.
//
// # Limits
//
// Each call that creates or frees an object is gone through. The cost is in proportion to these
// calls of all processes, and to the sizes of the grammars, not to the number of other calls.
// [Options] bounds how many there may be: a program that creates communicators in a loop of very
// many rounds has too many, and the error is a [*LimitError].
package groups

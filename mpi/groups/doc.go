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
//	m, ok := all.At(rank, symbolic.Local{Class: "comm", ID: 0}, position)
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
// What comes from outside of MPI_COMM_WORLD, by MPI_Comm_spawn, MPI_Comm_connect,
// MPI_Comm_join or sessions, is not resolved, nor what is created from it.
//
// The ranks of a trace are those of one MPI_COMM_WORLD. If processes of several runs
// were recorded together, creations lack the calls of other members.
//
// # Loops
//
// If there are more than [Options].MaxApart calls that create or free objects, loops are
// summed up: objects that rounds of a loop create one after the other are one group,
// whose Count says how many they are, and whose name has the numbers of the first and
// the last, as in world/0…99. They have the same members in the same order, who all know
// them by the same ids; they were created in the same way, on one parent; and what was
// created on them is alike. Of a loop of which that is so, a few rounds are gone through,
// and at a position in another, a name stands for what it does at that place of one of these.
//
// A loop is a symbol of the grammar of a process that is repeated. The members of
// a group leave the same creations on it out of theirs, whatever else they call
// in them, and wherever a round of theirs begins. All rounds are gone through if they
// do not: if, in the grammars of the members, creations on the group are in different
// numbers of loops; if objects are created on those of rounds before, so that names grow; if
// the process grid of MPI_Cart_sub is not known;
// and if a round has MPI_Comm_create_group or MPI_Intercomm_create, in whose
// order not all members of the parent take part. Where colors depend on the round, what repeats is
// several rounds. Objects that are not freed have more and more ids, so that
// the calls are no loop.
//
// # Limits
//
// The cost is in proportion to the creations of all processes that are gone through, and
// to the sizes of the grammars of their calls, not to the number of other calls or of
// rounds that are left out. There may be more creations to go through than there is memory,
// which [Options] bounds.
package groups

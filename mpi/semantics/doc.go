// Package semantics says what the calls of a trace mean to other processes: which
// messages they send and receive, of how many bytes, to and from which rank of the run,
// and which are collective, on which communicator.
//
// [Open] finds out from the functions of a trace what they are: MPI, as package
// [github.com/reprise-trace/reprise/mpi/collect] records it, the actions of SimGrid that package
// [github.com/reprise-trace/reprise/mpi/simgrid] reads, or neither; then [Model.Known] says so. [OpenWith]
// takes semantics of the caller, for functions of its own. A [Rank] gives the [Operation] of a call, and with
// [Rank.All] all of them and how often they occur, without going through the calls:
//
//	model, err := semantics.Open(ctx, trace)
//	…
//	rank, err := model.Rank(0)
//	…
//	for o := range rank.All() {
//		for _, m := range o.Operation.Messages {
//			if m.Direction != semantics.Send || m.Peer < 0 {
//				continue // a receive, or a rank that is not known
//			}
//			if m.Bytes == semantics.Unknown {
//				unknown += o.Count
//				continue
//			}
//			bytes[m.Peer] += uint64(m.Bytes) * o.Count
//		}
//	}
//
// What a trace does not say is [Unknown], [AnySource], [AnyTag] or a nil communicator,
// never a guess.
//
// # MPI
//
// Functions and arguments are known by their names. A call that failed with MPI_ERR_TRUNCATE
// received its message, cut off, and sent what it sends, if the trace has the name of that
// class of errors; of one with MPI_ERR_IN_STATUS the statuses count that tell of no error.
// Any other call that failed means nothing, even if MPI did a part of it, and calls that are
// not in the trace because recording was off do not count: see [Rank.SwitchesRecording].
//
// What a communicator, window, file, datatype or request is depends on the position of the
// call: its id is used again when it is gone. Communicators, windows and files are those of package
// [github.com/reprise-trace/reprise/mpi/internal/groups], so that those from outside of
// MPI_COMM_WORLD are not known. Where a rank says that its MPI_COMM_WORLD is not the run,
// because several runs were recorded together, none of its peers are. Sizes of predefined
// datatypes are those of machines where a long has 8 bytes and a default integer of Fortran
// 4; others follow from the calls that make them. Those that MPI chooses by precision have the
// size that MPI_Type_size says, if that was called, and those of distributed arrays are not
// known where it matters whether default blocks are of one element or as large as can be.
//
// A receive is at the call that begins it: that of a persistent request at MPI_Start, of a
// partitioned one in the same way, with all partitions. The source and the tag that a receive does
// not name are those that the status tells of the call that completed it, if that was
// recorded; those of MPI_Mrecv and MPI_Imrecv are, with the communicator, what the probe
// names that found the message, or else what its status tells. The size of a receive is that
// of the buffer. What neighbours exchange is counted where it is clear who they
// are: in grids, and in graphs of which each process names its neighbours or all edges.
//
// A probe that found a message says which, [Operation.Probed], and MPI_Mprobe gives it an id by
// which MPI_Mrecv receives it. [Operation.Group] has the ranks that MPI_Win_post and MPI_Win_start
// name, where the group comes from a communicator or a window by MPI_Group_incl, excl, union,
// intersection and difference. [Rank.Same] says whether all calls of a terminal mean the same.
//
// # Collective operations
//
// [Rank.Exchange] says who gives whom how much in a collective operation, as the MPI standard
// defines its result. How an implementation gets there, in trees or in rings, is not in a
// trace. What a process gives to itself does not count.
//
//	MPI_Bcast                      the root to each other member, the message
//	MPI_Scatter, Scatterv          the root to each other member, its block
//	MPI_Gather, Gatherv            each other member to the root, its block
//	MPI_Reduce                     each other member to the root, the vector
//	MPI_Allgather, Allgatherv      each member to each other, its block
//	MPI_Alltoall, Alltoallv, -w    member i to member j, block j of i
//	MPI_Allreduce                  each member to each other, the vector: all of it is in the result
//	MPI_Reduce_scatter, -_block    member i to member j, block j of the vector
//	MPI_Scan, MPI_Exscan           member i to member j, i < j, the vector
//	MPI_Neighbor_…                 each member to each neighbour that it sends to, the block for it
//	MPI_Barrier                    nothing
//
// Nonblocking forms count where they begin, persistent ones where they are started, and each kind of
// persistent ones for itself, as MPI lets members start them in any order. On an intercommunicator the
// members of one group give to those of the other, or the root to the other group or from it. Bytes are those
// that the arguments of the giver say, of what is in the buffer for receiving if MPI_IN_PLACE says so. Only
// what MPI_Reduce_scatter gives on an intercommunicator is known to the receiver alone. Operations without
// data of the program, as those that make communicators, windows and files, and collective access to files
// give nothing. Neighbours are followed through copies and parts of a topology. Those that others named in
// MPI_Dist_graph_create, or that processes named before MPI reordered their ranks, are known where the trace
// has what MPI says they are.
//
// # SimGrid
//
// Ranks are those of MPI_COMM_WORLD. A trace does not say which communicator a call is of, nor which are
// created. As in SimGrid's own replay, collective operations are taken to be of MPI_COMM_WORLD, and roots and
// the targets of one-sided operations to be ranks in it; but not a collective operation with counts for
// another number of ranks. Which sender a receive from any source had is not in a trace, which has a null
// process of a receive in the same way; what is sent to it is no message. The tags of sendRecv are not known.
// Start names the receiver, so that of the rank itself is a receive, and from the source that its waits name,
// if they name one. Sizes of datatypes are those of SimGrid 3.32 on machines where a long has 8 bytes; those
// of derived ones are not known.
//
// # Cost
//
// Opening a model of SimGrid's actions costs nothing. Of MPI, it costs what resolving communicators costs, if
// the trace makes any: each call that makes or frees one is looked at, and if they are more than some
// millions, [Model.Unresolved] says so. A rank costs what reading it costs, and each of its signatures is
// looked at once, when it is asked for. The calls themselves are gone through, only those that matter, where
// one id is that of datatypes of different sizes, of persistent requests on different objects, of different
// topologies, or of messages from several senders that probes found, and where the receives of one call from
// any source got messages of several, or some of them were cancelled: up to some millions of calls of a rank,
// and beyond that the answer is not known.
package semantics

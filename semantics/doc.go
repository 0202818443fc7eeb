// Package semantics says what the calls of a trace mean to other processes: which
// messages they send and receive, of how many bytes, to and from which rank of the run,
// and which are collective, on which communicator.
//
// [Open] finds out from the functions of a trace what they are: MPI, as package
// [github.com/reprise-trace/reprise/mpi/collect] records it, the actions of SimGrid that
// package [github.com/reprise-trace/reprise/ti] reads, or neither; then [Model.Known]
// says so. A [Rank] gives the [Operation] of a call, and with [Rank.All] all of them and
// how often they occur, without going through the calls:
//
//	model, err := semantics.Open(ctx, trace)
//	…
//	rank, err := model.Rank(0)
//	…
//	for o := range rank.All() {
//		for _, m := range o.Operation.Messages {
//			bytes[m.Peer] += m.Bytes * int64(o.Count)
//		}
//	}
//
// What a trace does not say is [Unknown], [AnySource], [AnyTag] or a nil communicator,
// never a guess.
//
// # SimGrid
//
// Ranks are those of MPI_COMM_WORLD. A trace does not say which communicator a call is
// of, nor which are created. As in SimGrid's own replay, collective operations are
// taken to be of MPI_COMM_WORLD, and roots and the targets of one-sided operations to be
// ranks in it; but not a collective operation with counts for another number of ranks.
// Which sender a receive from any source had is not in a trace, which has a null process
// of a receive in the same way; what is sent to it is no message. The tags of sendRecv
// are not known. Start names the receiver, so that of the rank itself is a receive, and
// from the source that its waits name, if they name one. Sizes of datatypes are those of SimGrid 3.32 on machines where
// a long has 8 bytes; those of derived ones are not known.
//
// # Cost
//
// Opening a model of SimGrid's actions costs nothing. A rank costs what reading it costs,
// and each of its signatures is looked at once, when it is asked for.
package semantics

// Package replay executes a trace again: all ranks in one goroutine, each call as soon as what
// it waits for has happened, and as fast as some million calls a second.
//
// [Run] comes to a [Result]: how long each rank computes, sends and waits on a [Machine], which says how long
// computing, a message and a collective operation take there. On [Instant] nothing takes time, and what is
// left is whether the run can come to its end. On [Recorded] ranks compute as long as they did in the run. A
// program supplies others, such as
//
//	type network struct{ *replay.Recorded }
//
//	func (network) Message(m *replay.Message) replay.Cost {
//		return replay.Cost{Transfer: 2*replay.Microsecond + 100*replay.Time(max(m.Bytes, 0)), Rendezvous: m.Bytes > 1<<16}
//	}
//
// [Events] also gives the end of each call and the arrival of each message, in the order of simulated
// time. If calls wait for what never happens, the replay ends with a [*DeadlockError], which says who
// waits for whom.
//
// # What is executed
//
// Meanings are those of package [github.com/reprise-trace/reprise/mpi/semantics].
//
//   - Messages match by communicator, source, destination and tag, in the order in which they are sent and
//     their receives are posted. A receive from any source, or with any tag, gets the message that it got in
//     the run. Where the trace does not say which that was, it gets the first to come.
//   - Sends are eager or wait for their receive, as the [Cost] says; synchronous ones wait, buffered ones
//     do not.
//   - Requests are complete when their messages and collective operations are, whether they are nonblocking,
//     persistent or partitioned. A partitioned message is sent as a whole where it is started. A call
//     waits for those requests that it completed in the run, and tests that found nothing wait for
//     nothing. MPI_Probe and its relatives wait for the message that they found, and MPI_Mprobe takes it.
//   - Collective operations, nonblocking ones and those that make communicators, windows and files included, match by their
//     number on the communicator. Members leave when all have entered that they need: see [Collective.Earliest].
//     Members that call different operations in one place wait for each other.
//   - One-sided operations occupy their origin for a time. They are complete at the next call that synchronizes
//     the window. MPI_Win_fence is a collective operation. MPI_Win_complete waits for MPI_Win_post of the ranks
//     in the group of MPI_Win_start, and MPI_Win_wait for MPI_Win_complete of those in the group of
//     MPI_Win_post, if it is known who they are.
//   - One rank has an exclusive lock of a target, the part of a window that a rank gives, or several have shared ones. MPI_Win_lock
//     returns before its rank has the lock, as MPI allows: ranks that waited there could be in a deadlock in which they are not with
//     every MPI. A rank asks for the lock in MPI_Win_unlock, in a flush, or where it waits for the request of an access, and
//     for that of its own part in MPI_Win_lock, as it may use its memory from then on. Accesses begin when it has the lock.
//     MPI_Win_lock_all locks the own part, and others from the first access to them on; MPI_Win_unlock_all gives each back
//     when the accesses to it are complete. The first rank to ask gets the lock, of several at one time the lowest, as a trace
//     does not say who had it first in the run. MPI_MODE_NOCHECK locks nothing, and nothing is locked in a trace that does not
//     keep the order of all calls.
//   - Threads of a rank are executed each by itself. One waits for another if it completes a request
//     that the other begins.
//   - Where a trace that was made to fit a size does not keep the order of calls, it is drawn, see [Options].Seed.
//     Messages between two ranks match there whatever their tags are, collective operations of one kind and
//     root by their number, and calls complete the requests that were begun first. Calls do not wait there if nothing
//     else can go on. A receive from any source gets no message there, and counts as unknown.
//   - A call that had not returned when the recording ended is executed like others. Calls that failed do nothing.
//
// Of SimGrid's actions, waitall waits for all requests that are open, as SimGrid's own replay does, and
// waitAny and the tests take requests that are complete by then. A receive from any source that gets
// nothing until nothing else can go on is one from no process, which SimGrid writes alike.
//
// # Cost
//
// A rank is read once, and walked with a cursor: memory is that of its grammar and signatures, and of the
// messages that are sent and not received. Time is that of the calls. A replay in the order of time, as for
// events, where threads share a rank, where receives choose messages, or where a lock is exclusive, takes
// longer.
//
// [Run] skips iterations of loops on a [SteadyMachine]: where times have become periodic, it adds what an
// iteration adds as often as there are iterations. The result is the same to the picosecond. It executes
// every call where costs vary from call to call, in the order of time, if what else a replay tells is about
// every call, see [Options], and where a loop is none of all ranks or of those that take part in it, changes
// from iteration to iteration, or does not become periodic.
//
// Times are whole picoseconds, and a replay comes to the same each time.
package replay

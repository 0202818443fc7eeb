// Package simgrid writes traces as the time-independent traces of SimGrid, which
// smpirun -replay simulates on a platform of one's choice.
//
// Of a choice of ranks or times a replay fails: it waits for messages that are left out.
//
// # SimGrid
//
// The calls of a trace that was made from such a trace are written as they are, rank by
// rank.
//
// # MPI
//
// The calls of a recorded MPI program become actions that SimGrid 3.32 replays:
//
//   - What a rank does from the end of one action to the beginning of the next is a
//     compute, of [Options].FlopsPerSecond: on hosts of that speed it takes the time
//     that it took. Calls that concern no other process, and those of files, count as
//     computing. In a trace without times nothing is computed.
//   - Messages are send, isend, recv and irecv, of bytes, whatever their mode. Persistent
//     requests are sent and received when they start, and MPI_Sendrecv is an irecv, a send
//     and a wait. A receive from any source names the sender if the trace says who it was.
//   - A receive that the program tried to cancel is left out, unless a status says that it
//     got a message.
//   - Each request that a call completes is a wait. Calls that test without success, and
//     those that probe, are left out.
//   - Collective operations of all processes are the action of that name. Those that do
//     not block are where they begin as if they did. The flops of reductions are not known,
//     and 0.
//   - Calls that make or free communicators, windows, files and datatypes, and that
//     synchronize windows, are left out.
//   - Tags of messages in other communicators than MPI_COMM_WORLD are numbers that stand
//     for both, as an action has no communicator.
//
// A rank begins with init and ends with finalize, whether it was recorded or not.
//
// A call that has no action is refused, with an [UnsupportedError] that names it:
// collective operations of some processes only, one-sided communication, neighbourhood
// collectives, persistent collectives, MPI_Alltoallw, and messages to a rank that is not
// known, or of a size that is not known.
//
// # Replay
//
// The file is named in a list, here in a file named list, and hosts are those of a
// platform, which may be as small as
//
//	<?xml version='1.0'?>
//	<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
//	<platform version="4.1">
//	  <cluster id="cluster" prefix="host" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
//	</platform>
//
// for 4 ranks:
//
//	printf 'host%d\n' 0 1 2 3 > hosts
//	echo run.ti > list
//	smpirun -np 4 -platform platform.xml -hostfile hosts -replay list
package simgrid

// Package reprise reads the traces that Reprise writes: what every process of a
// parallel program called, with all arguments and with times, in a file that is
// kilobytes where others need gigabytes, because a program is loops.
//
// [Open] opens a trace, [Trace.Rank] reads what one rank called, and
// [Rank.Calls] yields its calls, from any position, without expanding the rest:
//
//	trace, err := reprise.Open("run.rpz")
//	…
//	defer trace.Close()
//	rank, err := trace.Rank(0)
//	…
//	for call, err := range rank.Calls() {
//		…
//		fmt.Println(call.Position, call)
//	}
//
// [Trace.Printer] writes calls as people read them. [Trace.Calls] reads the calls
// of all ranks in the order of their source, and [Trace.ByTime] in that of time.
// [Trace.Damage] tells what of a damaged file cannot be read. [Trace.Shape] gives what ranks have in
// common, and [Trace.Summaries] statistics of times. Calls have their own times if the
// trace has those of every call; [Rank.Times] yields them alone.
// [OpenContainer] is for other limits on memory and for damaged files.
//
// Traces are written by package tracer and package merge, recorded from MPI
// programs by packages mpi and mpi/collect, or made from other traces by the
// command in cmd/reprise. A part file, which holds some ranks of a
// run, is opened like a trace. The parts can be used alone: package sequitur
// compresses sequences to grammars, package cst numbers call signatures, package
// rankenc encodes what differs from rank to rank, package timing encodes times,
// package symbolic numbers handles and memory, package format is the container,
// and package ti reads and writes the time-independent traces of SimGrid.
package reprise

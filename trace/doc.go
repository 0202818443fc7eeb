// Package trace reads the traces that Reprise writes: what every process of a
// parallel program called, with all arguments and with times.
//
// [Open] opens a trace, [Trace.Rank] reads what one rank called, and
// [Rank.Calls] yields its calls, from any position, without expanding the rest:
//
//	tr, err := trace.Open("run.rpz")
//	…
//	defer tr.Close()
//	rank, err := tr.Rank(0)
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
// Traces are written by packages tracer and merge, recorded from MPI programs by
// packages mpi/interpose and mpi/collect, read from those of SimGrid by package
// mpi/simgrid, or made from other traces by the command in cmd/reprise. A part file,
// which holds some ranks of a run, is opened like a trace.
package trace

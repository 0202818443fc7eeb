// Package trace reads the traces that Reprise writes: what every process of a
// parallel program called, with all arguments and with times.
//
// [Open] opens a trace, [Trace.Rank] reads what one rank called, and
// [Rank.Calls] yields its calls, from any position, without expanding the rest:
//
//	tr, err := trace.Open("run.rpz", trace.Options{})
//	…
//	defer tr.Close()
//	rank, err := tr.Rank(0)
//	…
//	for call, err := range rank.Calls(0) {
//		…
//		fmt.Println(call.Position, call)
//	}
//
// [Trace.Printer] writes calls as people read them. [Trace.Calls] reads the calls
// of all ranks in the order of their source, and [Trace.ByTime] in that of time.
// [Trace.Content] says what a trace has and lacks, and [Trace.Damage] what of a damaged
// file cannot be read. [Trace.Shape] gives what ranks have in
// common, and [Trace.Summaries] statistics of times. Calls have their own times if the
// trace has those of every call; [Rank.Times] yields them alone.
//
// Traces are written by packages tracer and merge, recorded from MPI programs by
// packages mpi/interpose and mpi/collect, read from those of SimGrid by package
// mpi/simgrid, or made from other traces by the command in cmd/reprise. A part file,
// which holds some ranks of a run, is opened like a trace.
//
// # Errors
//
// What is wrong with a file is told by the errors of package format, whichever package found it. A file that
// was damaged gives [format.ErrCorrupt], one that was cut off [io.ErrUnexpectedEOF] or ErrCorrupt, one that
// exceeds a limit [format.ErrLimit], one that takes too much memory a [*format.MemoryError], one that is
// something else [format.ErrFormat], and one of a later version a [*format.VersionError]: errors.Is and
// errors.As find them. Which section it is says a [*format.SectionError] around them, and where in it a
// [*format.ParseError]: its Package is that whose documentation names the Field, and its Offset is that in
// the content of the section or, if Package is format, in the file. The codecs, such as sequitur and timing,
// have these errors under names of their own, which are equal.
package trace

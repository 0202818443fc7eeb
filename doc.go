// Package reprise is a map of the packages beside it: there is nothing else in it.
//
// Reprise records what every process of a parallel program called, with all
// arguments and with times, in a file that is kilobytes where others need gigabytes,
// because a program is loops and its processes run nearly the same loops.
//
// Codecs, each of use alone:
//
//	cst       numbers call signatures
//	symbolic  numbers handles and memory
//	sequitur  compresses sequences to grammars
//	rankenc   encodes what differs from rank to rank
//	timing    encodes times
//	format    is the container of a file
//
// A trace:
//
//	merge     puts the ranks of a run together, and writes the trace
//	tracer    records a Go program; below it are tracehttp, tracesql, traceos and tracegrpc
//	trace     reads a trace: begin with trace.Open; trace/meaning is what a tracer says of its own functions
//	query     answers questions about a trace
//
// All that knows MPI is below mpi: recording (interpose, collect), what calls mean
// (spec, semantics), the traces of SimGrid (simgrid), running a trace again
// (replay), programs made of a trace (proxy), of other numbers of ranks
// (extrapolate), and slices of programs (slice).
//
// Modules of their own:
//
//	report    the page of a trace
//	export    formats of other tools
//	cmd       the command
//	bench     figures and their report
//	beam      merging on Apache Beam
//
// What several of these share is in internal, what only tests use in internal/test.
// examples has programs to begin with, and docs what the command and the library do.
package reprise

// Package tracer is the front end that a tracer embeds: calls in, a part for
// the merge out.
//
// A [Recorder] takes the calls of one rank. It interns each call's signature
// and folds the sequence of terminals into a grammar, so that it holds what
// repeats once. [Recorder.Finish] returns the [merge.Part] that [merge.Write]
// puts into a trace with those of the other ranks, [Recorder.Snapshot] what it
// would be so far. What is kept of the times of calls, [Options] say. A [Process]
// is a Recorder for several goroutines, with a clock and a part file.
//
// The parts of processes that do not share memory meet as files: each process
// writes one of its own rank with [merge.Accumulator.WritePart], and who collects
// them reads these with [merge.ReadPart] and merges them with [merge.Tree]. The
// command does the same: reprise merge.
package tracer

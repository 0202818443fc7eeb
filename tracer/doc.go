// Package tracer is the front end that a tracer embeds: calls in, a part for
// the merge out.
//
// A [Recorder] takes the calls of one rank. It interns each call's signature
// and folds the sequence of terminals into a grammar, so that it holds what
// repeats once. [Recorder.Finish] returns the [merge.Part] that [merge.Write]
// puts into a trace with those of the other ranks, [Recorder.Snapshot] what it
// would be so far.
//
// The parts of processes that do not share memory meet as traces: each process
// writes one of its own rank, in a run of all, and who collects them opens these
// with [merge.Open], takes the part of each with [merge.Trace.Part], and writes
// all of them.
package tracer

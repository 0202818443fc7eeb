// Package tracer is the front end that a tracer embeds: calls in, a part for
// the merge out.
//
// A [Recorder] takes the calls of one rank. It interns each call's signature
// and folds the sequence of terminals into a grammar, so that it holds what
// repeats once. [Recorder.Finish] returns the [merge.Part] that [merge.Write]
// puts into a trace with those of the other ranks.
package tracer

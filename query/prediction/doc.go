// Package prediction says how long a run would take on another machine, and why: the calls of a trace are
// replayed on the model of a network, and ranks compute as long as the trace tells.
//
//	model, err := semantics.Open(ctx, trace)
//	…
//	run, err := prediction.Open(ctx, model, prediction.Options{Machine: parameters})
//	…
//	fmt.Println(run.Time, run.Recorded)
//
// # Computing
//
// Computing is the gaps between calls, and calls that do nothing to other ranks: as the times of every call
// say where the trace has them, else drawn from histograms, else the means of each signature. Of ranks
// without several threads what is not from the times of every call is scaled to the sums that the trace keeps
// of each rank. A trace of SimGrid says how much is computed, which takes as long as the machine's speed has
// it. [ComputingOf] says which of these it is.
//
// # Cost
//
// It is that of a replay: see [github.com/reprise-trace/reprise/mpi/replay.Run].
package prediction

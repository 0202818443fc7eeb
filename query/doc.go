// Package query answers questions about a trace from its compressed form: what it
// costs follows the grammars, signatures and ranks, not the calls.
//
//	model, err := semantics.Open(ctx, trace)
//	…
//	messages, err := query.OpenMessages(ctx, model, 0, query.Options{})
//	…
//	for _, p := range messages.Traffic.Pairs {
//		fmt.Println(p.Source, p.Destination, p.Messages, p.Bytes)
//	}
//
// The structs of answers have JSON tags: they are what the command writes with --json.
//
// # Counts
//
// A [Profile] has how often each function is called, and each signature, by each rank,
// and the time that took. [Messages] are what goes from each rank to each other, or from
// ranges of ranks to others for runs of so many that their pairs are too many, by the
// sizes of messages, and what happens on each communicator. Messages and what collective
// operations exchange are told apart; what is the same between many ranks is held once, as
// [UniformPairs], so that an MPI_Allreduce of n ranks costs n, not n². [Traffic.All] goes
// through all pairs. Calls that are alike are
// looked at once for each rank, whatever their number.
//
// A [Match] pairs sends and receives, and the calls of the members of a communicator that
// are one collective operation. What is not matched is found without going through the
// calls, and so is the other end of a message. A [Numbering] tells it who goes through the
// calls all the same.
//
// A [Hang] says who waits for whom when a run ended early, and which ranks are deadlocked.
//
// # Comparison
//
// A [Diff] says whether two runs made the same calls, whenever they made them, where
// they first did not, and in which numbers they differ.
//
// # Times
//
// A [Clock] says when each call of a rank began, and which call a rank is in at a time, by whatever the trace
// has of times: those of every call, or histograms, or statistics. Without those of every call, a clock is an
// estimate, in which each call takes the mean of its like, and comes after the mean gap, scaled to the sums
// of its rank. [Clock.Between] sums up what a rank did in a span of time. [Loops] are those of a rank or of a
// shape, with their times. [Times.Imbalance] tells in which calls ranks lose time, and [Match.LateSenders]
// which receives wait for sends that begin after them.
//
// Of five recorded runs of MPI programs, the starts that clocks by statistics tell are
// off by 0.1 % to 4.8 % of the run on average, and by 12 % at most; by path-sensitive
// histograms, by 0.1 % to 2.6 % and at most 5.4 %. Those of every call are as exact as
// their codec.
//
// The search in time is that of P. Ratn, F. Mueller, B. R. de Supinski and M. Schulz,
// "Preserving Time in Large-Scale Communication Traces", ICS 2008, §3.5. This package
// departs from it in that a symbol on the right-hand side of a rule is found by binary
// search, and in that the times of calls may depend on the call before.
package query

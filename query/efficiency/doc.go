// Package efficiency says what limits how well a run scales: the efficiencies of the POP
// project, of the run and of its phases, and how several runs compare.
//
//	model, err := semantics.Open(ctx, trace)
//	…
//	run, err := efficiency.Open(ctx, model, efficiency.Options{})
//	…
//	fmt.Println(run.Factors.Parallel, run.Factors.LoadBalance)
//
// # Definitions
//
// The computing of a rank is the time that it spends outside MPI. The time of a run is from when
// the last rank returns from MPI_Init to when the last rank calls MPI_Finalize; without these, from
// the first call of all ranks to the end of the last: see
// [github.com/reprise-trace/reprise/query.Times.Run]. The ideal time is that of a replay in which
// ranks compute as long as they did and the network takes no time: see
// [github.com/reprise-trace/reprise/mpi/replay.Recorded]. Then
//
//	parallel efficiency      = mean computing / time       = load balance · communication efficiency
//	load balance             = mean computing / max computing
//	communication efficiency = max computing / time        = serialization · transfer
//	serialization            = max computing / ideal time
//	transfer                 = ideal time / time
//
// Calls that do nothing to other ranks, such as those that make datatypes or write files,
// take as long in the ideal run as they did. They are no computing.
//
// A phase is a loop of the program that is in no other loop. Of a rank, it is from the
// end of the call before the loop to the end of the last call of the loop, and its time is from the first
// rank to begin it to the last to end it, in the recorded and in the ideal run. Phases of ranks that do
// not make the same calls are put together as package skeleton does, which finds what the
// control flows have in common, with calls of one function from one place being the same.
//
// # Times
//
// Each number has its max error. Where the trace has the times of every call, computing is the sum of gaps between
// calls. With a relative error g, a sum s of gaps was from s/(1+g) to s/(1−g). So was the ideal time, which is the
// longest path of gaps. The errors of starts and of the begin of the run add to this.
//
// Otherwise each gap is the mean of the call's signature, scaled to the sums that the trace keeps of the rank.
//
// If the trace keeps sums of each rank, they also bound the time of the run, as
// [github.com/reprise-trace/reprise/query.Times.RunOfSums] says, and the computing of a rank in the run, as
// [github.com/reprise-trace/reprise/query.Times.ComputingBounds] says. With times within an error, the smaller error
// counts.
//
// The ideal time of means is rather too short, as ranks wait less for each other: it is not known, but for that
// serialization and transfer are from the communication efficiency to 1. What the means say of phases is an estimate.
//
// The ideal run cannot take longer than the recorded one if the times are exact, those of all ranks are of
// one clock, and collective operations synchronize no more than they did. Where it does, [Part.Longer] says so,
// and the transfer is 1, so that the serialization is the communication efficiency. Where the times have a rank
// compute for longer than the run took, the run counts as that long. So no factor is above 1.
//
// # Cost
//
// It is that of a replay. Memory does not depend on the number of calls. Where no rank has the
// times of every call, iterations of loops are skipped as
// [github.com/reprise-trace/reprise/mpi/replay.Run] does, between where phases begin and end. What
// comes of it is the same as if every call were executed, to the picosecond. Otherwise every call
// is: some million calls a second.
//
// # Source
//
// The metrics are those of the POP Centre of Excellence, https://co-design.pop-coe.eu/metrics. There,
// the ideal time comes from a simulator of networks, such as Dimemas.
package efficiency

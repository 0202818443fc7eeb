// Package waits says which calls of a run waited for other ranks, and what caused that: the wait states of
// F. Wolf and B. Mohr, "Automatic performance analysis of hybrid MPI/OpenMP applications", Journal of Systems
// Architecture 49(10–11), 2003, and delay costs as those of D. Böhme, M. Geimer, F. Wolf and L. Arnold,
// "Identifying the Root Causes of Wait States in Large-Scale Parallel Applications", ICPP 2010.
//
//	run, err := waits.Open(ctx, model, waits.Options{})
//	…
//	for _, c := range run.Causes {
//		fmt.Println(c.Cost, c.Rank, c.From, c.To)
//	}
//
// # Wait states
//
// A call waits from its start until a call of another rank starts that it needs, but not beyond its own end.
// Calls that start before the run, see [query.RunTimes], do not count: their waits are part of the startup.
// Calls that complete requests wait for what these stand for, persistent and partitioned ones too.
//
//	late sender      a receive for its send
//	wrong order      the same, where the rank received a message later that had been sent before
//	late receiver    a send that is not buffered for its receive, if that starts before the send ends
//	wait at barrier  for the last member to come to it
//	wait at NxN      the same, in an operation in which all get something of all, as MPI_Allreduce
//	late root        a member for the root of MPI_Bcast or MPI_Scatter
//	early root       the root of MPI_Reduce or MPI_Gather for the last member
//	early scan       a member of MPI_Scan or MPI_Exscan for the last of those of lower rank
//	late neighbor    a member of an operation of neighbours in a topology for the last of those that it gets data from
//	wait at fence    for the last member to come to MPI_Win_fence, or to free a window
//	late post        MPI_Win_start or MPI_Win_complete for MPI_Win_post of the targets
//	late complete    MPI_Win_wait for MPI_Win_complete of the origins
//	lock contention  a call of MPI_Win_lock, of a flush or of MPI_Win_unlock for MPI_Win_unlock of another rank
//
// Whether MPI really has a member of a collective operation wait for others than it needs, in trees or rings, is
// not known, and no wait. Which of two ranks had a lock first follows from which of them returned from
// MPI_Win_unlock first. Waits for files, between threads of a rank, and for ranks that compute while others access
// their windows are not looked for: [Run.Unsought] names those that the run may have. A message in partitions
// counts as sent when its request is started.
//
// # Delay costs
//
// What a rank waits for is the way to the call that it waits for, less its own way. Both go back to where they
// meet: on a rank, call by call and, before a call that waited, on the rank that it waited for. A Delay is
// computing between two places, or calls in one, that take more time on the first way than on the second, for
// each time that they are on it. The wait is distributed over the delays in proportion. So ranks that only
// pass on a delay cause nothing, and a wait has no cause that it would have without. This departs from Böhme
// et al., whose delays are those of the interval since two ranks last met, and who follow waits backward.
//
// # Critical path
//
// A [Path] has what happened one after the other until the last rank was done, and how much of it is imbalance,
// as D. Böhme, F. Wolf, B. R. de Supinski, M. Schulz and M. Geimer have it, "Scalable Critical-Path Based
// Performance Analysis", IPDPS 2012: of computing between two places, or calls in one, what the path has more
// than ranks have on average.
//
// # Times
//
// Times are those of every call. Where they, or the clocks of machines, may be off by as much as a call waited,
// it does not count, and [Run.Short] says how many these are. Ranks that are not in the trace, and messages of
// which it does not have both ends, make nobody wait; what comes after such a message on its channel neither. If
// that is more than a few messages, the Run says that the trace lacks receives. If collective operations end on one
// rank before others begin them, the clocks of ranks differ, and nothing is told: see [ClocksError].
package waits

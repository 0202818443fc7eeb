// Package loggps is a machine for package [github.com/reprise-trace/reprise/mpi/replay]: a cluster
// by the parameters of the LogGPS model, so that a trace tells how long its program would run
// there.
//
//	computing, err := replay.NewRecorded(trace)
//	…
//	parameters := loggps.Default()
//	parameters.RanksPerNode = 4
//	machine, err := loggps.New(parameters, trace.Ranks(), computing)
//	…
//	result, err := replay.Run(ctx, model, machine)
//
// [Parameters] are those of a [Link] between nodes and of one within a node, which ranks share a node,
// [Factor]s on computing, and which [Algorithm] each collective operation has. Times are whole picoseconds,
// and all arithmetic is that of integers: the result is the same on each computer.
//
// # Messages
//
// A message of k bytes occupies its sender for the overhead o, or the gap g if that is longer. It is at its
// receiver o + L + k·G after it was sent, for the latency L and the gap per byte G, the inverse of the
// bandwidth, and occupies it for o from then on, or from the call that receives it. With more bytes than the
// eager limit S, both calls have to be made first, and a round trip of 2·(L + o) says so.
//
// [Link.Larger] are other latencies and bandwidths beyond sizes: an MPI sends small messages in another way
// than large ones. With [Link.Copied], the bytes occupy the receiver, which gets messages one after the
// other, as in shared memory, and their sender for half of the time if the message does not wait: the
// overhead of a byte of LogGOPS.
//
// A message costs the same whatever was sent before it, so that equal iterations of a loop take equal times.
// That is where this package departs from the model: g keeps its sender from everything, not only from the
// next message; and what a sender sends at one time does not share its bandwidth, nor what comes to a
// receiver.
//
// # Collective operations
//
// A collective operation takes the steps of its algorithm: as messages between its members from when each of
// them entered, where all need all, as in an allreduce. Where a member needs only the root, as in a
// broadcast, those on the way pass on what they get as if they had entered; where it needs nobody, as one
// that gives to the root, it leaves when it has sent. That is what the MPI standard promises, see
// [replay.Collective.Earliest]: not more. [Parameters.Besides] say what members that need all do besides
// their messages, such as the arithmetic of a reduction.
//
// Ring, pairwise and linear algorithms have as many steps as members. They cost closed forms instead, linear
// in the number of members: blocks are equal there, and a step of a ring is as slow as the slowest of its
// members. All others cost one exchange for each member and step.
//
// On an intercommunicator, an operation with a root is one of the root and the other group. Of others,
// members leave as much later than all of the other group have entered as they would leave one of all members
// that enter at once. Operations that make communicators and windows, and access to files, are barriers.
//
// # Source
//
// LogGP is A. Alexandrov, M. F. Ionescu, K. E. Schauser and C. Scheiman, "LogGP: Incorporating Long Messages
// into the LogP Model", SPAA 1995, and LogGPS F. Ino, N. Fujimoto and K. Hagihara, "LogGPS: A Parallel
// Computational Model for Synchronization Analysis", PPoPP 2001; LogGOPS is T. Hoefler, T. Schneider and A.
// Lumsdaine, "LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model", HPDC 2010. This package
// counts k·G for a message where these count (k−1)·G.
//
// Algorithms, and the sizes between which MPICH chooses, are those of R. Thakur, R. Rabenseifner and W.
// Gropp, "Optimization of Collective Communication Operations in MPICH", International Journal of High
// Performance Computing Applications 19(1), 2005, as far as the defaults of MPICH's variables
// MPIR_CVAR_…_MSG_SIZE still are so; see [Algorithm].
package loggps

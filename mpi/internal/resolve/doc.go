// Package resolve finds out, from what all processes recorded, which of their group objects such as
// communicators are the same and who their members are, and gives them names that all agree on.
// While the program runs, no process asks another. Package mpi/internal/groups does it for a trace.
//
// # Names of groups
//
// All members of a group object call what creates another on it, in the same
// order. So the name of the parent, how many were created on it before, and what
// divides the members among several new objects, such as a color, are the same
// for all members of one and for no others. The name is derived from that, and so
// are the members: of a duplicate, those of the parent; of a split, those that
// gave the same color, by key. Two creations are not called by all members of one
// parent. One that only future members call is known by these, its tag, and how
// many such there were before. The two groups of an intercommunicator know each
// other by their leaders, the peer communicator, the tag, and again the order.
//
// # Limits
//
// Creations are below 2³¹ in number. Methods do not panic on what a traced program does: creations
// that other processes did not join are provided for.
//
// # Source
//
// C. Wang, Y. Guo, P. Balaji and M. Snir, "Near-Lossless MPI Tracing and Proxy Application
// Autogeneration", IEEE TPDS 34(1), 2023, §2.3.3, has names of communicators that take additional
// collective communication. These take none.
package resolve

// Package symbolic gives small numbers to what a program names by handles and
// addresses, such that the same program has the same numbers in every run, and
// processes that do the same have the same: symbolic ids.
//
// [Handles] is for objects of one class, such as communicators or datatypes.
// [Requests] is for operations that end in any order. [Memory] turns addresses
// into segments and displacements, and [Overlap] tells whether two buffers have
// bytes in common. [Statuses] decides what of the outcome of an operation says
// anything new. All of these see one process, in the order of its events. [Pool]
// is what they take numbers from.
//
// Ids of one process suffice for a trace: group objects such as communicators have
// equal ids on all members as long as these do the same. Where they do not, a
// [Resolver] finds out afterwards, from what all processes recorded, which objects
// are the same and who their members are, and gives them names that all agree on.
// While the program runs, no process asks another.
//
// # Ids
//
//	id of             is
//	a handle          the lowest number from 0 on that is free in its class
//	a request         a number within the pool of the call that made it, and the
//	                  number of the pool, in one number: see [JoinRequest]
//	a segment         the lowest number from 0 on that is free
//	a region          what the caller declared, −1023 … −1
//	unknown memory    −1024 and less, in the order of first use
//	a constant        what the caller declared, best a negative number
//
// Ids of handles and requests are taken when an object is made, those of segments
// when a call first uses one. All are free again when the object is gone.
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
// Numbers of objects that exist at a time, of pools and of creations are below
// 2³¹. Methods panic if the caller uses an id that it was not given, and on nothing
// that a traced program does: handles that are freed twice or never, memory that
// overlaps, and creations that other processes did not join are all provided for.
//
// # Source
//
// Symbolic ids, lowest free first, pools of request ids for each signature, and
// memory as segments of a search tree, are those of C. Wang, Y. Guo, P. Balaji and
// M. Snir, "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE
// TPDS 34(1), 2023, §2.3.3 and §2.4.2; recording only the freeing of segments that
// calls used is §3.3.3. This package departs from it in names of communicators,
// which there take additional collective communication; in allowing for several
// requests with one handle; in keeping segments in a B+ tree and giving them ids
// when they are first used; and in static data and stacks, where it keeps
// displacements instead of an id for each address.
package symbolic

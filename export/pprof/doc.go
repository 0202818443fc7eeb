// Package pprof writes the calls of a trace as a profile of pprof: how often functions
// are called, and how long that takes, by function and by the loops in which they stand.
// go tool pprof shows it, as text, as a graph or, with -http, as a flame graph in the
// browser, and so does what else reads these profiles.
//
// # Samples
//
// A sample has the values
//
//	calls  count        how many calls there are
//	time   nanoseconds  that they take, if the trace has times; it is the one shown
//
// and the stack of a call. The innermost frame is the function. A trace has no stacks of
// the program; in their place are the loops around the call, as its grammar has them,
// the innermost first: a loop is named after how often it goes round and the functions
// that it calls, in the order of their first call, as in
//
//	loop 250 × MPI_Irecv MPI_Isend MPI_Waitall
//
// so that a loop that is entered again with another count is another frame. Between two
// calls, the program does something else: that is the function (outside calls), with the
// time and no calls, in the loops of the call that comes after.
//
// Samples have the labels
//
//	rank   number of the rank, as text; or, of more than [MaxRanks],
//	ranks  those of the same control flow that are chosen and have calls, as in 0-62:2
//	call   the call as [reprise.Printer] writes it; not of more than MaxRanks
//
// by which go tool pprof divides and chooses, as with -tagroot rank, -tagleaf call and
// -tagfocus.
//
// # Times
//
// Those of every call, if the trace has them, are added up for equal calls of a rank.
// Otherwise they are estimates: a call takes the mean of its like, of all ranks. The time
// of equal calls is divided among the loops in which they stand by how many there are.
//
// # Cost
//
// The samples come from the grammar of a rank, not from its calls, unless there are times
// of every call to be added up. What a rule of the grammar stands in is followed up to
// 64 different nests of loops; what stands in more counts for the loops that these have in
// common. The profile is in memory before it is written.
//
// # Source
//
// The format is that of github.com/google/pprof, proto/profile.proto, which also writes
// it.
package pprof

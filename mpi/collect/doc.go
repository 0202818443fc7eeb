// Package collect turns what MPI programs have recorded into traces.
//
// A [Collector] reads a spool, see package [mpi], while the processes write it or
// later. It makes symbolic values of raw ones, records the calls with package tracer
// as they come, deletes the segments that it has read, and hands over the parts of
// all ranks for the merge.
//
// # Calls in a trace
//
// A function of the table of package mpi is one of the trace, with its parameters,
// their kinds and directions. Where the arguments of a call are not all there, it is
// a call of another function of the same name, with other parameters:
//
//   - One that does not count in the call, such as the receive count of a gather
//     anywhere but at its root, is left out.
//   - A null pointer, or a constant that stands for no array, such as
//     MPI_STATUS_IGNORE, is a handle of the class constant.
//   - A number or an array of numbers that the call has changed is there twice, as
//     name and as name_out.
//   - Displacements that are addresses are pointers: in a datatype, and in a window with
//     memory that is attached, where the process has memory at the address itself. An
//     address that it has from another process is a number, as it is in no two runs.
//   - A call that failed lacks its outputs, and has for its last argument the class of
//     the error: codes differ from run to run with some MPIs.
//   - A call of another thread than the first that called MPI has for its first
//     argument the number of the thread.
//
// What a function returns other than an error code is its last argument, called
// result. That of MPI_Wtime is left out: it is a time.
//
// # Values
//
//	number    as it is
//	rank      as it is; constants such as MPI_ANY_SOURCE are −1 and less
//	tag       as it is; MPI_ANY_TAG is −1
//	handle    id, lowest free first within the class; constants are −1 and less
//	request   id within a pool for each call that makes requests, see package symbolic
//	pointer   segment and displacement, see package symbolic; static data and stacks
//	          are segments −16 and less; what is less than 65,536 from zero is a number
//	          with the segment −15, called NULL, but for a buffer that is a constant;
//	          stacks of more than 511 threads at a time are unknown memory
//	status    source and tag, or [Implied] where they are those that were asked for, or
//	          say nothing; the class of the error
//
// The ids of constants are the same with every MPI, and a trace says what they are
// called: [merge.Run.Names]. The numbers of the classes of errors are those of the MPI.
// The one that is MPI_ERR_TRUNCATE has its name as that of a handle of the class error,
// if a call failed so.
//
// Where the merge may gain from it, it is told of the rank and the size of the
// process in a communicator, window or file: as long as the process runs, the handle
// must have been of one such group only. In a run of several worlds MPI_COMM_WORLD is
// such a communicator, whose size is taken to be that of the ranks that made calls.
//
// # Order
//
// Calls stand in the order in which they return, those of a callback in front of the
// call that made it. The calls of all threads are one sequence, in the order of time:
// where threads race, it repeats less than what each of them does. A handle that two
// threads hold is told apart by when their calls began: a request belongs to the call
// that waits for it, tests it or frees it until that returns. Of several requests with
// one handle, as MPI gives to operations that are complete when they have begun, a call
// is given the first that its own thread made, if there is one. Calls that do anything
// else with a request, such as MPI_Start, MPI_Cancel or MPI_Grequest_complete, leave it
// where it is, and may be given one that another thread waits for. An object and its id
// belong to the call that frees it from when that begins until it returns, while its
// handle may be that of a new object already; memory is free when the call begins that
// frees or reallocates it.
//
// # Switching
//
// While recording is off, only calls that make and free objects are known. The call
// that switches it on is in the trace, as the one that switches it off is.
//
// An object that was made while recording was off has an id from [symbolic.FirstUnseen]
// on, so that it is not taken for one that the trace tells of.
//
// A request that was made while recording was off has an id of a pool of its own, and
// its status keeps the source and the tag. A request that was made before, and may have
// ended while recording was off, is given up when its handle is used again, unless
// several requests have the handle at a time, as those of operations that are complete
// when they have begun: these stay, and where one of them did end meanwhile, a later
// call that waits for another is said to wait for the earlier.
//
// # Cost
//
// A call takes some 400 ns, and memory only if it is new. Held are, for each process,
// its signatures, its grammar, the objects and allocations that exist, and half a
// mebibyte for each thread.
package collect

// Package chrome writes traces as Trace Event JSON, which Perfetto, Chromium's
// about:tracing, Speedscope and many others open: the form for traces of up to some
// million calls. Package [github.com/reprise-trace/reprise/export/perfetto] writes what
// is smaller and faster to load.
//
// # Form
//
// The file is an object. Its otherData tells where the trace comes from. Its traceEvents
// are, for each rank, which is a process of the number of the rank, metadata events with
// the names of the process and its threads, and with a label that says what its times
// are, and then a complete event, ph X, for each call, in the order in which the calls
// returned:
//
//	ts, dur    start since the run began, and duration, in microseconds, with three digits
//	           after the point
//	pid, tid   rank, and thread + 1, or, if the thread is negative, 2³² + thread
//	name       of the function
//	args       the arguments of the call by their names, and its position in the rank
//
// A name that a call has twice, or that is position itself, is that name with _, and then
// with _2, _3 and so on.
// Integers, ranks and tags without a name are numbers, and floats, all else is text.
// Integers beyond 2⁵³ are strings, for most readers would round them. Names and texts
// that cannot be printed are quoted as in Go.
//
// A message is two flow events of its number as id: ph s at the beginning of the call that
// sends it, and ph f at the end of that with which its receipt ends, such as an MPI_Wait.
// There are some if it is known what the functions mean and the times of every call are.
// Perfetto draws them as arrows from the call that begins first to the other, and leaves
// out those that end before they begin, by clocks that differ.
//
// # Source
//
// The format is that of N. Duca and D. Sinclair, "Trace Event Format", Google, 2013–2016.
package chrome

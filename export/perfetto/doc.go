// Package perfetto writes traces in the protobuf form of Perfetto, which its viewer
// at ui.perfetto.dev and its trace processor open, with SQL over the calls: a fraction
// of the size of the JSON of package [github.com/reprise-trace/reprise/export/chrome].
//
// # Form
//
// A rank is a process, with the number of the rank, and a sequence of packets of its
// own. A thread is a thread of it. A call is a slice with the name of the function,
// which begins and ends in nanoseconds since the run began. Packets are not in the order
// of their times, but an outer call begins before one in it at the same time. Its debug
// annotations are the arguments by their names: integers, ranks and tags without a name as
// int, floats as double, all else as string; and position, the number of the call in the
// rank. A name that a call has twice, or that is position itself, is that name with _, and
// then with _2, _3 and so on. Names and texts that cannot be printed are quoted as in Go.
//
// A message is a flow, from its number in both calls: that which sends it, and that with
// which its receipt ends, such as an MPI_Wait. There are flows if it is known what the
// functions mean and the times of every call are. The viewer draws them as arrows, from
// the call that begins first to the other: that is the one that receives, if it waits for
// the message.
//
// The label of a process says what its times are.
//
//	SELECT name, EXTRACT_ARG(arg_set_id, 'debug.dest'), COUNT(*), SUM(dur) FROM slice GROUP BY 1, 2
//
// # Source
//
// The field numbers are those of the definitions in protos/perfetto/trace of
// github.com/google/perfetto, which stay as they are.
package perfetto

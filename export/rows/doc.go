// Package rows gives the calls of a trace as the rows of a table with typed columns,
// for what writes tables: a row for each call, or one for each rank and signature.
//
// A [Table] says which columns there are, and [Table.Groups] yields the rows in
// portions of bounded size, rank by rank, each rank in the order of its calls. The
// calls of a rank are few different ones that repeat, so a [Group] has a code for each
// row, and most columns are functions of a code, [Column.Cell]: whoever writes the
// table works out what a cell is once for each code, not once for each row. What
// differs from row to row, the position and the times, are integers,
// [Column.AppendInts].
//
// # Columns
//
// Those of calls are
//
//	rank         int    number of the rank
//	position     int    of the call in the calls of the rank, from 0
//	start_ns     int    when the call began, by the clock of the trace, which may count
//	                    from 1970; see time_source
//	duration_ns  int    how long it took; both are missing if the trace has no times
//	time_source  text   what the times are known by: series for the times of the call
//	                    itself; statistics or histograms for an estimate from the
//	                    means of calls like it, as package query makes it
//	function     text   its name
//	call         text   the call as [reprise.Printer] writes it, with ranks relative to
//	                    the caller
//	signature    int    number of the signature of the trace: the same for calls that
//	                    are the same on all ranks, relative to these
//	thread       int    number of the thread, from 0
//
// then, if package semantics knows the functions, what the call means to others,
//
//	class         text  such as point-to-point
//	send_to       int   rank in the run of who the bytes go to
//	send_tag      int
//	send_bytes    int   of what is sent, put, or given to a collective operation
//	recv_from     int   rank in the run of who the bytes come from
//	recv_tag      int
//	recv_bytes    int   of what there is room for, is got, or comes of a collective operation
//	communicator  text  its name in the run, such as world
//	root          int   rank in the run of the root of a collective operation
//
// each missing where the call has no such thing, the trace does not say it, or the call
// has several messages in which they differ; bytes are added up: an MPI_Startall that
// sends to two ranks is one row with the bytes of both and no send_to. Then come the
// arguments, a column for each name of a parameter, in the order in which the functions
// of the trace have them:
//
//	arg_count    int    if all arguments of that name are integers, ranks and tags
//	arg_seconds  float  if all are floating-point numbers
//	arg_comm     text   otherwise
//
// missing where a function has no such parameter, and in a column of numbers where the
// argument is a null pointer or the like. Ranks are those of the communicator of the
// call. In a column of text, a string is as it is, or quoted as in Go if a character of
// it does not print or it begins with a quotation mark; an array of numbers is a JSON
// list, and all else is as a Printer writes it, but for ranks, which are numbers. Names
// of parameters are made of letters, digits and underscores, with _ for other
// characters; where two would be the same, but for case, the later one has _2 after it,
// and so on. At most [MaxArguments] have columns.
//
// Those of signatures are the same without position, start_ns, duration_ns and
// time_source, and
//
//	calls            int    of the signature by the rank
//	total_ns         int    that these took, if the trace has the times of every call,
//	mean_ns          float  and their mean
//	min_ns, max_ns   int    and the least and the most
//	all_calls        int    likewise for the calls of the signature by all ranks, if the
//	all_mean_ns      float  trace has statistics or histograms, whichever ranks and times
//	all_min_ns, all_max_ns  are chosen
//	all_gap_mean_ns  float  mean of the time from the end of the rank's call before
//
// A call has no meaning there if equal calls of the rank mean different things.
package rows

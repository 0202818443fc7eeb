// Package merge folds what the ranks of a run recorded into one trace that does
// not grow with their number, and reads it, rank by rank.
//
// A [Part] is what one rank recorded: a table of its call signatures and a
// grammar over their terminals. An [Accumulator] takes parts, and other
// accumulators, in any order; [Tree] merges many of them on all cores. What
// [Accumulator.Write] writes, [Open] reads as a [Trace]; what
// [Accumulator.WritePart] writes, [ReadPart] reads to be merged further.
//
// # Merging
//
// Ranks record absolute values, and how they are written is decided when those
// of all ranks are known:
//
//   - Ranks with equal grammars over terminals in the order of their first use,
//     and with equal functions and lengths of arrays in these, are one shape.
//     Within it, every integer of every signature, its slot, is a column over the
//     ranks. An Accumulator holds columns as runs that are linear in the rank.
//   - Factoring: shapes that differ in values alone, in which ranks call the same
//     functions in the same order, are united, as far as it makes the trace
//     smaller. Signatures that are apart in one of them are then apart in all.
//   - An argument that varies without a pattern is elastic if that makes the trace
//     smaller by an eighth at least: its slot has the number of a stream, which
//     has its successive values. Ranks with equal values share a stream.
//   - A column that package rankenc fits an expression to is that expression: of the
//     rank in the run or, if that has none, of the rank in the group that the call
//     names, such as its communicator, if [Part.Groups] says what that is. The
//     ranks in the group are a column then, stored once for all calls that name it,
//     where that is smaller. Equal signatures, with the same expressions, of
//     different shapes are one. What has no expression is stored as a column over
//     the ranks of all shapes that have the signature, equal ones once.
//   - The grammars of shapes are over the signatures of the trace, numbered in the
//     order of their first use, and stored as a forest of package sequitur, which
//     writes what they have in common once.
//
// Nothing of that depends on the order in which parts come: equal parts give
// equal bytes. Adding a part takes time in proportion to its size, and writing a
// trace to the shapes, and to the ranks where no run of a column covers them,
// but not to the number of calls: those of a shape are looked at one by one only
// where its grammar is not much shorter, and where shapes are united that are in
// no loop together. Memory is in proportion to the shapes and the runs of their
// columns.
//
// # Sections of a trace
//
// A trace is a container of package format with these sections. The key is the
// number of the section, from 0 on, where there may be several of a kind, and 0
// otherwise. A reader skips kinds that it does not know.
//
//	kind  content
//	1     run: what is known of the run as a whole
//	2     texts: the strings and bytes among the arguments; absent if there are none
//	3     signatures
//	4     columns, one after the other; absent if they are with the signatures
//	5     grammars: number 0 is the shared piece, then for each shape that is not in
//	      it the uvarint length of its piece; the others are these pieces, one
//	      after the other. Terminals are numbers of signatures.
//	6     interleaving: a grammar over ranks, the order in which the calls of all
//	      ranks stood in the source, with every rank as often as it has calls;
//	      absent if they stood rank by rank
//	9     streams of elastic arguments, one after the other
//	10    time summaries: what there is of times by signature; absent if nothing is
//	11    time series: number 0 says where those of each rank are; the others are
//	      these; absent if there are none
//	12    names: what numbers are called; absent if there are none
//	13    origin: who made the trace; absent if it does not say
//
// Columns, pieces of grammars and streams are put into sections in their order, a
// new one being begun where the last would become larger than 64 KiB. So are the
// slices of a column, in sections of their own. If columns take 1 KiB at most, and
// none is in slices, they are the end of the section of the signatures.
//
// The run is encoded as
//
//	ranks      uvarint  number of ranks, at most 2³¹−1
//	source     string   uvarint length and bytes: where the calls come from
//	flags      1 byte   1 if there is an interleaving, 0 otherwise
//	shapes     uvarint  number of shapes; then the ranks of each, a set of package
//	                    rankenc, in the order of their first ranks
//	functions           as package cst encodes them
//
// and the texts as a uvarint number of strings. Numbers that follow each other
// are a column of package rankenc over the positions; how many there are is known
// where it is not said. The signatures are encoded as
//
//	signatures  uvarint   number of signatures << 1, plus 1 if there are streams
//	functions   numbers   of the function of each signature
//	domains     uvarint   number of domains; then the numbers of the shapes of each,
//	                      a set of package rankenc
//	columns     uvarint   number of columns; then for each, uvarint domain << 1, plus
//	                      1 for a matrix, and uvarint length in bytes, or 0 if it is
//	                      in slices: uvarint number of slices, at least 2, and for
//	                      each, uvarint number of positions less 1, which the last
//	                      lacks, and uvarint length in bytes
//	streams               if there are any, as below
//	            for each function that has signatures, in ascending order:
//	lengths     uvarint, numbers  if it has arrays: of all in all signatures, in order
//	masks       numbers   if there are streams: the bits of the slots that have one
//	            for each parameter that is an array:
//	matrices    numbers   of the columns with the elements, of each signature in
//	                      which there are any
//	            for each slot of each other parameter:
//	written     numbers   for each signature: 0 a constant, 1 the rank plus a
//	                      constant, 2 a column, 3 an expression of the rank in a
//	                      group, 4 another expression
//	values      numbers   the constants; then numbers, what is added to the rank;
//	                      then numbers of columns; then those of columns that have
//	                      the ranks in groups, after each of which comes that of the
//	                      sizes; each absent if there are none; then the expressions
//	                      in groups; then the other ones
//
// An int, a rank, a tag, a handle, and the bits of a float take one slot, a string
// or bytes one for the number of a text, a pointer three for segment, displacement
// and device, and a status three for source, tag and error. A column is over the
// ranks of a domain, in ascending order if these are all ranks of the run, and
// shape by shape otherwise. A matrix has the slots of an array in a row for each
// rank, and may refer to those of the same domain since the last whose number
// among these is a multiple of 8.
//
// Of a column of more than 65 KiB a rank would read what it does not need. It is
// stored in slices, over consecutive positions of its domain, each of which is a
// column, or a matrix, over the ranks at these, and takes 65 KiB at most unless it is
// of a single position. A matrix in slices refers to none, and none to it. A column
// stays whole if slices would take an eighth more, or a hundredth more of the file,
// as where all of them need the same dictionary.
//
// Streams are encoded as
//
//	arguments  uvarint  number of elastic arguments; then for each, uvarint function,
//	                    uvarint slot, uvarint number of values, and the values:
//	                    varint, or for a float uvarint 1 more than the zig-zag coded
//	                    number if it is an integer of at most 53 bits, and 0 and its 8
//	                    bytes otherwise
//	streams    uvarint  number of streams; then for each, uvarint number of its
//	                    argument, uvarint length in bytes
//
// and each stream as a byte, 0 for uvarint numbers of values one after the other,
// 1 for a grammar over these. A rank's calls of a function have the values of its
// stream in their order.
//
// Time summaries are of durations and of gaps, of n signatures; in a part file, of
// the n terminals of a shape. They are encoded as
//
//	flags       1 byte    1 for statistics of durations, 2 for histograms; 4 and 8
//	                      for those of gaps
//	statistics  if there are any: uvarint length in bytes, and a table of package
//	            timing with a row for each signature, whose class is its function,
//	            and a column for durations, and one for gaps, if there are any; in a
//	            part file, for durations and then for gaps, those of each terminal, as
//	            package timing encodes them one by one
//	histograms  for durations and then for gaps, if there are any: uvarint length in
//	            bytes, and the histograms
//
// Statistics in part files are exact. In traces the means and variances of more than
// two values are rounded, as [timing.AppendStatisticsTable] says, and no others than
// these: a mean moves by at most 1/4096 of its distance from the nearer extreme, and
// a variance by 1 %. A trace that is read and written again keeps them as they are.
// Where what a signature has in several traces is merged, it is rounded again.
//
// Where factoring makes several signatures of what is one for a rank, the summaries
// stand at the first of them. Number 0 of the series is
//
//	codecs      uvarint   number of codecs; then the name of each, a string, in
//	                      ascending order
//	ranks                 those that have a series, a set of package rankenc
//	codec       numbers   of the codec of each
//	sections    numbers   less 1, in which the series of each begins
//	offsets     numbers   where it begins there, in bytes
//
// and a series is as package timing encodes it, over the terminals of the rank in
// the order of their first use. Its index and its blocks are put into sections one
// after the other, as columns are.
//
// Names are encoded, for each kind and class of which there are any, in ascending
// order, as
//
//	kind    1 byte   of package cst: int, rank, tag, handle or pointer
//	class   string   if it is handle
//	names   uvarint  number of names less 1; then for each, varint value, or
//	                 uvarint difference from the value before, less 1; and the
//	                 name, a string that is not empty
//
// The origin is four lists of texts, as the section of texts is one, each ascending: ids of
// recordings, command lines, hosts and versions; and a varint, nanoseconds since 1970, if
// it has a time.
//
// # Sections of a part file
//
//	kind  content
//	7     part: uvarint ranks; uvarint number of sources, and these as strings;
//	      uvarint number of shapes; uvarint number of interleavings; functions
//	2     texts
//	8     shape: its ranks; uvarint number of terminals; for each, uvarint
//	      function << 1, plus 1 if the call names a group, and uvarint lengths of
//	      arrays; the columns of all slots, those of the rank in the group and of
//	      its size after those of the arguments; then the grammar, to the end
//	6     interleaving of some of the ranks
//	10    time summaries of the shape with that number; those with higher numbers are
//	      of a shape of a trace that was added: uvarint rank, one of that shape;
//	      uvarint number of positions; for each, uvarint distance from the one
//	      before; then the summaries, of the calls that are there
//	11    time series, as in a trace
//	12    names, as in a trace
//	13    origin, as in a trace
//
// A column is, if there are several ranks, the uvarint number of its runs less 1;
// then for each, uvarint number of ranks less 1, except for the last; varint value
// at its first rank, less that of the run before; and if it is of several ranks,
// varint difference of the values of consecutive ranks.
//
// # Limits
//
// Opening a trace costs what its run, texts, signatures and interleaving cost; a
// shape is read when it is asked for, and costs memory in proportion to its
// sections. What ranks have in common is kept for the next one: some shapes, and
// columns, or slices of them, of at most 32 MiB as they are encoded. A rank whose
// columns are more than that reads some of them again. Damage to a slice concerns
// the ranks at its positions alone, see [Trace.OfSlice]. Nothing is allocated by the number of
// ranks. A trace has at most 2²² signatures, with 2²⁴ arrays in them, 2²⁰ names,
// and a piece of its grammars 2²² symbols, or more in proportion to their sections
// if these are long; nothing is written that exceeds a limit. The signatures of a
// rank have at most 2²⁶ values, elements of arrays included, and the domains of
// columns at most 2²² shapes altogether. A rank with streams has at most 2²⁶
// calls, and 2¹⁶ signatures or 16 for each byte of its grammar and streams:
// these are expanded when it is read, into a list if that is no longer than 16
// times its grammar and streams, and else into a grammar. A part file has calls
// of at most 2²⁴ ranks, which is what a few bytes of it can stand for. Sections
// are checked against each other: no terminal is without a signature, no shape
// without a rank, and the interleaving agrees with what every [Part] holds, as
// do the lengths of streams. The options of the [format.Reader] bound what a
// section may expand to.
//
// # Source
//
// Merging the tables and grammars of processes is due to C. Wang, Y. Guo, P. Balaji
// and M. Snir, "Near-Lossless MPI Tracing and Proxy Application Autogeneration",
// IEEE TPDS 34(1), 2023, §2.5; streams of values that vary, to X. Wu and F. Mueller,
// "Elastic and Scalable Tracing and Accurate Replay of Non-Deterministic Events",
// ICS 2013, §3.1. This package departs from both in comparing control flow before
// values, and in choosing how values are written when those of all ranks are known.
package merge

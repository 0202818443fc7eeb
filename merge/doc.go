// Package merge folds what the ranks of a run recorded into one trace that does not grow
// with their number. Package trace reads it.
//
//	var all merge.Accumulator
//	for _, part := range parts { // what tracer.Recorder.Finish returned, of each rank
//		err := all.Add(part)
//		…
//	}
//	err := all.Write(file)
//
// A [Part] is what one rank recorded: a table of its call signatures, a grammar over their
// terminals, and times. An [Accumulator] takes parts, and other accumulators, in any order;
// [Tree] merges many of them on all cores, and [Write] is all of it in one call.
// [Accumulator.WritePart] writes a part file, which [ReadPart] reads to be merged further.
//
// # Merging
//
// Ranks record absolute values. How they are written is decided when those of all ranks
// are known:
//
//   - Ranks with equal grammars over terminals in the order of their first use, and with
//     equal functions and lengths of arrays in these, are one shape. In it, every integer
//     of every signature, its slot, is a column over the ranks. An Accumulator holds columns
//     as runs that are linear in the rank or, if ranks differ in many slots, the values of each
//     rank, packed. Where a call says in which place of the program it was made, that place must
//     be equal, too, but not the calls that led there.
//   - Factoring: shapes that differ in values alone, in which ranks call the same functions
//     in the same order, are united, as far as it makes the trace smaller. Signatures that
//     are apart in one of them are then apart in all.
//   - Arguments that advance from call to call are streams of runs before they come here, see
//     [Streams]: they are merged and written as calls after the last call of the rank.
//   - An argument that varies from call to call without a pattern gets a value stream if that
//     makes the trace smaller by an eighth, or 256 bytes. Its slot has the number of the stream,
//     which has its successive values. Ranks with equal values share a stream.
//   - A column that package rankenc fits an expression to is that expression: of the rank in
//     the run or else, if [Part.Groups] says what that is, of the rank in the group that the
//     call names, such as its communicator. The ranks in the group are a column then, stored
//     once for all calls that name it, where that is smaller. Equal signatures, with the same
//     expressions, of different shapes are one. What has no expression is stored as a column
//     over the ranks of all shapes that have the signature, equal ones once.
//   - The grammars of shapes are over the signatures of the trace, numbered in the order of
//     their first use, and stored as a forest, which writes what they
//     have in common once. Where they nearly repeat, as trip counts differ from rank to rank or
//     calls are left out of some iterations, they are blocks of context mixing instead, if that
//     saves an eighth and some hundred bytes, and the signatures stand in the order of their arguments.
//   - Streams stand in such blocks if that makes the trace smaller: each value is predicted where it
//     stands, by those before it and by the argument that the call has before it. Arguments are chosen by
//     the size of the first shapes with them: one by one, and two of a function that vary together, as an
//     address that grows with another.
//
// How the calls are written is a plan: with groups or without, which shapes are united, which arguments are
// streams, and whether grammars are a forest or blocks. A search tries those that may be smallest, within a
// budget of work in proportion to the calls; file plan.go has it, and all that it decides by.
//
// [Accumulator.WriteBounded] makes a trace that fits a size: what does not repeat gives way to
// distributions, rank by rank, and the rest is merged as above.
//
// The order in which parts come does not matter: equal parts give equal bytes.
//
// docs/format.md has the sections of traces and part files, and the limits of what they hold.
//
// # Cost
//
// Adding a part takes time in proportion to its size. Writing a trace takes time in
// proportion to the shapes, and to the ranks where no run of a column covers them, but not
// to the number of calls: those of a shape are looked at one by one only where its grammar is
// not much shorter, and where shapes are united, of each loop once. Memory is in
// proportion to the shapes and the runs of their columns.
//
// # Source
//
// Merging the tables and grammars of processes is due to C. Wang, Y. Guo, P. Balaji
// and M. Snir, "Near-Lossless MPI Tracing and Proxy Application Autogeneration",
// IEEE TPDS 34(1), 2023, §2.5; streams of values that vary, to X. Wu and F. Mueller,
// "Varying and Scalable Tracing and Accurate Replay of Non-Deterministic Events",
// ICS 2013, §3.1, and so are distributions in place of what does not repeat, §3.4. This package
// departs from both in comparing control flow before values, in choosing how values are written
// when those of all ranks are known, and in keeping sums exact where distributions are.
package merge

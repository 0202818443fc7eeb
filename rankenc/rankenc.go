// Package rankenc implements compact encodings of what differs from process to
// process in a parallel run: the ranks of processes, and values that each of
// them has, such as the peers, counts and tags of the same call.
//
//	var b rankenc.SetBuilder
//	b.AddRange(0, 15)
//	b.Add(20)
//	fmt.Println(b.Finish()) // 0-15, 20
//
// A [Set] is a set of ranks. An [Expr] is a closed form of a value in the rank
// of a process and the size N of its group: rank+1, (rank+1) mod N, the
// neighbour in a process grid. [Fit] finds the expression of fewest bytes that
// yields given values, exactly, or none. Both are immutable, and read without
// expanding them.
//
// docs/format.md has the encodings. A set and an expression have exactly one, and
// no other is accepted.
//
// # Limits
//
// Parsing allocates in proportion to the bytes it was given, never to a number in
// them, nor to the number of ranks. A set of 2³¹ ranks may be 5 bytes: whoever
// expands it asks for the length first. No input makes a method divide by zero or
// index out of range.
//
// # Source
//
// Nested ranklists are those of ScalaTrace: X. Wu and F. Mueller, "Varying and
// Scalable Tracing and Accurate Replay of Non-Deterministic Events", ICS 2013,
// §2.2; this package adds blocks of consecutive ranks, and a canonical form.
package rankenc

// MaxRank is the largest rank: a group has at most 2³¹−1 processes.
const MaxRank = 1<<31 - 2

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
// yields given values, exactly, or none. A [Column] holds values that no
// expression yields, too, and a [Matrix] rows of values, such as the arrays that
// are passed to an all-to-all exchange. All of these are immutable, and read
// without expanding them. A tracer that writes ranks before those of other
// processes are known uses [Relative].
//
// docs/format.md has the encodings. [NewColumn] and [NewMatrix] return the same
// encoding for the same arguments; what is parsed encodes to the bytes it came
// from. A set and an expression have exactly one encoding, and no other is
// accepted. Yet other encodings of the same column or matrix are.
//
// # Limits
//
// Parsing allocates in proportion to the bytes it was given, never to a number in
// them, nor to the number of ranks, with one exception: a matrix of rows of
// different lengths takes an eighth of a byte for each row, and as it needs all
// lengths to be looked at, their number is limited to 1<<22. A column of
// 2³¹ values may be 1 byte, and a row of a matrix as long: whoever expands them
// asks for the length first. Nothing recurses deeper than a matrix that refers to
// another, that to a third, and that to a fourth. A matrix that is entropy coded is held as
// bits, 32 numbers for each byte of its encoding at most. No input makes a method divide by zero or index
// out of range. Pieces of a column that hostile input made overlap are valid, and
// the first of them counts.
//
// # Source
//
// Nested ranklists are those of ScalaTrace: X. Wu and F. Mueller, "Elastic and
// Scalable Tracing and Accurate Replay of Non-Deterministic Events", ICS 2013,
// §2.2; this package adds blocks of consecutive ranks, and a canonical form.
// Relative ranks are those of C. Wang, Y. Guo, P. Balaji and M. Snir,
// "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE TPDS
// 34(1), 2023, §2.4.1; this package departs from it in choosing the expression
// when the values of all processes are known, and in forms that displacements do not cover, such as transposition (§4.1)
// and values relative to nobody.
package rankenc

import (
	"github.com/reprise-trace/reprise/internal/wire"
)

// parse decodes what fills data, and has that name in errors. An error says where and why
// data was rejected. It wraps wire.ErrCorrupt, wire.ErrLimit or [io.ErrUnexpectedEOF].
func parse[T any](data []byte, name string, decode func(*wire.Decoder) T) (T, error) {
	d := wire.NewDecoder("rankenc", data)
	v := decode(&d)
	d.End(name)
	if d.Err() != nil {
		var none T
		return none, d.Err()
	}
	return v, nil
}

// MaxRank is the largest rank: a group has at most 2³¹−1 processes.
const MaxRank = 1<<31 - 2

// Relative returns value as seen from rank, the displacement from one to the
// other in a group of size processes: r with −size/2 < r ≤ size/2 and
// (rank + r) mod size = value. What is no rank of the group stays distinct from
// these: of a negative special value, size is subtracted, which must not
// overflow, and other values are returned as they are. A tracer that writes ranks
// before those of other processes are known may write this in place of value.
func Relative(value, rank, size int64) int64 {
	if value < 0 {
		return value - size
	}
	if value >= size {
		return value
	}
	return center(value-rank, size)
}

// absolute returns the value of which Relative returned r, for the same rank
// and size.
func absolute(r, rank, size int64) int64 {
	switch {
	case r < -size:
		return r + size
	case r >= size || size <= 0:
		return r
	}
	return floorMod(rank+r, size)
}

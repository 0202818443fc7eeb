// Package columns has values that the ranks of a run have, in the encoding that takes the fewest bytes: a
// [Column] has a number for each position of a [Domain], a [Matrix] a row of numbers, such as the arrays
// that are passed to an all-to-all exchange. Both are immutable, and read without expanding them.
//
// [NewColumn] and [NewMatrix] return the same encoding for the same arguments; what is parsed encodes to
// the bytes it came from. Yet other encodings of the same column or matrix are accepted. docs/format.md
// has them.
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
// Relative ranks are those of C. Wang, Y. Guo, P. Balaji and M. Snir, "Near-Lossless MPI Tracing and Proxy
// Application Autogeneration", IEEE TPDS 34(1), 2023, §2.4.1; this package departs from it in choosing the
// expression when the values of all processes are known, and in forms that displacements do not cover, such
// as transposition (§4.1) and values relative to nobody.
package columns

import "github.com/reprise-trace/reprise/internal/wire"

// parse decodes what fills data, and has that name in errors. An error says where and why data was rejected,
// and names rankenc, below which docs/format.md has the fields. It wraps wire.ErrCorrupt, wire.ErrLimit or
// [io.ErrUnexpectedEOF].
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

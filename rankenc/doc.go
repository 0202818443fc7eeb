// Package rankenc implements compact encodings of what differs from process to
// process in a parallel run: the ranks of processes, and values that each of
// them has, such as the peers, counts and tags of the same call.
//
// A [Set] is a set of ranks. An [Expr] is a closed form of a value in the rank
// of a process and the size N of its group: rank+1, (rank+1) mod N, the
// neighbour in a process grid. [Fit] finds the expression of fewest bytes that
// yields given values, exactly, or none. A [Column] holds values of which none
// does, too, and a [Matrix] rows of values, such as the arrays that are passed to
// an all-to-all exchange. All of these are immutable, and read without expanding
// them. A tracer that writes ranks before those of other processes are known
// uses [Relative].
//
// # Integers
//
// A uvarint is a base-128 number, least significant group first, and a varint
// one that is zig-zag coded. Both take their shortest form. Numbers of w bits
// follow each other from the least significant bit of a byte on; the last byte
// is filled with zeros.
//
// # Sets
//
// A set is a nested ranklist or a bitmap, whichever takes fewer bytes:
//
//	set    uvarint  items<<1 for a ranklist, then the items;
//	                size<<1|1 for a bitmap, then that many bytes in the portable
//	                format of Roaring bitmaps
//	item   uvarint  gap<<2|depth, gap being the first rank less the least that
//	                it could be: 0 for the first item, for the others the last
//	                rank of the item before, plus 2
//	       uvarint  number of consecutive ranks, less 1
//	       depth times, how that block, with all repetitions so far, is repeated:
//	stride uvarint  distance of the repetitions, less the distance from the first
//	                rank of a block to the last, less 2
//	count  uvarint  number of repetitions, less 2
//
// Runs of consecutive ranks are nested greedily: from the first to the last,
// equal blocks at equal distance become one block, a lone pair as well, in three
// rounds. A bitmap is not considered for a ranklist of up to 16 bytes, nor for
// one of more than 16 ranks a byte. A set has exactly one encoding, and
// [ParseSet] accepts no other.
//
// # Expressions
//
// An expression is the number of its family, 1 byte, then its parameters: k and m
// as uvarint, less 1, the others as varint. Coordinates x, y and z are those of
// rank in a grid of k columns, m rows, and as many planes as hold the group, or
// as many rows if there is no m, x varying fastest.
//
//	 0  c                   c
//	 1  c                   rank + c
//	 2  c                   (rank + c) mod N
//	 3  c rim               rank + c, or rim if that is not in 0 … N−1
//	 4  a b                 a·rank + b
//	 5  c                   rank xor c
//	 6  k a b c             a·y + b·x + c
//	 7  k m a b d c         a·z + b·y + d·x + c
//	 8  k dx dy             the process at (x+dx, y+dy), with wrap
//	 9  k dx dy rim         the process at (x+dx, y+dy), or rim if there is none
//	10  k m dx dy dz        the process at (x+dx, y+dy, z+dz), with wrap
//	11  k m dx dy dz rim    the process at (x+dx, y+dy, z+dz), or rim
//
// A first byte from 64 to 191 is the constant that it is less 80, and one from
// 192 on rank plus what it is less 224; these have no longer form. Division and
// remainder round down. An expression has exactly one encoding, and [ParseExpr]
// accepts no other. A value may have several expressions.
//
// # Columns
//
// A column is an expression, or one of the following, after a first byte. The
// number of values is that of its [Domain], and not written.
//
//	32  runs        uvarint number of runs; for each, varint value less that of
//	                the run before, uvarint length less 1, which the last lacks
//	33  packed      varint least value, uvarint width, then what each value is
//	                more than the least, in width bits
//	34  dictionary  uvarint number of distinct values less 1; varint first value,
//	                uvarint steps to the next, less 1; then the number of each
//	                value among these, in the bits that the largest number takes
//	35  deltas      for each block of 64 values, varint first value less that of
//	                the block before, varint least step, uvarint width; then for
//	                each block what each further step is more than the least, in
//	                width bits, from a new byte on
//	36  pieces      uvarint number of pieces, 1 to 8; for each, the set of its
//	                positions and an expression; then a column, none of the last two
//	                rows, of the values at all other positions
//	37  relative    a column, none of the last two rows, of what [Relative] returns
//	                for the values
//
// # Matrices
//
// A matrix is one of the following, after a first byte. References are to the
// list of matrices that is passed along with it, and only to one that itself
// refers to less.
//
//	0  same        uvarint number of the matrix that has the same rows
//	1  transposed  uvarint number of the matrix of which the rows are the columns
//	2  sums        uvarint number of a matrix, column of bases, varint scale: each
//	               element is the base of its row plus scale times the sum of the
//	               elements before it in the same row of that matrix
//	3  equal rows  uvarint length, column of the elements of every row
//	4  one column  uvarint length of the rows, column for every element
//	5  columns     uvarint length of the rows, column of the numbers of columns
//	               for each element, uvarint number of columns, then the columns
//	6  flat        column of the lengths of the rows, column of all elements
//
// A column of the elements of a row has the positions as its ranks, and the
// length as the size of the group.
//
// [NewColumn] and [NewMatrix] return the same encoding for the same arguments;
// what is parsed encodes to the bytes it came from. Yet other encodings of the
// same values are accepted.
//
// # Limits
//
// Parsing allocates in proportion to the bytes it was given, never to a number in
// them, nor to the number of ranks, with one exception: a matrix of rows of
// different lengths takes an eighth of a byte for each row, and as it needs all
// lengths to be looked at, [ParseOptions.MaxLen] bounds their number. A column of
// 2³¹ values may be 1 byte, and a row of a matrix as long: whoever expands them
// asks for the length first. Nothing recurses deeper than a matrix that refers to
// another that refers to a third. No input makes a method divide by zero or index
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

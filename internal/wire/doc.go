// Package wire holds what the encodings of the module share: a cursor over input
// nobody vouches for, the variable-length integers, the checksum, and the error
// that says where input was rejected.
//
// # Integers
//
// An unsigned integer is a base-128 varint, least significant group first, in
// its shortest form. A signed integer is zig-zag coded first. A longer form of
// the same number is rejected, so a value has exactly one encoding.
//
// # Limits
//
// A [Decoder] allocates nothing. [Decoder.Count] refuses a number of elements
// that the rest of the input cannot hold, so what a caller allocates follows
// from the bytes it holds and never from a number in them.
package wire

// Package spool reads what the interposer of package interpose writes: raw records of the calls
// and the memory of the threads of a process.
//
// [List] finds the files of each thread, and a [ThreadReader] reads those of a thread that
// has ended. A [Decoder] decodes what a thread has recorded, as far as it has got: each
// call when it has returned, and one that takes requests or frees an object also when
// it begins.
//
// A spool is a directory of segments. Each thread appends to its own, in a mapping shared
// with the kernel, so that what a killed process has written stays. A [Keeper] keeps what was
// read of segments in short, so that they can be removed, and a [KeptReader] reads that.
// docs/format.md has the layout of all of them.
//
// # Limits
//
// A spool may be cut off or damaged, or made by anyone. A [Decoder] checks the length of everything against
// the bytes that are there, and takes memory in proportion to those of the records of calls that have begun
// and not ended, at most 256. A [KeptReader] takes at most 256 times the bytes of a chunk, and 1 MiB. A
// segment of a table other than that of the package is refused.
package spool

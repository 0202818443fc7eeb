// Package spool reads what the interposer of package mpi writes: raw records of the calls
// and the memory of the threads of a process.
//
// [List] finds the files of each thread, and a [ThreadReader] reads those of a thread that
// has ended. A [Decoder] decodes what a thread has recorded, as far as it has got: each
// call when it has returned, and one that takes requests or frees an object also when
// it begins.
//
// A spool is a directory of segments. Each thread appends to its own, in a mapping shared
// with the kernel, so that what a killed process has written stays. docs/format.md has
// the layout of segments and records.
//
// # Limits
//
// A spool may be cut off or damaged, or made by anyone. A [Decoder] checks the
// length of everything against the bytes that are there, and takes memory in
// proportion to those of the records of calls that have begun and not ended, at
// most 256. A segment of a table other than that of the package is refused.
package spool

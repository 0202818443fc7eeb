// Package cst implements call signature tables: the distinct calls of a process,
// each with a small number, the terminal, that stands for it in a grammar.
//
// A [Function] declares its parameters and their types. A [Value] is the value
// of one argument. A [Table] takes a function and argument values, which
// together are a signature, and returns the terminal of that signature. The
// package knows kinds of arguments, such as ranks and handles, and no library of
// functions in particular.
//
// # Signatures
//
// A signature is encoded as the number of its function, a uvarint, followed by
// the argument values in the order of the parameters. The type of a parameter
// says how its value is encoded; no tags are written.
//
//	int, rank, tag, handle   varint
//	float                    8 bytes, IEEE 754, little-endian
//	string, bytes            uvarint length, then that many bytes
//	pointer                  varint segment, varint displacement, varint device
//	status                   varint source, varint tag, varint error
//	array                    uvarint length, then that many elements
//
// A uvarint is a base-128 number, least significant group first, and a varint
// one that is zig-zag coded. Both take their shortest form, so that signatures
// are equal exactly if their encodings are.
//
// # Tables
//
// A table is encoded as
//
//	version     1 byte   1
//	functions   uvarint  number of functions, then the functions
//	signatures  uvarint  number of signatures, then the signatures
//	counts               for each signature, a uvarint count of its calls
//
//	function    name     of the function
//	            uvarint  number of parameters, then the parameters
//	parameter   uvarint  0 for one that is new, n+1 for the same as number n
//	  if new:   name     of the parameter
//	            type     1 byte, kind | direction<<4, where int is kind 1 and so on
//	                     in the order of the constants; after each array, 1 byte
//	                     for the kind of its elements
//	            name     of the class, if the type is a handle or ends in one
//	name        uvarint  length<<1 for one that is new, followed by its bytes;
//	                     n<<1|1 for the same as number n
//
// Functions and signatures stand in the order of their numbers. Names and
// parameters are numbered from zero as they first occur. Nothing is written
// twice and nothing follows the last field, so a table has exactly one encoding.
//
// A table that stands alone is encoded by [Table.AppendBinary] and decoded by
// [Parse]. A file that holds one list of functions for many tables, or that
// knows the counts from elsewhere, uses [Table.AppendFunctions] with
// [ParseFunctions] and [Table.AppendSignatures] with [ParseSignatures]: the
// fields functions and signatures alone, without a version. Neither form has a
// checksum; it is for the container to have one.
//
// # Limits
//
// Arrays nest no deeper than [MaxDepth], a name has no more than [MaxName] bytes
// and a signature no more than [Options.MaxValues] values. Decoding a table
// allocates in proportion to the bytes that encode it, no more than about 200
// for each byte of functions and 40 for each byte of signatures, and decoding a
// signature 32 for each, never in proportion to a number read from them. Looking
// up a signature takes expected time in proportion to its size on hostile input,
// too: the hash is seeded at random, and what is found does not depend on it.
//
// # Source
//
// The call signature table is that of C. Wang, Y. Guo, P. Balaji and M. Snir,
// "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE TPDS
// 34(1), 2023, §2.1; merging two of them is §2.5.1. This package departs from it
// in declaring functions with typed parameters instead of knowing those of MPI,
// in leaving times out, and in keeping ranks as they are: §2.4.1 writes them
// relative to the caller before it is known what other processes do.
package cst

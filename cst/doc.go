// Package cst implements call signature tables: a call with its arguments becomes a
// small number, the terminal, which equal calls share.
//
//	var table cst.Table
//	send := table.Declare(cst.Function{Name: "send", Params: []cst.Param{
//		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
//		{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}},
//	}})
//	table.Intern(send, cst.Rank(1), cst.Int(64)) // 0
//	table.Intern(send, cst.Rank(2), cst.Int(64)) // 1
//	table.Intern(send, cst.Rank(1), cst.Int(64)) // 0 again
//
// A [Function] declares its parameters and their types. A [Value] is the value of one
// argument. A function and argument values together are a signature, and a [Table]
// numbers the signatures. The package knows kinds of arguments, such as ranks and
// handles, and no functions in particular.
//
// [FunctionOf] makes a function of a struct of Go and its tags, and [ValuesOf] the arguments
// of a call.
//
// [Table.AppendBinary] encodes a table, and [Parse] decodes it.
// [Table.AppendFunctions] and [ParseFunctions] do that for the list of functions alone.
// docs/format.md describes both encodings. Neither has a checksum: the container has.
//
// # Limits
//
// Arrays nest at most 32 deep, a name has at most [MaxName] bytes and a signature at most [MaxValues] values:
// [Table.TryIntern] refuses what Parse would. Decoding allocates memory in proportion to the bytes read: at
// most about 200 bytes for each byte of functions, 40 for each byte of signatures in a table, and 32 for each
// byte of one signature. Looking up a signature takes expected time in proportion to its size, on hostile
// input too: the hash is seeded at random. No output depends on the seed.
//
// # Source
//
// The call signature table is that of C. Wang, Y. Guo, P. Balaji and M. Snir,
// "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE TPDS 34(1), 2023,
// §2.1; merging two of them is §2.5.1. This package departs from it in three ways:
// functions declare typed parameters, times are kept elsewhere, and ranks stay as they
// are, where §2.4.1 writes them relative to the caller before other processes are known.
package cst

// Package grammar implements a codec for the times of calls that folds the
// symbols of exponential bins into a context-free grammar: a loop whose rounds
// take the same time is small however often it runs.
//
//	codec, err := grammar.New(0.01) // within 1 %
//	blocks := column.Encode(codec)
//
// It is for times that repeat. Real times hardly do; then it is larger and slower than
// the codecs of [timing].
//
// docs/format.md has the encoding.
//
// # Limits
//
// A block of n bytes can stand for [timing.Options.MaxValues] values, of which a
// decoder holds none: its memory is in proportion to n.
//
// # Source
//
// The codec is the CFG-based one of C. Wang, Y. Guo, P. Balaji and M. Snir,
// "Near-Lossless MPI Tracing and Proxy Application Autogeneration", TPDS 34(1),
// 2023, §2.3.2, but for its bins, of which there are half as many, and for the
// grammar, whose symbols have counts.
package grammar

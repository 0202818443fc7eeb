// Package grammar implements a codec for the times of calls that folds the
// symbols of exponential bins into a context-free grammar: a loop whose rounds
// take the same time is small however often it runs.
//
// It is the codec of [timing] for who has times that repeat. Real times hardly
// do; then it is larger and slower than the others.
//
// # Encoding
//
// A block is encoded as
//
//	escapes  uvarint  of float64 only: number of values that escape the bins, then
//	                  8 bytes for each, little-endian
//	grammar           as in package sequitur, up to the end of the block
//
// The terminals of the grammar are 2s for a symbol s ≥ 0 of the bins, −2s−1 for
// s < 0, and 2·Max+1 for values that escape.
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

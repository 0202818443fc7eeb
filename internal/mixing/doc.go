// Package mixing encodes sequences of symbols in blocks in which each is predicted by
// what came before it in the block: by context mixing. A block is smaller than a
// internal/forest where sequences nearly repeat, or differ in little, and takes a
// microsecond or two for each symbol of a sequence as nested loops, to write and to read.
//
// [Append] makes blocks of the grammars of sequences, its members, and of the values of
// streams that their symbols take. An [Alphabet] is what is known of symbols. [Len]
// estimates the size of blocks, in half the time, and a [Parser] reads them.
//
// # Limits
//
// A Parser accepts as many items of nested loops as a block, of some bytes, may have: 2¹⁶, and
// 2¹¹ for each byte, but 2¹⁸ at most. Loops are 256 inside one another at most.
//
// # Source
//
// A bit is predicted in several contexts, and the predictions are mixed, as in M. Mahoney,
// "Adaptive Weighing of Context Models for Lossless Data Compression", TR CS-2005-16,
// Florida Institute of Technology, 2005.
package mixing

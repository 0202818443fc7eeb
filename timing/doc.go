// Package timing keeps the times of calls in few bytes: how long each call took, and
// the gap before it, in nanoseconds.
//
//	entropy, err := timing.NewEntropy(0.01)                              // within 1 %
//	column := timing.Column[time.Duration]{Values: latencies}            // of requests, say
//	blocks := column.Encode(entropy)
//	all, err := timing.Compare([]timing.Column[time.Duration]{column}, timing.CompareOptions{})
//
// A [Codec] encodes a column of values, one for each call of a rank, incrementally and
// in blocks, and says what it guarantees. There are
//
//   - [NewExponential]: bins of a relative error ε, in as many bits as they need;
//   - [NewHIST]: bins, the frequent ones of a signature in short codes;
//   - [NewEntropy]: bins, in as many bits as remain after adaptive modelling;
//   - [NewLossless]: exact values, compressed by zstd or LZ4;
//   - [NewSplit]: one of several codecs, by signature;
//
// and, in package timing/grammar, a grammar of bins. [Compare] says what each makes of
// your own column. A [SeriesCodec] joins two columns to the [Time] of each call,
// without drift: a [SeriesBuilder] makes a [Series], which is read from any block of
// calls on. A [Writer] streams values to a file, of which a [Reader] reads any value or those from
// any on. [Register] makes codecs of other packages known by their names, so that files and traces can have them.
//
// [Statistics] are count, min, max, mean and standard deviation of a signature, for
// those who keep no single times, and [AppendStatisticsTable] writes those of many
// signatures in few bytes. A [Histogram] adds how the times are distributed: of each
// signature, or of each after another, in [Histograms].
//
// The signatures of the calls are not stored: a codec is given the terminals of the
// calls in both directions, and a decoder must be given the same. A decoder that is
// given others returns other values, or an error.
//
// The encodings are described in docs/format.md.
//
// # Limits
//
// A few bytes can stand for many values. A decoder accepts at most
// [Options.MaxValues] in a block, and holds memory in proportion to the block, or
// to the number of values if that is larger. Every error of a decoder is a
// [*ParseError]. Decoders do not find all damage, and what they return for a
// damaged block keeps no guarantee.
//
// # Source
//
// HIST, and times as durations and intervals, are those of C. Wang, Y. Guo,
// P. Balaji and M. Snir, "Near-Lossless MPI Tracing and Proxy Application
// Autogeneration", TPDS 34(1), 2023, §2.3.2. This package departs from it in bins
// that grow by (1+ε)/(1−ε), not by 1+ε, so that there are half as many for the
// same error; in gaps, which follow the clock of the decoder; in tables that are
// stored; and in statistics that are exact until they are put in a table.
//
// Histograms are those of P. Ratn, F. Mueller, B. R. de Supinski and M. Schulz,
// "Preserving Time in Large-Scale Communication Traces", ICS 2008, §3.2 and §3.3.
// This package departs from it in that bins are balanced when as many values as
// were said came since the last time, whichever bin they fell in, and until the two
// neighbours with the fewest values have more than half of those in the fullest
// bin; that a bin is split in the ratio that its mean suggests, so that mean and
// variance stay what they were, where the paper takes halves; that a bin is not
// split where all of its values are equal; and that merging does not move the
// values of one histogram to the other, but those of both to a grid.
package timing

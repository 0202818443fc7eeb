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
//   - HIST, by its name, such as "hist,epsilon=0.01,samples=100,bits=5" for [NewCodec]: bins, those of which
//     2⁵ are most frequent among the first 100 values of a signature in short codes;
//   - [NewEntropy]: bins, in as many bits as remain after adaptive modelling;
//   - [NewEntropyFast]: the same in less than half of the time, with some percent more bits;
//   - [NewLossless]: exact values, compressed by zstd or LZ4;
//   - [NewSplit]: one of several codecs, by signature;
//
// and, in package timing/grammar, a grammar of bins. [Codecs] lists them. [Compare] says what each makes of
// your own column. A [SeriesCodec] joins two columns to the [Time] of each call,
// without drift: a [SeriesBuilder] makes a [Series], which is read from any block of
// calls on. Short series of ranks that do the same take fewer bytes if each begins with a [Prior], what others
// taught. A [Writer] streams values to a file, of which a [Reader] reads any value or those from
// any on. [Register] makes codecs of other packages known by their names, so that files and traces
// can have them.
//
// [Statistics] are count, min, max, mean and standard deviation of a signature, for
// those who keep no single times, and [AppendStatisticsTable] writes those of many
// signatures in few bytes. A [Histogram] adds how the times are distributed: of each
// signature, or of each after another, in [Histograms].
//
// # Which codec when
//
// Bytes a value, and nanoseconds to encode and to decode one, of 262,144 values with ε = 1 %: log-normal
// durations (σ = 1, median 20 µs), those of a clock of whole microseconds (σ = 1/4), and a loop of four.
//
//	codec        log-normal   whole µs   loop    encode   decode   guarantee
//	exponential  1.087        0.850      1.148        9        3   ε
//	HIST         2.579        0.864      0.376       17       13   ε
//	entropy      0.966        0.550      0.063      186      196   ε
//	entropy-fast 1.001        0.555      0.065      107      114   ε
//	zstd         2.126        0.559      0.001       81        6   exact
//	LZ4          2.301        1.000      0.009       18        5   exact
//	grammar      2.100        1.101      0.000      144       37   ε
//
// Nanoseconds are those of log-normal values on one core of 2025. So:
//
//   - exponential where every nanosecond counts while the program runs, at 12 % more than entropy;
//   - entropy where bytes count: nothing lossy is smaller, but for exact repetition;
//   - entropy-fast where both do: a few percent larger, and with ε = 10 %, some 60 ns where entropy takes 140;
//   - zstd where values must be exact, or have few different digits: of a clock that ticks in
//     microseconds it is as small as what loses;
//   - LZ4 for exact values at the cost of bins;
//   - HIST to compare with others' figures: where durations scatter it is larger than zstd, which is exact;
//   - grammar where the times of a loop are the same each time, as those of a simulator.
//
// The smaller ε is, the closer are bins and exact values: [Compare] says it of your values.
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

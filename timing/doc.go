// Package timing implements codecs for the times of calls: how long each took,
// and how long after the call before it, or after the last of its kind, it began.
//
// A [Codec] encodes a column of values, one for each call of a rank, on line and
// in blocks, and says what it guarantees. Values are int64 nanoseconds or float64
// seconds. There are
//
//   - [Exponential]: bins of a relative error ε, in as many bits as they need;
//   - [HIST]: bins, the frequent ones of a signature in short codes;
//   - [Entropy]: bins, in as many bits as what came before leaves unknown;
//   - [Lossless]: all bits;
//   - [Split]: one of several codecs, by signature;
//
// and, in package timing/grammar, a grammar of bins. A [SeriesCodec] puts two
// columns together to the [Time] of each call, without drift: a [SeriesBuilder]
// makes a [Series], which is read from any block of calls. [Statistics] are what
// is kept of a signature where no times of single calls are, and
// [AppendStatisticsTable] writes those of many signatures in few bytes. A [Histogram] is
// that and how the times are distributed: of each signature, or of each that
// comes after another, in [Histograms].
//
// What calls are of which signature is not stored: a codec is given the terminals
// of the calls in both directions, and a decoder must be given the same. A
// decoder that is given others returns other values, or an error.
//
// # Encodings
//
// Integers are variable-length and take their shortest form: uvarint unsigned,
// varint zig-zag coded. float64 and its bits are 8 bytes, little-endian. Bits are
// packed from the least significant of each byte on, and the last byte is filled
// with zeros. The parameters of a codec are not in its blocks, but in its name.
// Nothing has a checksum: what contains it has one.
//
// The symbols of values are described at [Bins], and the blocks of Entropy at
// [Entropy]. A block of Exponential is
//
//	values   uvarint  number of values
//	escapes  uvarint  of float64 only: number of values that have no symbol
//	         8 bytes  for each
//
// and then for each 128 symbols, or those that are left,
//
//	least    varint   symbol
//	width    1 byte   bits of the largest difference from it
//	symbols           that many bits for each: its difference from the least;
//	                  the symbol of a value that escapes is Max+1
//
// A block of HIST is
//
//	values   uvarint  number of values
//	clusters uvarint  number of signatures, which follow by first use in the block:
//	samples  uvarint  number of values at the beginning that are kept as they are
//	coded    uvarint  number of values after them
//
// and if there are coded ones
//
//	escapes  uvarint  number of those that have no code
//	table    uvarint  number of symbols that have one
//	         varint   the first, then a uvarint for each: its distance from the one
//	                  before it, less one
//	codes             for each value 1 bit, which is 0 if it has a code, and that:
//	                  the symbol's place in the table, in as many bits as the last
//	                  place needs
//
// and then of every cluster
//
//	kept     uvarint  number of bytes
//	         varint   for each value that is kept as it is; of float64, its bits
//
// In a block of Lossless, a piece of n bytes, n > 0, is
//
//	head     uvarint  0: the bytes follow; 1: one byte follows, which all are like;
//	                  otherwise the compressed length, plus one
//	                  the compressed bytes: a frame of Zstandard without its magic
//	                  number, or a block of LZ4
//
// and a counted piece is n as a uvarint before it, if n is 0 alone. The block is
//
//	values     uvarint  number of values, and if it is not 0
//	decimal    uvarint  of float64 only: 1 if values are n/10⁹, each for its number
//	                    n; 0 if they have the bits n, where of negative ones all
//	                    bits but the sign are inverted
//	resolution uvarint  T in units of 2⁻³², or 0 for none
//	clusters   uvarint  number of signatures, by first use in the block, or 1 for
//	                    all values in the order of the calls
//	sizes      counted  uvarint for each cluster: number of values, less one; absent
//	                    for one cluster
//	least      counted  varint for each cluster: its least number
//
// and then for each chunk, as many clusters as have 4,096 values or the last ones,
//
//	planes     1 byte   bytes of the largest number, or 9
//	           pieces   for each byte, the least significant first, those of all
//	                    numbers in the chunk; or if planes is 9
//	           counted  uvarint for each number
//
// The least number of its cluster is added to each. If there is a resolution,
// the numbers k so far stand for ⌊k·T⌋, and these follow:
//
//	flags      8 pieces one bit for each number, 1 to be added to it: in the first
//	                    those with k·T − ⌊k·T⌋ < ⅛, and so on
//	exceptions counted  for numbers to which more is added: uvarint for the numbers
//	                    between this and the one before; uvarint for what is added
//
// A block of Split is the blocks of its codecs, each after its length as a
// uvarint.
//
// A block of a series is
//
//	calls      uvarint  number of calls, and if it is not 0
//	start      varint   of the first, in nanoseconds; of float64, its bits
//	unit       uvarint  of corrections, or 0 if there are none: nanoseconds; of
//	                    float64, places in the order of all of them
//	corrections uvarint if there are any: length in bytes of a number, and this
//	durations  uvarint  length of the column's block
//	                    and the block
//	lapses              the block, up to the end
//
// The first call starts at the start. With gaps, any other starts where the one
// before it ended, as decoded and corrected, plus its lapse. With intervals, it
// starts where the one before it with the same terminal did, or at the start of
// the block, plus its lapse. NaN that this gives has the bits 7FF8000000000000₁₆. A
// correction, of so many units, is added to that.
//
// Corrections are range-coded as Entropy is, with adaptive counters. Of every call
// there is a bit whether it has one, with a counter for each class and each
// combination of these bits of the two calls before. If so, there follow a bit for
// the sign; for n = 1, 2 and so on up to 63, as long as it is 1, a bit whether the
// amount has more than n bits, with a counter for each class and n, which begins with
// what all classes have learned; and the bits of the amount after the first, where
// the first of these has a counter for each number of bits, and others are as likely
// 0 as 1. The class of a call is the number of bits of |lapse|, plus, with gaps, the
// |duration| of the call before, less the number of bits of the unit; of float64, the
// exponent of the larger of the two, less that of the block's start, less the number
// of bits of the unit, plus 52; and 0 below that, 31 above.
//
// A series is
//
//	calls      uvarint  number of calls, and if it is not 0
//	pieces              if there are several: a byte 0, and uvarint number of them
//	block      uvarint  number of calls of every block but the last of each piece
//	calls      uvarint  of each piece but the last
//	lengths    uvarint  for each block
//	blocks
//
// Statistics are
//
//	count      uvarint  number of values, at most 2⁶³−1
//	non-finite uvarint  of float64 only: number of those that are left out, likewise
//
// and if there are values
//
//	minimum    varint   of float64, its bits
//	maximum    uvarint  its distance from the minimum; of float64, its bits
//	minimum rank, maximum rank  uvarint
//
// and if the minimum is not the maximum, and the count below 2⁶³−1, with distances
// x from the minimum, of float64 in units of 2⁻¹⁰⁷⁴ and its square,
//
//	sum        Σx: uvarint number of bytes; of float64, uvarint number of zero bytes
//	           left out below them; and the bytes, the most significant first
//	squares    Σx², likewise
//
// A table of statistics of int64, of rows and columns that the decoder knows, is a
// byte, the number of bits of the highest rank, and a number that is range-coded as
// Entropy is. Below, numbers are natural; of one there is first how many bits it
// has, and then all of these but the highest. Of each row there is, column by
// column,
//
//	none       1 bit    of the first column: 1 if there are no values, which has the
//	                    probability 1/8
//	recent     bits     of the first column, if there are values: for each of four
//	                    counts, at the start 1, 2, 3 and 4, whether it is that, until
//	                    it is; it is moved, or put, to the front of these then
//	same       1 bit    of the other column: 1 if the count is that of the first
//	count      number   if it is still unknown
//
// and if there are values
//
//	sign       1 bit    1 if the minimum is negative
//	minimum    number   its magnitude
//	width      number   maximum − minimum, of several values
//	minimum rank        for each rank that it may be, which is that of the row before
//	                    or, in the other column, those of the first if there are any:
//	                    a bit whether it is that, until it is; if it is none of these,
//	                    the bits of the rank, as many as the byte says
//	maximum rank        likewise, if the width is not 0; it may be that of the
//	                    minimum, then that of the row before or, in the other column,
//	                    those of maximum and minimum in the first
//
// and if the width w is not 0, and the count n below 2⁶³−1, where R is the sum of the
// distances from the minimum of all values but one minimum and one maximum, which is
// at most (n−2)·w,
//
//	far        1 bit    unless n is 2: 1 if R is above the middle of its range
//	sum        number   likewise: R, or (n−2)·w − R; if w is 256 at least, rounded
//	                    to 12 binary digits, and at most half the range
//	squares    number   unless it can only be 0: by how much the sum of the squares
//	                    of all distances is above the least that it can be, which is
//	                    w² + R²/(n−2), rounded up, rounded to 7 binary digits; it can
//	                    be at most (⌊R/w⌋+1)·w² + (R mod w)² − this
//
// Where the rounded number is beyond what is possible, that is the number. In front
// of zeros that rounding leaves, bits are left out. Bits are predicted, those of a
// number by these before it and by what was known before it, such as the class of
// the row, and up to the fourth of the highest bits; others, and the bits of a rank,
// are as likely 0 as 1.
//
// A histogram is the statistics, and if the maximum is above the minimum, and the
// count below 2⁶³−1,
//
//	level      uvarint  0: bins follow; otherwise cells, of the level one below
//
// For bins, that is followed by
//
//	bins       uvarint  number of bins, and for each
//	gap        uvarint  but for the first: its distance from the end of the bin
//	                    before; of int64, less one
//	width      uvarint  but for the last: the distance between its ends
//	values     uvarint  but for the last: number of values, less one
//	mean       4 bytes  if the width is not 0: (mean − low)/(high − low) as float32
//	shape      1 byte   likewise: log₂t + 3
//
// The first bin begins with the minimum, and the last ends with the maximum and
// has the values that are left. Other ends of float64 are those whose magnitude
// has bits that are a multiple m of 2³²: distances are those of m, with the
// sign, rounded down. Of the values in a bin the share (high−mean)/(high−low) is
// below the mean, and they are mean − (mean−low)·uᵗ there and mean + (high−mean)·uᵗ
// above, where u is uniform from 0 to 1. What is beyond ±2⁴⁰⁰ is as if there.
//
// Cells are those that have values. The first is that of the minimum, and the
// last that of the maximum and of the values that are left. If these differ, there
// follow
//
//	cells      uvarint  number of cells between them, and for the first and each
//	                    of these
//	distance   uvarint  but for the first: from the cell before, less one
//	values     uvarint  number of values, less one
//
// On level 0, the value 0 is in cell 0, an integer n > 0 in cell 64k + ⌊n/2ᵏ⌋ with
// the least k ≥ 0 for which ⌊n/2ᵏ⌋ < 128, a float64 > 0 with bits b in cell
// ⌊b/2⁴⁶⌋ + 1, and −v in the one with the negative number. Cell i of level 0 is in
// cell ⌊i/2ᵏ⌋ of level k. The level is the least on which there are at most 512.
//
// Histograms are
//
//	histograms uvarint  twice the number of histograms, plus 1 if they are
//	                    path-sensitive, and for each, by path:
//	terminal   uvarint  its distance from that of the histogram before, or from 0;
//	                    without paths, from that of the one before, less one
//	previous   uvarint  of path-sensitive ones; for the first with the terminal: 0 for
//	                    none, or the previous one, plus one; or else the distance
//	                    from the histogram before, less one
//	                    and the histogram
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

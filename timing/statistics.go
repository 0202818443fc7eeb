package timing

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wide"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Statistics are what is kept of the values of one signature where not each of
// them is. The zero Statistics are those of no value. They are exact: merging
// gives the same, to the byte, in whatever order and grouping the ranks come.
//
// Where there are 2⁶³−1 values or more, that is their number, and of the values no
// more is kept than the extremes: one half is taken to be the minimum, one the
// maximum.
type Statistics struct {
	// Count is the number of values, at most 2⁶³−1.
	Count uint64

	// Min and Max are the extremes, and MinRank and MaxRank the lowest ranks in
	// which they occurred. All are zero without values.
	Min, Max         int64
	MinRank, MaxRank uint32

	sum     [2]uint64 // two's complement, least significant word first
	squares [3]uint64
	slack   uint64 // see SumError
}

// manyValues is the number of values from which on they are not told apart.
const manyValues = math.MaxInt64

// Add adds a value that occurred in a rank. It takes constant time.
func (s *Statistics) Add(rank uint32, v int64) {
	var carry uint64
	s.sum[0], carry = bits.Add64(s.sum[0], uint64(v), 0)
	s.sum[1] += uint64(v>>63) + carry
	sign := v >> 63
	mag := uint64((v ^ sign) - sign)
	hi, lo := bits.Mul64(mag, mag)
	s.squares[0], carry = bits.Add64(s.squares[0], lo, 0)
	s.squares[1], carry = bits.Add64(s.squares[1], hi, carry)
	s.squares[2] += carry
	if s.Count == 0 || v <= s.Min || v >= s.Max {
		s.extremes(v, v, rank, rank)
	}
	s.Count = min(s.Count+1, manyValues)
}

// extremes takes account of extremes of at least one value.
func (s *Statistics) extremes(least, most int64, leastRank, mostRank uint32) {
	if s.Count == 0 {
		s.Min, s.Max, s.MinRank, s.MaxRank = least, most, leastRank, mostRank
		return
	}
	if least < s.Min || least == s.Min && leastRank < s.MinRank {
		s.Min, s.MinRank = least, leastRank
	}
	if most > s.Max || most == s.Max && mostRank < s.MaxRank {
		s.Max, s.MaxRank = most, mostRank
	}
}

// Merge adds the values of o, which does not change.
func (s *Statistics) Merge(o *Statistics) {
	if o.Count == 0 {
		return
	}
	s.extremes(o.Min, o.Max, o.MinRank, o.MaxRank)
	s.Count = min(s.Count+o.Count, manyValues)
	addWords(s.sum[:], o.sum[:])
	addWords(s.squares[:], o.squares[:])
	s.slack = wire.AddSat(s.slack, o.slack)
}

// SumError returns how far the sum may be from that of the values: 0 of those that were
// added, more where [ParseStatisticsTable] has read sums that were rounded, or where
// [Statistics.SetSumError] has said so, and 2⁶⁴−1 if that is not known.
func (s *Statistics) SumError() uint64 {
	if s.Count == manyValues && s.Min != s.Max {
		return math.MaxUint64
	}
	return s.slack
}

// SetSumError sets what SumError returns. [Statistics.AppendBinary] does not keep it.
func (s *Statistics) SetSumError(bound uint64) { s.slack = bound }

// Integer returns the sum of the values, which [Statistics.Sum] rounds.
func (s *Statistics) Integer() *big.Int {
	sum, _ := s.integers()
	return sum
}

// addWords adds b to a, numbers of equal length, least significant word first.
func addWords(a, b []uint64) {
	var carry uint64
	for i := range a {
		a[i], carry = bits.Add64(a[i], b[i], carry)
	}
}

// Sum returns the sum of the values, rounded once, to even.
func (s *Statistics) Sum() float64 {
	if n, ok := s.short(); ok {
		return float64(n)
	}
	sum, _ := s.exact()
	f, _ := sum.Float64()
	return f
}

// maxExact is the largest number up to which each integer is a float64.
const maxExact = 1 << 53

// short returns the sum of the values if it is exact as a float64.
func (s *Statistics) short() (n int64, ok bool) {
	n = int64(s.sum[0])
	return n, s.Count != manyValues && s.sum[1] == uint64(n>>63) && -maxExact <= n && n <= maxExact
}

// Mean returns the mean of the values, rounded once; NaN if there is none.
func (s *Statistics) Mean() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	if n, ok := s.short(); ok && s.Count <= maxExact {
		return float64(n) / float64(s.Count)
	}
	sum, _ := s.exact()
	f, _ := sum.Quo(sum, s.count()).Float64()
	return f
}

// Variance returns the mean square of the values' distances from their mean,
// rounded once; NaN if there is none.
func (s *Statistics) Variance() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	sum, squares := s.exact()
	squares.Quo(squares, s.count())
	sum.Quo(sum, s.count())
	f, _ := squares.Sub(squares, sum.Mul(sum, sum)).Float64()
	return f
}

// StandardDeviation returns the square root of [Statistics.Variance].
func (s *Statistics) StandardDeviation() float64 { return math.Sqrt(s.Variance()) }

func (s *Statistics) count() *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).SetUint64(s.Count))
}

// exact returns the sum of the values and that of their squares.
func (s *Statistics) exact() (sum, squares *big.Rat) {
	x, y := s.integers()
	return new(big.Rat).SetInt(x), new(big.Rat).SetInt(y)
}

// integers returns the sum of the values and that of their squares.
func (s *Statistics) integers() (sum, squares *big.Int) {
	x, y := s.words()
	sum = unsigned(x)
	if x.IsNegative() {
		sum.Neg(unsigned(wide.Number{}.Sub(x)))
	}
	return sum, unsigned(y)
}

// unsigned returns a number as one of package math/big.
func unsigned(x wide.Number) *big.Int {
	n := new(big.Int)
	for i := len(x) - 1; i >= 0; i-- {
		n.Lsh(n, 64)
		n.Or(n, new(big.Int).SetUint64(x[i]))
	}
	return n
}

// Share returns what falls to the parts from begin to end of so many equal parts of the values,
// each with the same mean and deviation, but for rounding: shares that follow each other add up
// to s. Its extremes are those of s.
func (s *Statistics) Share(begin, end, parts uint64) Statistics {
	at := func(n wide.Number, k, of uint64) wide.Number {
		n, _ = n.Mul(wide.Of(k)).DivMod(of)
		return n
	}
	count := wide.Of(s.Count)
	first, last := at(count, begin, parts)[0], at(count, end, parts)[0]
	if first == last {
		return Statistics{}
	}
	share := func(n wide.Number) wide.Number { return at(n, last, s.Count).Sub(at(n, first, s.Count)) }
	x := Statistics{Count: last - first, Min: s.Min, Max: s.Max, MinRank: s.MinRank, MaxRank: s.MaxRank}
	if s.slack > 0 {
		x.slack = share(wide.Of(s.slack))[0] + 1 // for rounding
	}
	above, squares := s.distances()
	x.setSums(share(above), share(squares))
	return x
}

// AppendBinary appends the encoding of s to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (s *Statistics) AppendBinary(dst []byte) ([]byte, error) {
	dst = wire.AppendUvarint(dst, s.Count)
	if s.Count == 0 {
		return dst, nil
	}
	dst = wire.AppendVarint(dst, s.Min)
	dst = wire.AppendUvarint(dst, uint64(s.Max)-uint64(s.Min))
	dst = wire.AppendUvarint(dst, uint64(s.MinRank))
	dst = wire.AppendUvarint(dst, uint64(s.MaxRank))
	if s.Min == s.Max || s.Count == manyValues {
		return dst, nil
	}
	above, squares := s.distances()
	dst = appendNatural(dst, above)
	return appendNatural(dst, squares), nil
}

// distances returns the sums of the distances from the least value, which are
// smaller numbers: Σ(x−m) = Σx − n·m and Σ(x−m)² = Σx² − m·(Σx + Σ(x−m)).
func (s *Statistics) distances() (above, squares wide.Number) {
	sum, all := s.words()
	least := wide.Signed(s.Min)
	above = sum.Sub(wide.Of(s.Count).Mul(least))
	return above, all.Sub(least.Mul(sum.Add(above)))
}

// words returns the sum of the values, in two's complement, and that of their squares.
func (s *Statistics) words() (sum, squares wide.Number) {
	if s.Count == manyValues {
		low, high := wide.Of(manyValues-manyValues/2), wide.Of(manyValues/2)
		least, most := wide.Signed(s.Min), wide.Signed(s.Max)
		sum, squares = low.Mul(least), low.Mul(least).Mul(least)
		return sum.Add(high.Mul(most)), squares.Add(high.Mul(most).Mul(most))
	}
	copy(squares[:], s.squares[:])
	return wide.Extended(s.sum[:]), squares
}

// setSums sets the sums from those of the distances.
func (s *Statistics) setSums(above, squares wide.Number) {
	least := wide.Signed(s.Min)
	sum := wide.Of(s.Count).Mul(least).Add(above)
	squares = squares.Add(least.Mul(above.Add(sum)))
	copy(s.sum[:], sum[:])
	copy(s.squares[:], squares[:])
}

// ReadStatistics returns the statistics whose encoding data begins with, and what
// follows it. The error is a [*ParseError].
func ReadStatistics(data []byte) (s *Statistics, rest []byte, err error) {
	d := wire.NewDecoder("timing", data)
	if s = decodeStatistics(&d); s == nil {
		return nil, nil, d.Err()
	}
	return s, data[d.Offset():], nil
}

// decodeStatistics reads statistics. It returns nil if that fails.
func decodeStatistics(d *wire.Decoder) *Statistics {
	s := new(Statistics)
	s.Count = d.UvarintMax("count", manyValues)
	if d.Err() == nil && s.Count > 0 {
		s.decodeExtremes(d)
		if d.Err() == nil {
			s.decodeSums(d)
		}
	}
	if d.Err() != nil {
		return nil
	}
	return s
}

func (s *Statistics) decodeExtremes(d *wire.Decoder) {
	at := d.Offset()
	s.Min = d.Varint("minimum")
	s.Max = int64(uint64(s.Min) + d.Uvarint("maximum"))
	if s.Max < s.Min || s.Count == 1 && s.Min != s.Max {
		d.Corrupt(at, "maximum", "%v of %d values from %v on", s.Max, s.Count, s.Min)
	}
	s.MinRank = uint32(d.UvarintMax("minimum rank", math.MaxUint32))
	s.MaxRank = uint32(d.UvarintMax("maximum rank", math.MaxUint32))
}

// decodeSums reads the sums, unless all values are equal or there are manyValues,
// and checks that values with such extremes can have them.
func (s *Statistics) decodeSums(d *wire.Decoder) {
	at := d.Offset()
	var above, squares wide.Number
	switch {
	case s.Min != s.Max && s.Count == manyValues:
		return
	case s.Min != s.Max:
		above, squares = decodeNatural(d, "sum"), decodeNatural(d, "squares")
		if d.Err() != nil {
			return
		}
		if err := checkSums(s.Count, uint64(s.Max)-uint64(s.Min), above, squares); err != nil {
			d.Fail(at, "sum", err)
			return
		}
	case s.MinRank != s.MaxRank:
		d.Corrupt(at, "maximum rank", "%d, where the minimum is as large in rank %d", s.MaxRank, s.MinRank)
		return
	}
	s.setSums(above, squares)
}

// checkSums checks the sum and the sum of squares of n values from 0 to width,
// which both occur.
func checkSums(n, width uint64, sum, squares wide.Number) error {
	count, most := wide.Of(n), wide.Of(width)
	switch {
	case sum.Less(most) || wide.Of(n-1).Mul(most).Less(sum):
		return fmt.Errorf("%w: sum is %v, of %d values from 0 to %d", ErrCorrupt, unsigned(sum), n, width)
	case squares.Mul(count).Less(sum.Mul(sum)) || sum.Mul(most).Less(squares):
		return fmt.Errorf("%w: squares are %v, of %d values from 0 to %d with sum %v", ErrCorrupt,
			unsigned(squares), n, width, unsigned(sum))
	}
	return nil
}

// appendNatural appends a number ≥ 0: the number of bytes, and these, the most
// significant first.
func appendNatural(dst []byte, n wide.Number) []byte {
	count := (n.BitLen() + 7) / 8
	dst = wire.AppendUvarint(dst, uint64(count))
	for i := count - 1; i >= 0; i-- {
		dst = append(dst, byte(n[i>>3]>>(i&7*8)))
	}
	return dst
}

func decodeNatural(d *wire.Decoder, field string) (n wide.Number) {
	at := d.Offset()
	count := d.Count(field, 1)
	if count > naturalBytes {
		d.Corrupt(at, field, "%d bytes", count)
	}
	digits := d.Bytes(field, count)
	if d.Err() == nil && count > 0 && digits[0] == 0 {
		d.Corrupt(at, field, "not in the shortest form")
	}
	for i, b := range digits {
		k := len(digits) - 1 - i
		n[k>>3&3] |= uint64(b) << (k & 7 * 8)
	}
	return n
}

// naturalBytes is the largest number of bytes of the sums: 2⁶³ values of 128 bits.
const naturalBytes = 24

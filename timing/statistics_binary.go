package timing

import (
	"fmt"
	"math"
	"math/big"

	"github.com/reprise-trace/reprise/internal/wire"
)

// AppendBinary appends the encoding of s to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (s *Statistics[V]) AppendBinary(dst []byte) ([]byte, error) {
	dst = wire.AppendUvarint(dst, s.Count)
	if isFloat[V]() {
		dst = wire.AppendUvarint(dst, s.NonFinite)
	}
	if s.Count == 0 {
		return dst, nil
	}
	if isFloat[V]() {
		dst = wire.AppendUint64(dst, toBits(s.Min))
		dst = wire.AppendUint64(dst, toBits(s.Max))
	} else {
		dst = wire.AppendVarint(dst, int64(s.Min))
		dst = wire.AppendUvarint(dst, uint64(s.Max)-uint64(s.Min))
	}
	dst = wire.AppendUvarint(dst, uint64(s.MinRank))
	dst = wire.AppendUvarint(dst, uint64(s.MaxRank))
	if toBits(s.Min) == toBits(s.Max) || s.Count == manyValues {
		return dst, nil
	}
	above, squares := s.distances()
	dst = appendNatural[V](dst, above)
	return appendNatural[V](dst, squares), nil
}

// distances returns the sums of the distances from the least value, which are
// smaller numbers: Σ(x−m) = Σx − n·m and Σ(x−m)² = Σx² − m·(Σx + Σ(x−m)).
func (s *Statistics[V]) distances() (above, squares *big.Int) {
	sum, squares := s.integers()
	least, n := integer(s.Min), new(big.Int).SetUint64(s.Count)
	above = new(big.Int).Sub(sum, n.Mul(n, least))
	return above, squares.Sub(squares, least.Mul(least, sum.Add(sum, above)))
}

// setSums sets the sums from those of the distances, which it changes.
func (s *Statistics[V]) setSums(above, squares *big.Int) {
	least, sum := integer(s.Min), new(big.Int).SetUint64(s.Count)
	sum.Mul(sum, least)
	sum.Add(sum, above)
	squares.Add(squares, least.Mul(least, above.Add(above, sum)))
	if isFloat[V]() && (sum.Sign() != 0 || squares.Sign() != 0) {
		s.floats = new(floatSums)
	}
	x, y := s.sum[:], s.squares[:]
	if s.floats != nil {
		x, y = s.floats.sum[:], s.floats.squares[:]
	}
	setWords(x, sum)
	setWords(y, squares)
}

// MarshalBinary returns the encoding of s.
func (s *Statistics[V]) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// ParseStatistics returns the statistics encoded in data. The error is a
// [*ParseError].
func ParseStatistics[V Value](data []byte) (*Statistics[V], error) {
	d := wire.NewDecoder("timing", data)
	s := decodeStatistics[V](&d)
	d.End("statistics")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// ReadStatistics returns the statistics whose encoding data begins with, and what
// follows it. The error is a [*ParseError].
func ReadStatistics[V Value](data []byte) (s *Statistics[V], rest []byte, err error) {
	d := wire.NewDecoder("timing", data)
	if s = decodeStatistics[V](&d); s == nil {
		return nil, nil, d.Err()
	}
	return s, data[d.Offset():], nil
}

// decodeStatistics reads statistics. It returns nil if that fails.
func decodeStatistics[V Value](d *wire.Decoder) *Statistics[V] {
	s := new(Statistics[V])
	s.Count = d.UvarintMax("count", manyValues)
	if isFloat[V]() {
		s.NonFinite = d.UvarintMax("non-finite", manyValues)
	}
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

func (s *Statistics[V]) decodeExtremes(d *wire.Decoder) {
	at := d.Offset()
	if isFloat[V]() {
		s.Min = fromBits[V](d.Uint64("minimum"))
		s.Max = fromBits[V](d.Uint64("maximum"))
		if !(math.Abs(float64(s.Min)) <= math.MaxFloat64 && math.Abs(float64(s.Max)) <= math.MaxFloat64) {
			d.Corrupt(at, "minimum", "not finite: %v, %v", s.Min, s.Max)
		}
	} else {
		s.Min = V(d.Varint("minimum"))
		s.Max = V(int64(uint64(s.Min) + d.Uvarint("maximum")))
	}
	if before(s.Max, s.Min) || s.Count == 1 && toBits(s.Min) != toBits(s.Max) {
		d.Corrupt(at, "maximum", "%v of %d values from %v on", s.Max, s.Count, s.Min)
	}
	s.MinRank = uint32(d.UvarintMax("minimum rank", math.MaxUint32))
	s.MaxRank = uint32(d.UvarintMax("maximum rank", math.MaxUint32))
}

// decodeSums reads the sums, unless all values are equal or there are manyValues,
// and checks that values with such extremes can have them.
func (s *Statistics[V]) decodeSums(d *wire.Decoder) {
	at := d.Offset()
	least, n := integer(s.Min), new(big.Int).SetUint64(s.Count)
	above, squares := new(big.Int), new(big.Int)
	switch {
	case toBits(s.Min) != toBits(s.Max) && s.Count == manyValues:
		return
	case toBits(s.Min) != toBits(s.Max):
		width := new(big.Int).Sub(integer(s.Max), least)
		above, squares = decodeNatural[V](d, "sum"), decodeNatural[V](d, "squares")
		if d.Err() != nil {
			return
		}
		if err := checkSums(n, width, above, squares); err != nil {
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
func checkSums(n, width, sum, squares *big.Int) error {
	x, y := new(big.Int), new(big.Int)
	rest := y.Sub(n, big.NewInt(1))
	switch {
	case sum.Cmp(width) < 0 || sum.Cmp(y.Mul(rest, width)) > 0:
		return fmt.Errorf("%w: sum is %v, of %v values from 0 to %v", ErrCorrupt, sum, n, width)
	case x.Mul(sum, sum).Cmp(y.Mul(squares, n)) > 0 || squares.Cmp(y.Mul(sum, width)) > 0:
		return fmt.Errorf("%w: squares are %v, of %v values from 0 to %v with sum %v", ErrCorrupt, squares, n, width, sum)
	}
	return nil
}

// integer returns v in the unit of the sums.
func integer[V Value](v V) *big.Int {
	if !isFloat[V]() {
		return big.NewInt(int64(v))
	}
	var s Statistics[V]
	s.addFloat(float64(v))
	sum, _ := s.integers()
	return sum
}

// appendNatural appends a number ≥ 0: the number of bytes, of float64 the number
// of zero bytes that are left out below them, and the bytes, the most
// significant first.
func appendNatural[V Value](dst []byte, n *big.Int) []byte {
	digits := n.Bytes()
	low := 0
	for isFloat[V]() && len(digits) > 0 && digits[len(digits)-1] == 0 {
		digits = digits[:len(digits)-1]
		low++
	}
	dst = wire.AppendUvarint(dst, uint64(len(digits)))
	if isFloat[V]() && len(digits) > 0 {
		dst = wire.AppendUvarint(dst, uint64(low))
	}
	return append(dst, digits...)
}

func decodeNatural[V Value](d *wire.Decoder, field string) *big.Int {
	at := d.Offset()
	count, low := d.Count(field, 1), 0
	if count > len(floatSums{}.squares)*8 {
		d.Corrupt(at, field, "%d bytes", count)
	}
	if isFloat[V]() && count > 0 {
		low = int(d.UvarintMax(field, uint64(len(floatSums{}.squares)*8)))
	}
	digits := d.Bytes(field, count)
	if d.Err() == nil && count > 0 && (digits[0] == 0 || isFloat[V]() && digits[count-1] == 0) {
		d.Corrupt(at, field, "not in the shortest form")
	}
	n := new(big.Int).SetBytes(digits)
	return n.Lsh(n, uint(8*low))
}

// setWords sets words to n in two's complement, which must fit.
func setWords(words []uint64, n *big.Int) {
	u := n
	if n.Sign() < 0 {
		u = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(64*len(words))))
	}
	digits := u.FillBytes(make([]byte, 8*len(words)))
	for i := range words {
		rest := digits[len(digits)-8*(i+1):]
		for _, b := range rest[:8] {
			words[i] = words[i]<<8 | uint64(b)
		}
	}
}

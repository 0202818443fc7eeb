package timing

import (
	"fmt"
	"math"
	"math/big"

	"github.com/reprise-trace/reprise/internal/wire"
)

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
func (s *Statistics) distances() (above, squares *big.Int) {
	sum, squares := s.integers()
	least, n := big.NewInt(s.Min), new(big.Int).SetUint64(s.Count)
	above = new(big.Int).Sub(sum, n.Mul(n, least))
	return above, squares.Sub(squares, least.Mul(least, sum.Add(sum, above)))
}

// setSums sets the sums from those of the distances, which it changes.
func (s *Statistics) setSums(above, squares *big.Int) {
	least, sum := big.NewInt(s.Min), new(big.Int).SetUint64(s.Count)
	sum.Mul(sum, least)
	sum.Add(sum, above)
	squares.Add(squares, least.Mul(least, above.Add(above, sum)))
	setWords(s.sum[:], sum)
	setWords(s.squares[:], squares)
}

// MarshalBinary returns the encoding of s.
func (s *Statistics) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// ParseStatistics returns the statistics encoded in data. The error is a
// [*ParseError].
func ParseStatistics(data []byte) (*Statistics, error) {
	d := wire.NewDecoder("timing", data)
	s := decodeStatistics(&d)
	d.End("statistics")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return s, nil
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
	least, n := big.NewInt(s.Min), new(big.Int).SetUint64(s.Count)
	above, squares := new(big.Int), new(big.Int)
	switch {
	case s.Min != s.Max && s.Count == manyValues:
		return
	case s.Min != s.Max:
		width := new(big.Int).Sub(big.NewInt(s.Max), least)
		above, squares = decodeNatural(d, "sum"), decodeNatural(d, "squares")
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

// appendNatural appends a number ≥ 0: the number of bytes, and these, the most
// significant first.
func appendNatural(dst []byte, n *big.Int) []byte {
	return wire.AppendString(dst, string(n.Bytes()))
}

func decodeNatural(d *wire.Decoder, field string) *big.Int {
	at := d.Offset()
	count := d.Count(field, 1)
	if count > naturalBytes {
		d.Corrupt(at, field, "%d bytes", count)
	}
	digits := d.Bytes(field, count)
	if d.Err() == nil && count > 0 && digits[0] == 0 {
		d.Corrupt(at, field, "not in the shortest form")
	}
	return new(big.Int).SetBytes(digits)
}

// naturalBytes is the largest number of bytes of the sums: 2⁶³ values of 128 bits.
const naturalBytes = 24

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

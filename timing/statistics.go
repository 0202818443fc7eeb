package timing

import (
	"math"
	"math/big"
	"math/bits"
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
	sum, _ := s.exact()
	f, _ := sum.Float64()
	return f
}

// Mean returns the mean of the values, rounded once; NaN if there is none.
func (s *Statistics) Mean() float64 {
	if s.Count == 0 {
		return math.NaN()
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
	if s.Count == manyValues {
		least, most := big.NewInt(s.Min), big.NewInt(s.Max)
		low, high := big.NewInt(manyValues-manyValues/2), big.NewInt(manyValues/2)
		sum = new(big.Int).Add(low.Mul(low, least), high.Mul(high, most))
		return sum, new(big.Int).Add(low.Mul(low, least), high.Mul(high, most))
	}
	return signed(s.sum[:]), unsigned(s.squares[:])
}

// signed returns the number that words are in two's complement.
func signed(words []uint64) *big.Int {
	n := unsigned(words)
	if words[len(words)-1]>>63 == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(64*len(words))))
	}
	return n
}

// unsigned returns the number that words are, least significant word first.
func unsigned(words []uint64) *big.Int {
	n := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		n.Lsh(n, 64)
		n.Or(n, new(big.Int).SetUint64(words[i]))
	}
	return n
}

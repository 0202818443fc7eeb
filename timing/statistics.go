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
// NaN and ±Inf are counted and otherwise left out. Where there are 2⁶³−1 values
// or more, that is their number, of NaN and ±Inf too, and of the others no more is
// kept than the extremes: one half is taken to be the minimum, one the maximum.
type Statistics[V Value] struct {
	// Count is the number of values, and NonFinite of those that are left out
	// of everything else; each at most 2⁶³−1.
	Count, NonFinite uint64

	// Min and Max are the extremes, where −0 is less than 0, and MinRank and
	// MaxRank the lowest ranks in which they occurred. All are zero without values.
	Min, Max         V
	MinRank, MaxRank uint32

	sum     [2]uint64 // of int64, two's complement
	squares [3]uint64
	floats  *floatSums // of float64; nil before the first value that is not 0
}

// manyValues is the number of values from which on they are not told apart.
const manyValues = math.MaxInt64

// floatSums are a sum and a sum of squares of float64 as integers, in units of
// 2⁻¹⁰⁷⁴ and of its square. They hold the sum of 2⁶⁴ values, whatever they are.
type floatSums struct {
	sum     [(1074 + 1024 + 64 + 1 + 63) / 64]uint64 // two's complement
	squares [(2148 + 2048 + 64 + 63) / 64]uint64
}

// Add adds a value that occurred in a rank. It takes constant time; for
// float64, the time that a carry takes to pass through the sums is part of it.
func (s *Statistics[V]) Add(rank uint32, v V) {
	if isFloat[V]() {
		if math.Float64bits(float64(v))>>52&2047 == 2047 {
			s.NonFinite = min(s.NonFinite+1, manyValues)
			return
		}
		s.addFloat(float64(v))
	} else {
		s.addInt(int64(v))
	}
	if s.Count == 0 || v <= s.Min || v >= s.Max {
		s.extremes(v, v, rank, rank)
	}
	s.Count = min(s.Count+1, manyValues)
}

// extremes takes account of extremes of at least one value.
func (s *Statistics[V]) extremes(least, most V, leastRank, mostRank uint32) {
	if s.Count == 0 {
		s.Min, s.Max, s.MinRank, s.MaxRank = least, most, leastRank, mostRank
		return
	}
	if least <= s.Min && (before(least, s.Min) || toBits(least) == toBits(s.Min) && leastRank < s.MinRank) {
		s.Min, s.MinRank = least, leastRank
	}
	if most >= s.Max && (before(s.Max, most) || toBits(most) == toBits(s.Max) && mostRank < s.MaxRank) {
		s.Max, s.MaxRank = most, mostRank
	}
}

// before reports whether v < w, where −0 < 0.
func before[V Value](v, w V) bool {
	return v < w || isFloat[V]() && v == w && math.Signbit(float64(v)) && !math.Signbit(float64(w))
}

func (s *Statistics[V]) addInt(v int64) {
	var carry uint64
	s.sum[0], carry = bits.Add64(s.sum[0], uint64(v), 0)
	s.sum[1] += uint64(v>>63) + carry
	sign := v >> 63
	mag := uint64((v ^ sign) - sign)
	hi, lo := bits.Mul64(mag, mag)
	s.squares[0], carry = bits.Add64(s.squares[0], lo, 0)
	s.squares[1], carry = bits.Add64(s.squares[1], hi, carry)
	s.squares[2] += carry
}

func (s *Statistics[V]) addFloat(v float64) {
	u := math.Float64bits(v)
	exponent, mantissa := uint(u>>52&2047), u&(1<<52-1)
	if exponent > 0 {
		mantissa |= 1 << 52
		exponent--
	}
	if mantissa == 0 {
		return
	}
	if s.floats == nil {
		s.floats = new(floatSums)
	}
	k := exponent & 63
	lo, hi := mantissa<<k, mantissa>>1>>(63-k)
	var carry uint64
	if w := s.floats.sum[exponent>>6:]; u>>63 == 0 {
		w[0], carry = bits.Add64(w[0], lo, 0)
		w[1], carry = bits.Add64(w[1], hi, carry)
		for i := 2; carry != 0 && i < len(w); i++ {
			w[i], carry = bits.Add64(w[i], 0, carry)
		}
	} else {
		w[0], carry = bits.Sub64(w[0], lo, 0)
		w[1], carry = bits.Sub64(w[1], hi, carry)
		for i := 2; carry != 0 && i < len(w); i++ {
			w[i], carry = bits.Sub64(w[i], 0, carry)
		}
	}
	k = 2 * exponent & 63
	hi, lo = bits.Mul64(mantissa, mantissa)
	q := s.floats.squares[2*exponent>>6:]
	_ = q[2]
	q[0], carry = bits.Add64(q[0], lo<<k, 0)
	q[1], carry = bits.Add64(q[1], hi<<k|lo>>1>>(63-k), carry)
	q[2], carry = bits.Add64(q[2], hi>>1>>(63-k), carry)
	for i := 3; carry != 0; i++ {
		q[i], carry = bits.Add64(q[i], 0, carry)
	}
}

// Merge adds the values of o, which does not change.
func (s *Statistics[V]) Merge(o *Statistics[V]) {
	s.NonFinite = min(s.NonFinite+o.NonFinite, manyValues)
	if o.Count == 0 {
		return
	}
	s.extremes(o.Min, o.Max, o.MinRank, o.MaxRank)
	s.Count = min(s.Count+o.Count, manyValues)
	addWords(s.sum[:], o.sum[:])
	addWords(s.squares[:], o.squares[:])
	if o.floats != nil {
		if s.floats == nil {
			s.floats = new(floatSums)
		}
		addWords(s.floats.sum[:], o.floats.sum[:])
		addWords(s.floats.squares[:], o.floats.squares[:])
	}
}

// addWords adds b to a, numbers of equal length, least significant word first.
func addWords(a, b []uint64) {
	var carry uint64
	for i := range a {
		a[i], carry = bits.Add64(a[i], b[i], carry)
	}
}

// Sum returns the sum of the values, rounded once, to even; ±Inf beyond the
// range.
func (s *Statistics[V]) Sum() float64 {
	sum, _ := s.exact()
	f, _ := sum.Float64()
	return f
}

// Mean returns the mean of the values, rounded once; NaN if there is none.
func (s *Statistics[V]) Mean() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	sum, _ := s.exact()
	f, _ := sum.Quo(sum, s.count()).Float64()
	return f
}

// Variance returns the mean square of the values' distances from their mean,
// rounded once; NaN if there is none.
func (s *Statistics[V]) Variance() float64 {
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
func (s *Statistics[V]) StandardDeviation() float64 { return math.Sqrt(s.Variance()) }

func (s *Statistics[V]) count() *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).SetUint64(s.Count))
}

// exact returns the sum of the values and that of their squares.
func (s *Statistics[V]) exact() (sum, squares *big.Rat) {
	x, y := s.integers()
	sum, squares = new(big.Rat).SetInt(x), new(big.Rat).SetInt(y)
	if isFloat[V]() {
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1074))
		sum.Mul(sum, unit)
		squares.Mul(squares, unit.Mul(unit, unit))
	}
	return sum, squares
}

// integers returns the sums in the unit in which they are kept.
func (s *Statistics[V]) integers() (sum, squares *big.Int) {
	if s.Count == manyValues {
		least, most := integer(s.Min), integer(s.Max)
		low, high := big.NewInt(manyValues-manyValues/2), big.NewInt(manyValues/2)
		sum = new(big.Int).Add(low.Mul(low, least), high.Mul(high, most))
		return sum, new(big.Int).Add(low.Mul(low, least), high.Mul(high, most))
	}
	x, y := s.words()
	return signed(x), unsigned(y)
}

// words returns the words of the sums; without floatSums those of zero.
func (s *Statistics[V]) words() (sum, squares []uint64) {
	if s.floats != nil {
		return s.floats.sum[:], s.floats.squares[:]
	}
	return s.sum[:], s.squares[:]
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

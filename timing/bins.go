package timing

import (
	"fmt"
	"math"
	"math/bits"
)

// The smallest and the largest relative error that [NewBins] accepts.
const (
	MinEpsilon = 1e-4
	MaxEpsilon = 0.5
)

// Escape is the symbol of values that no bin holds: NaN, ±Inf and −0. Who codes
// symbols writes the 64 bits of such a value beside it. No int64 has it.
const Escape int32 = math.MinInt32

// Bins maps values to symbols, the numbers of exponential bins, such that the
// representative of a value's bin differs from the value by at most ε relative
// to it. Zero has symbol 0 and is exact. A value v > 0 has a symbol s with
// 0 < s ≤ Max, and −v has the symbol −s.
//
// The bins of int64 are as few as possible: the bin after [.., a−1] has the
// representative ⌊a·(1+ε)⌋ = r and ends with ⌊r/(1−ε)⌋, so that integers
// below 1/ε are bins of their own, and bins grow by (1+ε)/(1−ε) later on.
// Symbols grow with the values.
//
// The bins of float64 are the same for every p octaves, where p ≤ 32 is chosen
// such that they are few, and are counted up from 2⁻³⁰, which is a nanosecond
// for who counts seconds. Symbols grow with the values up to the largest; then
// follow those of the values below 2⁻³⁰ in descending order, and those of
// denormal numbers in ascending order.
//
// Bins are immutable and do not depend on the machine.
type Bins[V Value] struct {
	asked   float64
	epsilon uint64 // asked·2³², rounded down
	ints    intBins
	floats  floatBins // of float64
	max     int32
}

// NewBins returns bins of relative error epsilon, which is from [MinEpsilon] to
// [MaxEpsilon]. They are made for the multiple of 2⁻³² below it.
func NewBins[V Value](epsilon float64) (*Bins[V], error) {
	if !(epsilon >= MinEpsilon && epsilon <= MaxEpsilon) {
		return nil, fmt.Errorf("timing: epsilon %g is not from %g to %g", epsilon, MinEpsilon, MaxEpsilon)
	}
	b := &Bins[V]{asked: epsilon, epsilon: uint64(math.Ldexp(epsilon, 32))}
	if !isFloat[V]() {
		b.ints = newIntBins(b.epsilon, 1<<63)
		b.max = int32(len(b.ints.hi) - 1)
		return b, nil
	}
	b.ints = newIntBins(b.epsilon, 1<<52-1)
	b.floats = newFloatBins(b.epsilon)
	b.max = b.floats.below + int32(len(b.ints.hi)-1)
	return b, nil
}

// Max returns the largest symbol; the smallest, but for [Escape], is −Max.
func (b *Bins[V]) Max() int32 { return b.max }

// Epsilon returns the relative error that the bins were asked for.
func (b *Bins[V]) Epsilon() float64 { return b.asked }

// Symbol returns the symbol of v.
func (b *Bins[V]) Symbol(v V) int32 {
	if isFloat[V]() {
		return b.floatSymbol(math.Float64bits(float64(v)))
	}
	// Both signs take the same way, since they come as the times do, without order.
	sign := int64(v) >> 63
	s := b.ints.symbol(uint64((int64(v) ^ sign) - sign))
	return (s ^ int32(sign)) - int32(sign)
}

// Value returns the representative of the bin with symbol s, where
// −Max ≤ s ≤ Max.
func (b *Bins[V]) Value(s int32) V {
	if isFloat[V]() {
		sign := uint64(uint32(s)) >> 31 << 63
		m := s
		if m < 0 {
			m = -m
		}
		return V(math.Float64frombits(b.floatValue(m) | sign))
	}
	sign := s >> 31
	rep := int64(b.ints.rep[(s^sign)-sign])
	return V((rep ^ int64(sign)) - int64(sign))
}

// floatSymbol returns the symbol of the float64 with bits u.
func (b *Bins[V]) floatSymbol(u uint64) int32 {
	mag := u &^ (1 << 63)
	exponent := mag >> 52
	var s int32
	switch {
	case exponent == 2047 || u == 1<<63:
		return Escape
	case exponent == 0:
		if mag == 0 {
			return 0
		}
		s = b.floats.below + b.ints.symbol(mag)
	default:
		s = b.floats.symbol(mag)
	}
	if u != mag {
		s = -s
	}
	return s
}

// floatValue returns the bits of the representative of symbol s ≥ 0.
func (b *Bins[V]) floatValue(s int32) uint64 {
	if s > b.floats.below {
		return b.ints.rep[s-b.floats.below]
	}
	if s == 0 {
		return 0
	}
	return b.floats.value(s)
}

// slotBits returns the m for which a slot, an m-bit prefix of the mantissa, is
// not wider than a bin, so that the numbers of a slot are in at most two bins:
// 2⁻ᵐ ≤ 2ε. An integer slot of 2ᵏ numbers from a on has 2ᵏ ≤ 2εa, so that
// ⌊εa⌋ ≥ 2ᵏ⁻¹, and the bin of a then has at least 1+2·2ᵏ⁻¹ numbers.
func slotBits(epsilon uint64) uint { return uint(bits.LeadingZeros32(uint32(epsilon))) }

// scaleUp returns ⌊a·(1+ε)⌋.
func scaleUp(a, epsilon uint64) uint64 {
	hi, lo := bits.Mul64(a, epsilon)
	return a + (hi<<32 | lo>>32)
}

// scaleOut returns ⌊a/(1−ε)⌋, or the largest uint64 if that overflows.
func scaleOut(a, epsilon uint64) uint64 {
	if a>>32 >= 1<<32-epsilon {
		return math.MaxUint64
	}
	q, _ := bits.Div64(a>>32, a<<32, 1<<32-epsilon)
	return q
}

// intBins are bins of the integers from 0 on.
type intBins struct {
	hi   []uint64 // the largest number of each bin
	rep  []uint64 // its representative
	slot []int32  // the bin of the smallest number with this length and prefix
	bits uint     // of the prefix
}

// newIntBins returns bins up to limit, which is in the last one.
func newIntBins(epsilon, limit uint64) intBins {
	b := intBins{hi: []uint64{0}, rep: []uint64{0}, bits: slotBits(epsilon)}
	for last := uint64(0); last < limit; {
		rep := scaleUp(last+1, epsilon)
		last = min(scaleOut(rep, epsilon), limit)
		b.hi, b.rep = append(b.hi, last), append(b.rep, min(rep, limit, 1<<63-1))
	}
	b.slot = make([]int32, uint(bits.Len64(limit))<<b.bits)
	s := int32(1)
	for i := range b.slot {
		length, prefix := uint(i)>>b.bits, uint64(i)&(1<<b.bits-1)
		first := 1<<length | prefix<<(64-b.bits)>>(64-length)
		for s < int32(len(b.hi)-1) && b.hi[s] < first {
			s++
		}
		b.slot[i] = s
	}
	return b
}

// symbol returns the bin of n, which is not above the limit.
func (b *intBins) symbol(n uint64) int32 {
	if n == 0 {
		return 0
	}
	zeros := uint(bits.LeadingZeros64(n))
	s := b.slot[(63-zeros)<<b.bits|uint(n<<zeros<<1>>(64-b.bits))]
	if n > b.hi[s] {
		s++
	}
	return s
}

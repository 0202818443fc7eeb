// Package bins has the exponential bins in which the codecs of times count:
//
//	b, err := bins.New(0.1)
//	b.Value(b.Symbol(1234)) // within 10 % of 1234
package bins

import (
	"fmt"
	"math"
	"math/bits"
)

// The smallest and the largest relative error that [New] accepts.
const (
	MinEpsilon = 1e-4
	MaxEpsilon = 0.5
)

// Bins maps values to symbols, the numbers of exponential bins, such that the
// representative of a value's bin differs from the value by at most ε relative
// to it. Zero has symbol 0 and is exact. A value v > 0 has a symbol s with
// 0 < s ≤ Max, and −v has the symbol −s. Symbols grow with the values.
//
// The bins are as few as possible: the bin after [.., a−1] has the representative
// ⌊a·(1+ε)⌋ = r and ends with ⌊r/(1−ε)⌋, so that integers below 1/ε are bins of
// their own, and bins grow by (1+ε)/(1−ε) later on.
//
// Bins are immutable and do not depend on the machine.
type Bins struct {
	asked   float64
	epsilon uint64   // asked·2³², rounded down
	hi      []uint64 // the largest number of each bin
	rep     []uint64 // its representative
	slot    []int32  // the bin of the smallest number with this length and prefix
	bits    uint     // of the prefix
}

// New returns bins of relative error epsilon, which is from [MinEpsilon] to
// [MaxEpsilon]. They are made for the multiple of 2⁻³² below it.
func New(epsilon float64) (*Bins, error) { return NewAt(epsilon, 0) }

// Phases is how many places there are where bins can begin.
const Phases = 8

// firstShifted is how many numbers a bin has at least that is shortened so that those after it begin elsewhere.
const firstShifted = 8

// NewAt returns bins that begin and end elsewhere than those of other phases, from 0 to [Phases]−1: the first
// bin of eight numbers or more is shorter by the phase-th part of [Phases]. There is one bin more at most than
// in phase 0, which is that of [New]. Where values crowd about the end of a bin in one phase, they are in one bin
// in another.
func NewAt(epsilon float64, phase int) (*Bins, error) {
	if !(epsilon >= MinEpsilon && epsilon <= MaxEpsilon) {
		return nil, fmt.Errorf("timing: epsilon %g is not from %g to %g", epsilon, MinEpsilon, MaxEpsilon)
	}
	b := &Bins{asked: epsilon, epsilon: uint64(math.Ldexp(epsilon, 32)), hi: []uint64{0}, rep: []uint64{0}}
	const limit = 1 << 63
	for last := uint64(0); last < limit; {
		rep := scaleUp(last+1, b.epsilon)
		next := min(scaleOut(rep, b.epsilon), limit)
		if n := next - last; phase > 0 && n >= firstShifted {
			next -= n * uint64(phase) / Phases
			rep, phase = min(rep, next), 0
		}
		last = next
		b.hi, b.rep = append(b.hi, last), append(b.rep, min(rep, limit-1))
	}
	b.fillSlots()
	return b, nil
}

// fillSlots makes the table in which symbol looks. A slot, an m-bit prefix of a
// number after its first bit, is not wider than a bin, so that the numbers of a slot
// are in at most two bins: 2⁻ᵐ ≤ 2ε. A slot of 2ᵏ numbers from a on has 2ᵏ ≤ 2εa, so
// that ⌊εa⌋ ≥ 2ᵏ⁻¹, and the bin of a then has at least 1+2·2ᵏ⁻¹ numbers.
func (b *Bins) fillSlots() {
	b.bits = uint(bits.LeadingZeros32(uint32(b.epsilon)))
	b.slot = make([]int32, 64<<b.bits)
	s := int32(1)
	for i := range b.slot {
		length, prefix := uint(i)>>b.bits, uint64(i)&(1<<b.bits-1)
		first := 1<<length | prefix<<(64-b.bits)>>(64-length)
		for s < b.Max() && b.hi[s] < first {
			s++
		}
		b.slot[i] = s
	}
}

// Max returns the largest symbol; the smallest is −Max.
func (b *Bins) Max() int32 { return int32(len(b.hi) - 1) }

// Epsilon returns the relative error that the bins were asked for.
func (b *Bins) Epsilon() float64 { return b.asked }

// Symbol returns the symbol of v.
func (b *Bins) Symbol(v int64) int32 {
	// Both signs take the same way, since they come as the times do, without order.
	sign := v >> 63
	s := b.symbol(uint64((v ^ sign) - sign))
	return (s ^ int32(sign)) - int32(sign)
}

// symbol returns the bin of n ≤ 2⁶³.
func (b *Bins) symbol(n uint64) int32 {
	if n == 0 {
		return 0
	}
	zeros := uint(bits.LeadingZeros64(n))
	s := b.slot[(63-zeros)<<b.bits|uint(n<<zeros<<1>>(64-b.bits))]
	for n > b.hi[s] { // once at most, but about the bin that is shorter
		s++
	}
	return s
}

// Value returns the representative of the bin with symbol s, where
// −Max ≤ s ≤ Max.
func (b *Bins) Value(s int32) int64 {
	sign := s >> 31
	rep := int64(b.rep[(s^sign)-sign])
	return (rep ^ int64(sign)) - int64(sign)
}

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

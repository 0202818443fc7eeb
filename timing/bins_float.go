package timing

import (
	"math"
	"math/bits"
	"slices"
)

// firstExponent is the biased exponent of 2⁻³⁰, where symbol 1 begins.
const firstExponent = 1023 - 30

// maxPeriod is the largest number of octaves after which bins repeat.
const maxPeriod = 32

// floatBins are bins of the normal numbers above 0. A number is given by its
// bits, and in a period by those less the exponent of the period: its key.
type floatBins struct {
	hi     []uint64 // the largest key of each bin of a period
	rep    []uint64 // the key of its representative
	slot   []int32  // the bin of the smallest key with this prefix
	shift  uint     // of a key to its prefix
	octave [2047]octave
	period int   // octaves
	above  int32 // the largest symbol of numbers from 2⁻³⁰ on
	below  int32 // the largest symbol of numbers below
}

// An octave says where the symbols of the numbers with one exponent are.
type octave struct {
	start uint64 // bits of the first number of the period
	base  int32  // symbol of the first bin of the period
	step  int32  // 1, or −1 where symbols descend
}

func newFloatBins(epsilon uint64) floatBins {
	var b floatBins
	b.fill(epsilon)
	b.shift = 52 - slotBits(epsilon)
	b.slot = make([]int32, uint(b.period)<<slotBits(epsilon))
	s := int32(0)
	for i := range b.slot {
		for b.hi[s] < uint64(i)<<b.shift {
			s++
		}
		b.slot[i] = s
	}
	n := len(b.hi)
	for e := range b.octave {
		if q := (e - firstExponent) / b.period; e >= firstExponent {
			b.octave[e] = octave{uint64(firstExponent+q*b.period) << 52, int32(1 + q*n), 1}
		}
	}
	b.above = b.symbol(math.Float64bits(math.MaxFloat64))
	for e := range firstExponent {
		q := (firstExponent - 1 - e) / b.period
		start := int64(firstExponent-(q+1)*b.period) << 52
		b.octave[e] = octave{uint64(start), b.above + int32((q+1)*n), -1}
	}
	b.below = b.symbol(1 << 52)
	return b
}

// fill sets the bins from 1 on, and cuts them after the fewest octaves for which
// the bins of an octave are, within 1/512, as few as they can be.
func (b *floatBins) fill(epsilon uint64) {
	var starts [maxPeriod + 1]int // number of bins that begin in the first octaves
	for next := uint64(0); next < maxPeriod<<52; {
		rep := scaleKey(next, epsilon, scaleUp)
		hi := scaleKey(rep, epsilon, scaleOut)
		b.hi, b.rep = append(b.hi, hi), append(b.rep, rep)
		for k := next>>52 + 1; k <= maxPeriod; k++ {
			starts[k] = len(b.hi)
		}
		next = hi + 1
	}
	best := 1
	for k := range starts {
		if k > 0 && starts[k]*best < starts[best]*k {
			best = k
		}
	}
	for b.period = 1; starts[b.period]*best*512 > starts[best]*b.period*513; {
		b.period++
	}
	n := starts[b.period]
	b.hi, b.rep = slices.Clip(b.hi[:n]), slices.Clip(b.rep[:n])
	b.hi[n-1] = uint64(b.period)<<52 - 1
}

// scaleKey applies scale to the mantissa of a key, and rounds down.
func scaleKey(key, epsilon uint64, scale func(a, epsilon uint64) uint64) uint64 {
	const one = 1 << 52
	a := scale(one|key&(one-1), epsilon)
	shift := bits.Len64(a) - 53
	return (key>>52+uint64(shift))<<52 | a>>shift&(one-1)
}

// symbol returns the symbol of the number with bits u.
func (b *floatBins) symbol(u uint64) int32 {
	o := &b.octave[u>>52]
	key := u - o.start
	i := b.slot[key>>b.shift]
	if key > b.hi[i] {
		i++
	}
	return o.base + o.step*i
}

// value returns the bits of the representative of symbol s, 0 < s ≤ below. What
// a bin lacks of numbers at either end of the range may hold its representative:
// then the last number beside it is nearer to all that it has.
func (b *floatBins) value(s int32) uint64 {
	n := uint32(len(b.rep))
	if s > b.above {
		j := uint32(s - b.above - 1)
		start := int64(firstExponent-(int(j/n)+1)*b.period) << 52
		return uint64(max(int64(b.rep[n-1-j%n])+start, 1<<52))
	}
	j := uint32(s - 1)
	start := uint64(firstExponent+int(j/n)*b.period) << 52
	return min(b.rep[j%n]+start, math.Float64bits(math.MaxFloat64))
}

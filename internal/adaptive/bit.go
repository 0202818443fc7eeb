package adaptive

import "math/bits"

// A Bit predicts a bit: the upper 22 bits are the probability of a one, the others
// count the corrections it had, up to maxCount. A Bit of 0 has learned nothing.
type Bit uint32

// Even is a Bit that predicts one and zero alike.
const Even Bit = 1 << 31

const (
	countMask = 1<<10 - 1
	maxCount  = 255
)

// Seen returns how often b learned, up to a limit.
func (b Bit) Seen() uint32 { return uint32(b & countMask) }

// Opposite returns what predicts a zero as b predicts a one.
func (b Bit) Opposite() Bit { return ^b&^countMask | b&countMask }

// Or returns b, or, if it has learned nothing, a Bit that predicts as the parent does
// and learns faster.
func (b Bit) Or(parent Bit) Bit {
	if b == 0 {
		return parent &^ countMask
	}
	return b
}

// Learned returns b after a bit was seen.
func (b Bit) Learned(bit uint32) Bit { return b.learned(-bit) }

// learned is Learned of a bit all of whose bits are the bit.
func (b Bit) learned(ones uint32) Bit {
	n := b & countMask
	d := (int32(ones>>10) - int32(b>>10)) * gainTable[n]
	return b + Bit(uint32(d<<1)&^countMask) + (n-maxCount)>>31
}

// A logit is ln(p/(1−p)) of a probability p, in units of 1/256.
const maxLogit = 11*256 - 1

// Tables of the logistic function and its inverse.
var (
	squashTable  [1 << 13]uint16 // 65536/(1+e⁻ˣ) of the logit x = index − maxLogit, from 1 to 65535
	stretchTable [1 << 12]int16  // the logit of (index+½)/4096
)

// gainTable holds the part of its error, in 512ths, by which a prediction is
// corrected that was corrected index times before.
var gainTable [countMask + 1]int32

func init() {
	const decay = 0xff007fd55ffdde38 // e^(−1/256)·2⁶⁴
	power := uint64(1 << 63)         // e^(−x/256)·2⁶³
	for x := range maxLogit + 1 {
		p := min(65535, (1<<48/(1<<31+power>>32)+1)/2)
		squashTable[maxLogit+x] = uint16(p)
		squashTable[maxLogit-x] = uint16(65536 - p)
		power, _ = bits.Mul64(power, decay)
	}
	x := 0
	for i := range stretchTable {
		for x < 2*maxLogit && int(squashTable[x]) < 16*i+8 {
			x++
		}
		stretchTable[i] = int16(x - maxLogit)
	}
	for n := range gainTable {
		gainTable[n] = int32(max(2, 512*8/(8*n+13)))
	}
}

// squash returns the probability, of 65536, with a logit.
func squash(logit int64) uint32 {
	logit = max(-maxLogit, min(maxLogit, logit))
	return uint32(squashTable[(logit+maxLogit)&(1<<13-1)])
}

func (b Bit) logit() int64 { return int64(stretchTable[b>>20]) }

// Adapt codes a bit as b predicts it, or, if that has learned nothing, as the parent
// does, and b learns the bit.
func (c *Coder) Adapt(b *Bit, parent Bit, bit uint32) uint32 {
	x := b.Or(parent)
	bit = c.Code(bit, max(uint32(x>>16), 1))
	*b = x.Learned(bit)
	return bit
}

// Predictions are mixed as in M. Mahoney, "Adaptive Weighing of Context Models
// for Lossless Data Compression", TR CS-2005-16, Florida Institute of Technology,
// 2005: their logits are summed with weights, and these corrected such that the
// sum would have predicted the bit better.
const (
	maxMixed = 5  // predictions of a bit
	gain     = 16 // by which weights learn

	// One is the weight 1.
	One = 1 << 20
)

// Mix codes a bit that several Bits predict, at most 5, with such weights. They and
// the weights learn the bit.
func (c *Coder) Mix(bit uint32, mixed []Bit, weights []int64) uint32 {
	var (
		logits [maxMixed]int64
		sum    int64
	)
	weights = weights[:len(mixed)]
	for i, b := range mixed {
		logits[i] = b.logit()
		sum += weights[i] * logits[i]
	}
	p := squash(sum >> 20)
	bit = c.Code(bit, p)
	err := (int64(bit)<<16 - int64(p)) * gain
	for i, b := range mixed {
		weights[i] += logits[i] * err >> 14
		mixed[i] = b.Learned(bit)
	}
	return bit
}

// Mix3 is Mix of x1, which becomes b1, and of b2 and b3, which inherit from it what
// they have not learned. It does not branch, which is faster where a bit is hard to
// predict.
func (c *Coder) Mix3(bit uint32, x1 Bit, b1, b2, b3 *Bit, weights *[3]int64) uint32 {
	x2, x3 := b2.Or(x1), b3.Or(x1)
	t1, t2, t3 := x1.logit(), x2.logit(), x3.logit()
	p := squash((weights[0]*t1 + weights[1]*t2 + weights[2]*t3) >> 20)

	ones := c.split(p)
	zero, carry := uint64(bit)-1, uint64(0)
	if c.reading {
		zero = c.readBit(ones)
	} else {
		carry = c.writeBit(ones, zero)
	}
	c.narrow(ones, zero)

	err := (1<<16&^int64(zero) - int64(p)) * gain
	weights[0] += t1 * err >> 14
	weights[1] += t2 * err >> 14
	weights[2] += t3 * err >> 14
	seen := ^uint32(zero)
	*b1, *b2, *b3 = x1.learned(seen), x2.learned(seen), x3.learned(seen)
	if c.due(carry) {
		c.move(carry)
	}
	return seen & 1
}

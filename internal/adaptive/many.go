package adaptive

// MaxMany is how many Bits MixMany mixes at most.
const MaxMany = 12

// GainOfMany is a gain of the weights of MixMany, in 16ths. It and those that they begin with are what
// made grammars the smallest, of traces whose sequences nearly repeat.
const GainOfMany = 12 * 16

// settlingGains are gains that get smaller the longer weights learn: of 64 times each, and from the last on.
var settlingGains [1 << 9]int64

func init() {
	for i := range settlingGains {
		settlingGains[i] = 32 + 160*16/int64(i+16)
	}
}

// SettlingGain returns the gain, from GainOfMany down to 3/16 of it, of weights that learned so many times.
func SettlingGain(times uint32) int64 {
	return settlingGains[min(times>>6, uint32(len(settlingGains)-1))]
}

// ManyWeights are the weights of a MixMany: of each Bit, one that always counts, and one
// that does while it has seen the same bit only.
type ManyWeights [2 * MaxMany]int64

// NewManyWeights returns the weights from which n Bits begin.
func NewManyWeights(n int) (w ManyWeights) {
	for i := range n {
		w[2*i], w[2*i+1] = One/12, One/8
	}
	return w
}

// sureTable holds the probability, in 4096ths, of a one that a Bit has which learned so many
// zeros, from Even on, and nothing else.
var sureTable [countMask + 1]uint32

func init() {
	b := Even
	for range sureTable {
		n := b & countMask
		sureTable[n] = max(sureTable[n], uint32(b>>20)) // the last is of maxCount and more
		b = b.Learned(0)
	}
}

// sure reports whether b has seen one bit only, up to rounding.
func (b Bit) sure() bool {
	p, n := uint32(b>>20), b&countMask
	return n > 0 && min(p, 4095-p) <= sureTable[n]
}

// MixMany codes a bit that several Bits predict, at most MaxMany. They and the weights
// learn the bit, these by a gain in 16ths. A Bit of 0 does not count, and begins as Even.
func (c *Coder) MixMany(bit uint32, mixed []*Bit, weights *ManyWeights, gain int64) uint32 {
	var (
		inputs [MaxMany]int64
		sure   [MaxMany]int64 // the same, or 0
		sum    int64
	)
	mixed = mixed[:min(len(mixed), MaxMany)]
	for i, b := range mixed {
		x := *b
		if x == 0 {
			*b = Even
			continue
		}
		y := x.logit()
		inputs[i] = y
		sum += weights[2*i] * y
		if x.sure() {
			sure[i] = y
			sum += weights[2*i+1] * y
		}
	}
	p := squash(sum >> 20)
	bit = c.Code(bit, p)
	err := (int64(bit)<<16 - int64(p)) * gain
	ones := -bit
	for i, b := range mixed {
		weights[2*i] += inputs[i] * err >> 18
		weights[2*i+1] += sure[i] * err >> 18
		*b = b.learned(ones)
	}
	return bit
}

package timing

import "math/bits"

const (
	// Weights are apart by the level of the bit, counted from the last one, and
	// by how often the terminal had been at it.
	maxLevel   = 14
	guessLevel = 15
	weightSets = 16 * 8
	matureSet  = 7

	matureCount = 32 // of the terminal's slot, from which on fewer contexts are mixed
	sureCount   = 30 // from which on the slot is trusted that is sure

	gain = 16 // by which weights learn
)

// decide codes a bit of the symbol in hand: that of a node of the lines that
// were entered, which is at a level.
//
// Predictions are mixed as in M. Mahoney, "Adaptive Weighing of Context Models
// for Lossless Data Compression", TR CS-2005-16, Florida Institute of Technology,
// 2005: their logits are summed with weights, and these corrected such that the sum
// would have predicted the bit better. Where all but one in thousand bits were the
// same, that is predicted at once.
func (m *entropyModel) decide(node uint32, level int, bit uint32) uint32 {
	s1 := &m.at[terminalContext][node&15]
	x1 := *s1
	if x1&countMask >= sureCount && (x1>>22+1)&1023 < 2 {
		bit = m.coder.code(bit, max(1, x1>>16))
		*s1 = learn(x1, -bit)
		return bit
	}
	if !m.entered {
		m.enterAll()
	}
	if x1&countMask < matureCount {
		return m.decideYoung(node, level, bit)
	}
	s2, s3 := &m.at[followContext][node&15], &m.at[loopContext][node&15]
	x2, x3 := inherit(*s2, x1), inherit(*s3, x1)
	t1, t2, t3 := int64(stretchTable[x1>>20]), int64(stretchTable[x2>>20]), int64(stretchTable[x3>>20])
	w := &m.weights[(min(level, guessLevel)*8|matureSet)&(weightSets-1)]
	w1, w2, w3 := w[terminalContext], w[followContext], w[loopContext]
	p := squash((w1*t1 + w2*t2 + w3*t3) >> 20)

	r := &m.coder
	ones := r.split(p)
	zero, carry := uint64(bit)-1, uint64(0)
	if r.reading {
		zero = r.readBit(ones)
	} else {
		carry = r.writeBit(ones, zero)
	}
	r.narrow(ones, zero)

	err := (1<<16&^int64(zero) - int64(p)) * gain
	w[terminalContext], w[followContext], w[loopContext] = w1+t1*err>>14, w2+t2*err>>14, w3+t3*err>>14
	*s1, *s2, *s3 = learn(x1, ^uint32(zero)), learn(x2, ^uint32(zero)), learn(x3, ^uint32(zero))
	if r.due(carry) {
		r.move(carry)
	}
	return 1 + uint32(zero)
}

// decideYoung is decide for a bit that the terminal has not often had. Contexts
// that are not as narrow help then.
func (m *entropyModel) decideYoung(node uint32, level int, bit uint32) uint32 {
	if m.at[previousContext] == nil {
		m.at[anyContext] = m.find(m.hashes[anyContext], m.prefix)
		m.at[previousContext] = m.find(m.hashes[previousContext], m.prefix)
	}
	var x [contexts]uint32
	for i, l := range m.at {
		x[i] = l[node&15]
	}
	x[anyContext] = inherit(x[anyContext], 1<<31)
	x[previousContext] = inherit(x[previousContext], x[anyContext])
	x[terminalContext] = inherit(x[terminalContext], x[anyContext])
	x[followContext] = inherit(x[followContext], x[terminalContext])
	x[loopContext] = inherit(x[loopContext], x[terminalContext])

	seen := min(bits.Len32(x[terminalContext]&countMask+1)-1, matureSet-1)
	w := &m.weights[(min(level, guessLevel)*8|seen)&(weightSets-1)]
	var t [contexts]int64
	var sum int64
	for i := range x {
		t[i] = int64(stretchTable[x[i]>>20])
		sum += w[i] * t[i]
	}
	p := squash(sum >> 20)
	bit = m.coder.code(bit, p)
	err := (int64(bit)<<16 - int64(p)) * gain
	for i, l := range m.at {
		w[i] += t[i] * err >> 14
		l[node&15] = learn(x[i], -bit)
	}
	return bit
}

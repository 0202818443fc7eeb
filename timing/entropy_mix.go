package timing

import "math/bits"

const (
	// There are weights for each level, counted from the leaves, and of young
	// slots by the logarithm of how often they learned.
	levelSets  = 16
	maxLevel   = 10 // of the last bit in a line; from there on they share weights
	guessLevel = 15 // of the bit for the guess
	countSets  = 8  // more than log₂ matureCount

	matureCount = 32 // of the terminal's slot, from which on fewer contexts are mixed
	sureCount   = 30 // from which on the slot is trusted that is sure

	gain = 16 // by which weights learn
)

// walk codes the last count bits of a number in the lines that were entered, from
// a node on, and returns the node it comes to. The last bit is at a
// level; levels count from the leaves up.
//
// Predictions are mixed as in M. Mahoney, "Adaptive Weighing of Context Models
// for Lossless Data Compression", TR CS-2005-16, Florida Institute of Technology,
// 2005: their logits are summed with weights, and these corrected such that the
// sum would have predicted the bit better. A bit that was nearly always the same
// with the terminal is predicted from that alone.
func (m *entropyModel) walk(node, number uint32, count, level int) uint32 {
	r := &m.coder
	l1 := m.at[terminalContext]
	var l2, l3 *line
	for i := count - 1; i >= 0; i-- {
		bit := number >> (i & 31) & 1
		s1 := &l1[node&15]
		x1 := *s1
		if x1&countMask >= sureCount && (x1>>22+1)&1023 < 2 {
			bit = r.code(bit, max(1, x1>>16))
			*s1 = learn(x1, -bit)
			node = node<<1 | bit
			continue
		}
		if l2 == nil {
			m.enterAll()
			l2, l3 = m.at[followContext], m.at[loopContext]
		}
		at := (level + i) & (levelSets - 1)
		if x1&countMask < matureCount {
			node = node<<1 | m.walkYoung(node, at, bit)
			continue
		}
		s2, s3 := &l2[node&15], &l3[node&15]
		x2, x3 := inherit(*s2, x1), inherit(*s3, x1)
		t1, t2, t3 := int64(stretchTable[x1>>20]), int64(stretchTable[x2>>20]), int64(stretchTable[x3>>20])
		w := &m.mature[at]
		p := squash((w[0]*t1 + w[1]*t2 + w[2]*t3) >> 20)

		ones := r.split(p)
		zero, carry := uint64(bit)-1, uint64(0)
		if r.reading {
			zero = r.readBit(ones)
		} else {
			carry = r.writeBit(ones, zero)
		}
		r.narrow(ones, zero)

		err := (1<<16&^int64(zero) - int64(p)) * gain
		w[0] += t1 * err >> 14
		w[1] += t2 * err >> 14
		w[2] += t3 * err >> 14
		seen := ^uint32(zero)
		*s1, *s2, *s3 = learn(x1, seen), learn(x2, seen), learn(x3, seen)
		if r.due(carry) {
			r.move(carry)
		}
		node = node<<1 | seen&1
	}
	return node
}

// walkYoung codes a bit that the terminal has not often had. Wider contexts help
// then.
func (m *entropyModel) walkYoung(node uint32, level int, bit uint32) uint32 {
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

	seen := bits.Len32(x[terminalContext]&countMask+1) - 1
	w := &m.young[level][seen&(countSets-1)]
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

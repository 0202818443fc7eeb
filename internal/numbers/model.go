// Package numbers codes numbers of which little is known: those of a table of times, and of statistics.
package numbers

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/wide"
)

// A Model codes bits, and numbers of which little is known, with what it
// learned from those before in the same contexts. It is a function of these,
// computed with integers.
type Model struct {
	Coder adaptive.Coder
	// by a hash of the context; contexts that share one disturb each other
	bits    []adaptive.Bit
	shift   uint                                          // of a hash to the index of a bit
	weights [modelKinds][modelDepths][modelContexts]int64 // of predictions, in units of 1/2²⁰
}

const (
	modelContexts = 4  // of a bit, at most
	modelDepths   = 11 // bits of a number that are predicted
	// modelKinds is how many kinds of bits and numbers there may be.
	modelKinds = 32

	minModelBits = 10 // logarithm of the number of bits that are kept
	maxModelBits = 18

	// leadingBits is the number of bits below the highest one of a number that are
	// predicted.
	leadingBits = 3
)

// Reset makes m ready for the numbers of as many rows. Its Coder is to be set.
func (m *Model) Reset(rows int) {
	n := max(minModelBits, min(bits.Len(uint(rows))+8, maxModelBits))
	m.bits = make([]adaptive.Bit, 1<<n)
	m.shift = uint(64 - n)
	clear(m.weights[:])
}

// bit codes a bit of a kind, the one at a node of the tree of its number at that
// depth. The contexts are hashes; the first is that of least knowledge, from
// which the others inherit what they have not learned yet.
func (m *Model) bit(kind, depth, node int, bit uint32, contexts []uint64) uint32 {
	var (
		at     [modelContexts]*adaptive.Bit
		x      [modelContexts]adaptive.Bit
		w      = m.weights[kind][depth][:len(contexts)]
		parent = adaptive.Even
	)
	if w[0] == 0 && w[len(contexts)-1] == 0 {
		for i := range w {
			w[i] = adaptive.One / int64(len(contexts))
		}
	}
	for i, c := range contexts {
		at[i] = &m.bits[adaptive.Hash(uint64(kind*modelContexts+i), uint64(node), c)*0xbf58476d1ce4e5b9>>m.shift]
		x[i] = at[i].Or(parent)
		parent = x[0]
	}
	bit = m.Coder.Mix(bit, x[:len(contexts)], w)
	for i := range contexts {
		*at[i] = x[i]
	}
	return bit
}

// Flag codes a bit that is not of a number.
func (m *Model) Flag(kind int, set bool, contexts ...uint64) bool {
	bit := uint32(0)
	if set {
		bit = 1
	}
	return m.bit(kind, 0, 1, bit, contexts) != 0
}

// Number codes a number ≥ 0, rounded to some digits: how many bits it has, which
// are less than 1<<levels, at most 255, and these. It returns what it codes; n is 0 to read.
func (m *Model) Number(kind, levels, digits int, n wide.Number, contexts ...uint64) (coded wide.Number) {
	n = RoundDigits(n, digits)
	size := n.BitLen()
	node := 1
	for i := levels - 1; i >= 0; i-- {
		node = node<<1 | int(m.bit(kind, levels-1-i, node, uint32(size>>i)&1, contexts))
	}
	if size = node - 1<<levels; size == 0 {
		return coded
	}
	coded = wide.Of(1)
	few := min(size, digits)
	for i := range few - 1 {
		bit := uint32(n.Bit(size - 2 - i))
		if i < leadingBits {
			bit = m.bit(kind, levels+i, node, bit, contexts)
			node = node<<1 | int(bit)
		} else {
			bit = m.Coder.Even(bit)
		}
		coded = coded.Shl(1)
		coded[0] |= uint64(bit)
	}
	return coded.Shl(size - few)
}

// Small codes a number of less than 1<<levels bits as Number does, with all digits.
func (m *Model) Small(kind, levels int, n uint64, contexts ...uint64) uint64 {
	size := bits.Len64(n)
	node := 1
	for i := levels - 1; i >= 0; i-- {
		node = node<<1 | int(m.bit(kind, levels-1-i, node, uint32(size>>i)&1, contexts))
	}
	if size = node - 1<<levels; size == 0 {
		return 0
	}
	coded := uint64(1) << (size - 1)
	for i := range size - 1 {
		at := size - 2 - i
		bit := uint32(n>>at) & 1
		if i < leadingBits {
			bit = m.bit(kind, levels+i, node, bit, contexts)
			node = node<<1 | int(bit)
		} else {
			bit = m.Coder.Even(bit)
		}
		coded |= uint64(bit) << at
	}
	return coded
}

// RoundDigits returns the number nearest to n ≥ 0 with at most so many binary
// digits before zeros, the larger of two. It differs from n by at most n·2^−digits.
func RoundDigits(n wide.Number, digits int) wide.Number {
	cut := n.BitLen() - digits
	if cut <= 0 {
		return n
	}
	return n.Add(wide.Of(1).Shl(cut - 1)).Shr(cut).Shl(cut)
}

// AllDigits keeps a number as it is.
const AllDigits = 1 << 10

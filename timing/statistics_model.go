package timing

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
)

// A numberModel codes bits, and numbers of which little is known, with what it
// learned from those before in the same contexts. It is a function of these,
// computed with integers.
type numberModel struct {
	coder   adaptive.Coder
	bits    []adaptive.Bit                                // by a hash of the context; contexts that share one disturb each other
	shift   uint                                          // of a hash to the index of a bit
	weights [modelKinds][modelDepths][modelContexts]int64 // of predictions, in units of 1/2²⁰
}

const (
	modelContexts = 4  // of a bit, at most
	modelDepths   = 11 // bits of a number that are predicted
	modelKinds    = 32 // of bits and numbers

	minModelBits = 10 // logarithm of the number of bits that are kept
	maxModelBits = 18

	// leadingBits is the number of bits below the highest one of a number that are
	// predicted.
	leadingBits = 3
)

// reset makes m ready for the numbers of as many rows. Its coder is to be set.
func (m *numberModel) reset(rows int) {
	n := max(minModelBits, min(bits.Len(uint(rows))+8, maxModelBits))
	m.bits = make([]adaptive.Bit, 1<<n)
	m.shift = uint(64 - n)
	clear(m.weights[:])
}

// bit codes a bit of a kind, the one at a node of the tree of its number at that
// depth. The contexts are hashes; the first is that of least knowledge, from
// which the others inherit what they have not learned yet.
func (m *numberModel) bit(kind, depth, node int, bit uint32, contexts []uint64) uint32 {
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
		at[i] = &m.bits[mix(uint64(kind*modelContexts+i), uint64(node), c)*0xbf58476d1ce4e5b9>>m.shift]
		x[i] = at[i].Or(parent)
		parent = x[0]
	}
	bit = m.coder.Mix(bit, x[:len(contexts)], w)
	for i := range contexts {
		*at[i] = x[i]
	}
	return bit
}

// flag codes a bit that is not of a number.
func (m *numberModel) flag(kind int, set bool, contexts ...uint64) bool {
	bit := uint32(0)
	if set {
		bit = 1
	}
	return m.bit(kind, 0, 1, bit, contexts) != 0
}

// number codes a number ≥ 0, rounded to some digits: how many bits it has, which
// are less than 1<<levels, and these. It returns what it codes; n is nil to read.
func (m *numberModel) number(kind, levels, digits int, n *big.Int, contexts ...uint64) *big.Int {
	if n != nil {
		n = roundDigits(n, digits)
	} else {
		n = new(big.Int)
	}
	size := n.BitLen()
	node := 1
	for i := levels - 1; i >= 0; i-- {
		node = node<<1 | int(m.bit(kind, levels-1-i, node, uint32(size>>i)&1, contexts))
	}
	if size = node - 1<<levels; size == 0 {
		return n
	}
	coded := new(big.Int).Lsh(big.NewInt(1), uint(size-1))
	for i := range min(size, digits) - 1 {
		at := size - 2 - i
		bit := uint32(n.Bit(at))
		if i < leadingBits {
			bit = m.bit(kind, levels+i, node, bit, contexts)
			node = node<<1 | int(bit)
		} else {
			bit = m.coder.Even(bit)
		}
		if bit != 0 {
			coded.SetBit(coded, at, 1)
		}
	}
	return coded
}

// small codes a number of less than 1<<levels bits as number does, with all digits.
func (m *numberModel) small(kind, levels int, n uint64, contexts ...uint64) uint64 {
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
			bit = m.coder.Even(bit)
		}
		coded |= uint64(bit) << at
	}
	return coded
}

// roundDigits returns the number nearest to n ≥ 0 with at most so many binary
// digits before zeros, the larger of two. It differs from n by at most n·2^−digits.
func roundDigits(n *big.Int, digits int) *big.Int {
	cut := n.BitLen() - digits
	if cut <= 0 {
		return n
	}
	half := new(big.Int).Lsh(big.NewInt(1), uint(cut-1))
	half.Add(half, n).Rsh(half, uint(cut))
	return half.Lsh(half, uint(cut))
}

const (
	// sumDigits and squaresDigits are the binary digits that a table of statistics
	// keeps of sums and of sums of squares, of what is not known of these.
	sumDigits     = 12
	squaresDigits = 7

	allDigits = 1 << 10 // keeps a number as it is

	// exactWidth is the distance of maximum and minimum below which sums are kept
	// as they are: what rounding does to the sums of squares is little against the
	// square of a larger distance.
	exactWidth = 1 << 8
)

// A spread is what is known of the values whose statistics have such a count,
// minimum and maximum, as distances from the minimum: one of them is 0, one is
// width, and others are from 0 to width.
type spread struct {
	width, others *big.Int
	most          *big.Int // that the others can sum up to
	half          *big.Int // ⌊most/2⌋
	digits        int      // of the sum
}

// spread returns what is known of the values of s. There must be two different ones
// at least, and less than manyValues.
func (s *Statistics) spread() *spread {
	p := &spread{
		width:  new(big.Int).Sub(big.NewInt(s.Max), big.NewInt(s.Min)),
		others: new(big.Int).SetUint64(s.Count - 2),
		digits: allDigits,
	}
	p.most = new(big.Int).Mul(p.width, p.others)
	p.half = new(big.Int).Rsh(p.most, 1)
	if p.width.Cmp(big.NewInt(exactWidth)) >= 0 {
		p.digits = sumDigits
	}
	return p
}

// near returns the distance of a sum of the others from the nearer end of its
// range, and whether that is the far one.
func (p *spread) near(rest *big.Int) (distance *big.Int, far bool) {
	if rest.Cmp(p.half) > 0 && new(big.Int).Lsh(rest, 1).Cmp(p.most) > 0 {
		return new(big.Int).Sub(p.most, rest), true
	}
	return rest, false
}

// rest is the inverse of near.
func (p *spread) rest(distance *big.Int, far bool) *big.Int {
	if far {
		return new(big.Int).Sub(p.most, distance)
	}
	return distance
}

// least returns the least sum of squares of all, given the sum of the others.
func (p *spread) least(rest *big.Int) *big.Int {
	n := new(big.Int).Mul(p.width, p.width)
	if p.others.Sign() == 0 {
		return n
	}
	square, left := new(big.Int).Mul(rest, rest), new(big.Int)
	square.DivMod(square, p.others, left)
	if n.Add(n, square); left.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n
}

// room returns how much more than the least the sum of squares can be: as many of
// the others as possible are equal to width then.
func (p *spread) room(rest *big.Int) *big.Int {
	full, left := new(big.Int).DivMod(rest, p.width, new(big.Int))
	full.Add(full, big.NewInt(1)).Mul(full, p.width).Mul(full, p.width)
	full.Add(full, left.Mul(left, left))
	return full.Sub(full, p.least(rest))
}

// round returns the sums of the distances of s, rounded: the sum of the others,
// and how much the squares are more than the least.
func (p *spread) round(s *Statistics) (rest, more *big.Int) {
	above, squares := s.distances()
	exact := upTo(above.Sub(above, p.width), p.most)
	distance, far := p.near(exact)
	rest = p.rest(upTo(roundDigits(distance, p.digits), p.half), far)
	if more = squares.Sub(squares, p.least(exact)); more.Sign() > 0 {
		more = roundDigits(more, squaresDigits)
	}
	return rest, upTo(more, p.room(rest))
}

// upTo returns the number from 0 to most that is nearest to n.
func upTo(n, most *big.Int) *big.Int {
	switch {
	case n.Sign() < 0:
		return new(big.Int)
	case n.Cmp(most) > 0:
		return most
	}
	return n
}

// setRounded sets the sums of s to rounded ones.
func (s *Statistics) setRounded(p *spread, rest, more *big.Int) {
	s.setSums(new(big.Int).Add(p.width, rest), more.Add(more, p.least(rest)))
}

// roundingError returns how far the sum may be off that was read from a table, which says
// that for sums that were rounded so many times, see roundingsShift.
func (s *Statistics) roundingError(times int) uint64 {
	if s.Count == manyValues || s.Count <= 2 || s.Min == s.Max {
		return 0 // it is known, or is not there
	}
	p := s.spread()
	above, _ := s.distances()
	distance, _ := p.near(above.Sub(above, p.width))
	// What was rounded has as many digits at most.
	cut := distance.BitLen() - p.digits
	switch {
	case cut <= 0:
		return 0
	case times == unknownRoundings || cut-1+2*times >= 64:
		return math.MaxUint64
	}
	return 1 << (cut - 1 + 2*times)
}

// roundings returns how far sums are off in a table that has the sum rounded once more, see
// roundingsShift, and whether it has.
func (s *Statistics) roundings() (times int, rounds bool) {
	if s.Count == manyValues {
		return 0, false
	}
	rounded, off := *s, new(big.Int).SetUint64(s.slack)
	if s.Count > 2 && s.Min != s.Max {
		p := s.spread()
		rest, more := p.round(s)
		rounded.setRounded(p, rest, more)
		moved := s.Integer()
		off.Add(off, moved.Abs(moved.Sub(moved, rounded.Integer())))
	}
	rounds = rounded.roundingError(0) > 0
	if s.slack == 0 {
		return 0, rounds
	}
	for times := range unknownRoundings {
		bound := rounded.roundingError(times)
		if bound == math.MaxUint64 || off.Cmp(new(big.Int).SetUint64(bound)) <= 0 {
			return times, rounds
		}
	}
	return unknownRoundings, rounds
}

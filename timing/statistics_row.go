package timing

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// extremes codes the extremes and their ranks. The first column is there for the
// others.
func (c *tableCoder) extremes(column int, s, first *Statistics, sizes *[tableColumns]tableSizes) {
	kind := column * tableKinds
	few := uint64(min(bits.Len64(s.Count), 3))
	class := uint64(c.class)<<2 | few
	of, last := &sizes[column], &c.last[column]

	negative := c.flag(kind+tableSign, s.Min < 0, 0)
	size := uint64(s.Min)
	if negative {
		size = -size
	}
	size = c.natural(kind+tableMinimum, size, 0, uint64(c.class), class<<7|uint64(of.minimum), uint64(*last))
	if negative && (size == 0 || size > 1<<63) || !negative && size > math.MaxInt64 {
		c.corrupt("a minimum of %d, negative: %v", size, negative)
	}
	s.Min = int64(size)
	if negative {
		s.Min = -s.Min
	}
	width := uint64(0)
	if s.Count > 1 {
		width = c.natural(kind+tableWidth, uint64(s.Max)-uint64(s.Min), 0, class, few<<7|uint64(bits.Len64(size)), few<<7|uint64(of.width))
		if width > math.MaxInt64-uint64(s.Min) {
			c.corrupt("a maximum that is %d above %d", width, s.Min)
		}
		of.width = bits.Len64(width)
	}
	s.Max = int64(uint64(s.Min) + width)
	of.minimum = bits.Len64(size)
	*last = of.minimum

	ranks := &c.ranks[column]
	maxRanks := []uint32{0, ranks[1]}
	minRanks := ranks[:1]
	if column > 0 && first.Count > 0 {
		minRanks = []uint32{first.MinRank, first.MaxRank}
		maxRanks = []uint32{0, first.MaxRank, first.MinRank}
	}
	s.MinRank = c.rank(kind+tableMinRank, s.MinRank, few, minRanks)
	if width > 0 {
		maxRanks[0] = s.MinRank
		s.MaxRank = c.rank(kind+tableMaxRank, s.MaxRank, few, maxRanks)
	} else {
		s.MaxRank = s.MinRank
	}
	*ranks = [2]uint32{s.MinRank, s.MaxRank}
}

// rank codes a rank, which is likely to be one of some.
func (c *tableCoder) rank(kind int, rank uint32, few uint64, likely []uint32) uint32 {
	if c.rankBits == 0 {
		return 0
	}
	for i, r := range likely {
		if !slices.Contains(likely[:i], r) && c.flag(kind+i, rank == r, 0, few) {
			return r
		}
	}
	n := uint32(0)
	for i := c.rankBits - 1; i >= 0; i-- {
		n = n<<1 | c.coder.Even(rank>>i&1)
	}
	if slices.Contains(likely, n) {
		c.corrupt("rank %d, which was ruled out", n)
	}
	c.top = max(c.top, n)
	return n
}

// sums codes the sums, rounded.
func (c *tableCoder) sums(column int, s *Statistics) {
	switch {
	case s.Min == s.Max:
		if c.coder.Reading() {
			s.setSums(new(big.Int), new(big.Int))
		}
		return
	case s.Count == manyValues:
		return
	}
	var rest, more *big.Int
	p := s.spread()
	if !c.coder.Reading() {
		rest, more = p.round(s)
	}
	rest = c.sum(column, s, p, rest)
	more = c.squares(column, p, rest, more)
	if c.coder.Reading() && c.err == nil {
		s.setRounded(p, rest, more)
	}
}

// sum codes the sum of the others.
func (c *tableCoder) sum(column int, s *Statistics, p *spread, rest *big.Int) *big.Int {
	if p.most.Sign() == 0 {
		return new(big.Int)
	}
	var (
		distance *big.Int
		far      bool
		kind     = column * tableKinds
		size     = uint64(p.most.BitLen())
	)
	if rest != nil {
		distance, far = p.near(rest)
	}
	far = c.flag(kind+tableFar, far, 0, uint64(min(bits.Len64(s.Count), 4)))
	distance = c.number(kind+tableSum, 7, p.digits, distance,
		0, size, uint64(bits.Len64(s.Count))<<7|uint64(p.width.BitLen()), uint64(c.class)<<7|size)
	if distance.Cmp(roundDigits(p.half, p.digits)) > 0 {
		c.corrupt("a sum that is farther from the end of its range than %v", p.half)
	}
	rest = p.rest(upTo(distance, p.half), far)
	if _, is := p.near(rest); is != far {
		c.corrupt("a sum in the middle, from the far end")
	}
	return rest
}

// squares codes how much the sum of squares is more than the least.
func (c *tableCoder) squares(column int, p *spread, rest, more *big.Int) *big.Int {
	room := p.room(rest)
	if room.Sign() == 0 {
		return room
	}
	size, least := room.BitLen(), p.least(rest).BitLen()
	more = c.number(column*tableKinds+tableSquares, 8, squaresDigits, more,
		0, uint64(size), uint64(least)<<8|uint64(size))
	if more.Cmp(roundDigits(room, squaresDigits)) > 0 {
		c.corrupt("squares that are more than %v above the least", room)
	}
	return upTo(more, room)
}

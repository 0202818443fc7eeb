package timing

import (
	"math"
	"math/big"

	"github.com/reprise-trace/reprise/internal/numbers"
)

const (
	// sumDigits and squaresDigits are the binary digits that a table of statistics
	// keeps of sums and of sums of squares, of what is not known of these.
	sumDigits     = 12
	squaresDigits = 7

	// exactWidth is the distance of maximum and minimum below which sums are kept
	// as they are: what rounding does to the sums of squares is little against the
	// square of a larger distance.
	exactWidth = 1 << 8
)

// A spread describes the values whose statistics have such a count,
// minimum and maximum, as distances from the minimum: one of them is 0, one is
// width, and others are from 0 to width.
type spread struct {
	width, others *big.Int
	most          *big.Int // that the others can sum up to
	half          *big.Int // ⌊most/2⌋
	digits        int      // of the sum
}

// spread returns facts about the values of s. There must be two different ones
// at least, and less than manyValues.
func (s *Statistics) spread() *spread {
	p := &spread{
		width:  new(big.Int).Sub(big.NewInt(s.Max), big.NewInt(s.Min)),
		others: new(big.Int).SetUint64(s.Count - 2),
		digits: numbers.AllDigits,
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
	rest = p.rest(upTo(numbers.RoundDigits(distance, p.digits), p.half), far)
	if more = squares.Sub(squares, p.least(exact)); more.Sign() > 0 {
		more = numbers.RoundDigits(more, squaresDigits)
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

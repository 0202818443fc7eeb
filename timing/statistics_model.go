package timing

import (
	"math"

	"github.com/reprise-trace/reprise/internal/numbers"
	"github.com/reprise-trace/reprise/internal/wide"
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
	width, others uint64
	most          wide.Number // that the others can sum up to
	half          wide.Number // ⌊most/2⌋
	digits        int         // of the sum
}

// spread returns facts about the values of s. There must be two different ones
// at least, and less than manyValues.
func (s *Statistics) spread() (p spread) {
	p.width, p.others, p.digits = uint64(s.Max)-uint64(s.Min), s.Count-2, numbers.AllDigits
	p.most = wide.Of(p.width).Mul(wide.Of(p.others))
	p.half = p.most.Shr(1)
	if p.width >= exactWidth {
		p.digits = sumDigits
	}
	return p
}

// near returns the distance of a sum of the others from the nearer end of its
// range, and whether that is the far one.
func (p *spread) near(rest wide.Number) (distance wide.Number, far bool) {
	if p.half.Less(rest) && p.most.Less(rest.Shl(1)) {
		return p.most.Sub(rest), true
	}
	return rest, false
}

// rest is the inverse of near.
func (p *spread) rest(distance wide.Number, far bool) wide.Number {
	if far {
		return p.most.Sub(distance)
	}
	return distance
}

// least returns the least sum of squares of all, given the sum of the others.
func (p *spread) least(rest wide.Number) wide.Number {
	width := wide.Of(p.width)
	n := width.Mul(width)
	if p.others == 0 {
		return n
	}
	square, left := rest.Mul(rest).DivMod(p.others)
	if n = n.Add(square); left > 0 {
		n = n.Add(wide.Of(1))
	}
	return n
}

// room returns how much more than the least the sum of squares can be: as many of
// the others as possible are equal to width then.
func (p *spread) room(rest wide.Number) wide.Number {
	full, remainder := rest.DivMod(p.width)
	width, left := wide.Of(p.width), wide.Of(remainder)
	most := full.Add(wide.Of(1)).Mul(width).Mul(width).Add(left.Mul(left))
	return most.Sub(p.least(rest))
}

// round returns the sums of the distances of s, rounded: the sum of the others,
// and how much the squares are more than the least.
func (p *spread) round(s *Statistics) (rest, more wide.Number) {
	above, squares := s.distances()
	exact := upTo(above.Sub(wide.Of(p.width)), p.most)
	distance, far := p.near(exact)
	rest = p.rest(upTo(numbers.RoundDigits(distance, p.digits), p.half), far)
	if more = squares.Sub(p.least(exact)); !more.IsNegative() {
		more = numbers.RoundDigits(more, squaresDigits)
	}
	return rest, upTo(more, p.room(rest))
}

// upTo returns the number from 0 to most that is nearest to n, in two's complement.
func upTo(n, most wide.Number) wide.Number {
	switch {
	case n.IsNegative():
		return wide.Number{}
	case most.Less(n):
		return most
	}
	return n
}

// setRounded sets the sums of s to rounded ones.
func (s *Statistics) setRounded(p *spread, rest, more wide.Number) {
	s.setSums(wide.Of(p.width).Add(rest), more.Add(p.least(rest)))
}

// roundingError returns how far the sum may be off that was read from a table, which says
// that for sums that were rounded so many times, see roundingsShift.
func (s *Statistics) roundingError(times int) uint64 {
	if s.Count == manyValues || s.Count <= 2 || s.Min == s.Max {
		return 0 // it is known, or is not there
	}
	p := s.spread()
	above, _ := s.distances()
	distance, _ := p.near(above.Sub(wide.Of(p.width)))
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
	rounded, off := *s, wide.Of(s.slack)
	if s.Count > 2 && s.Min != s.Max {
		p := s.spread()
		rest, more := p.round(s)
		rounded.setRounded(&p, rest, more)
		moved := wide.Extended(s.sum[:]).Sub(wide.Extended(rounded.sum[:]))
		if moved.IsNegative() {
			moved = wide.Number{}.Sub(moved)
		}
		off = off.Add(moved)
	}
	rounds = rounded.roundingError(0) > 0
	if s.slack == 0 {
		return 0, rounds
	}
	for times := range unknownRoundings {
		bound := rounded.roundingError(times)
		if bound == math.MaxUint64 || !wide.Of(bound).Less(off) {
			return times, rounds
		}
	}
	return unknownRoundings, rounds
}

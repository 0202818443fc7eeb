package timing

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A correctionModel codes by how much the clock moves at each call, in units of the
// block. It is the more likely to move, and the
// farther, the longer the times are from which the clock places the call: each call
// is in a class by these. What a class has not learned yet of amounts, it has from
// all.
type correctionModel struct {
	coder adaptive.Coder
	moves [4][correctionClasses]adaptive.Bit // whether the clock moves, by what it did before
	last  int                                // whether it moved at the two calls before, a bit each
	signs adaptive.Bit
	all   lengthModel
	class [correctionClasses]lengthModel
	tops  [maxLength]adaptive.Bit // the second bit of an amount, by number of bits less two
}

// A lengthModel learns the number of bits of amounts: whether it is larger than
// one and the index.
type lengthModel [maxLength - 1]adaptive.Bit

const (
	correctionClasses = 32
	maxLength         = 64 // bits of an amount, without its sign
)

// code codes an amount at a call of a class.
func (m *correctionModel) code(class int, amount int64) int64 {
	moves := uint32(0)
	if amount != 0 {
		moves = 1
	}
	moves = m.coder.Adapt(&m.moves[m.last][class], adaptive.Even, moves)
	m.last = m.last<<1&2 | int(moves)
	if moves == 0 {
		return 0
	}
	sign := -int64(m.coder.Adapt(&m.signs, adaptive.Even, uint32(uint64(amount)>>63)))
	n := uint64((amount ^ sign) - sign)
	length := m.length(class, bits.Len64(n))
	v := uint64(1)
	for i := length - 2; i >= 0; i-- {
		bit := uint32(n>>i) & 1
		if i == length-2 {
			bit = m.coder.Adapt(&m.tops[i], adaptive.Even, bit)
		} else {
			bit = m.coder.Even(bit)
		}
		v = v<<1 | uint64(bit)
	}
	return (int64(v) ^ sign) - sign
}

// length codes the number of bits of an amount.
func (m *correctionModel) length(class, length int) int {
	for n := range maxLength - 1 {
		longer := uint32(0)
		if length > n+1 {
			longer = 1
		}
		all := m.all[n].Or(adaptive.Even)
		longer = m.coder.Adapt(&m.class[class][n], all, longer)
		m.all[n] = all.Learned(longer)
		if longer == 0 {
			return n + 1
		}
	}
	return maxLength
}

// classOf returns the class of a call that is placed by values, where starts move by
// a unit.
func classOf(unit uint64, v, w int64) int {
	if v < 0 {
		v = -v
	}
	if w < 0 {
		w = -w
	}
	return min(max(0, bits.Len64(uint64(v)+uint64(w))-bits.Len64(unit)), correctionClasses-1)
}

// A correctionReader reads the corrections of a block.
type correctionReader struct {
	unit  int64 // 0 if there are none
	some  bool  // of the calls so far had one
	model *correctionModel
	at    int // offset of the number
}

// open reads the unit of corrections, and goes to the first of them.
func (r *correctionReader) open(d *wire.Decoder) {
	if r.unit = int64(d.UvarintMax("unit", math.MaxInt64)); r.unit == 0 {
		return
	}
	number := d.String("corrections")
	r.at = d.Offset() - len(number)
	r.model = new(correctionModel)
	r.model.coder.Read(number)
}

// next returns the correction of the next call, in nanoseconds.
func (r *correctionReader) next(class int) int64 {
	amount := r.model.code(class, 0)
	r.some = r.some || amount != 0
	return amount * r.unit
}

// check returns an error if the number ended before its calls, or, after the last
// one, did not end as that of an encoder.
func (r *correctionReader) check(last bool) error {
	if r.unit == 0 || !r.model.coder.Ended() && (!last || r.some && r.model.coder.Finished()) {
		return nil
	}
	return &ParseError{Package: "timing", Offset: int64(r.at), Field: "corrections", Err: fmt.Errorf("%w: the number ends otherwise", ErrCorrupt)}
}

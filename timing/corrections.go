package timing

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A drift follows the clock of a decoder, and finds the corrections it needs.
type drift struct {
	clock     clock
	guarantee Guarantee
	starts    int64   // a further bound, if it is above 0
	longest   float64 // gap of the block
	calls     []placed
	found     []int64 // corrections of the calls, in units
}

// A placed is a call of the block: its true start, and what the decoder gives
// back for the rest.
type placed struct {
	start    int64
	duration int64
	delta    int64
	chain    int32
}

// append adds a call, with the true gap before it.
func (d *drift) append(gap int64, c placed) {
	d.calls = append(d.calls, c)
	d.longest = max(d.longest, math.Abs(float64(gap)))
}

// appendCorrections appends the unit of the corrections of the block and these,
// or 0 if there are none, and begins the next block.
func (d *drift) appendCorrections(dst []byte) []byte {
	unit, count := d.corrections()
	if count == 0 {
		dst = append(dst, 0)
	} else {
		dst = wire.AppendUvarint(dst, unit)
		dst = wire.AppendString(dst, string(d.encode(unit)))
	}
	d.calls, d.longest = d.calls[:0], 0
	return dst
}

// encode codes the corrections that were found.
func (d *drift) encode(unit uint64) []byte {
	m := new(correctionModel)
	m.coder.Write(nil)
	var before int64
	for i, c := range d.calls {
		m.code(classOf(unit, before, c.delta), d.found[i])
		if d.clock.form == Gaps {
			before = c.duration
		}
	}
	return m.coder.Finish()
}

// corrections finds the corrections of the block, and returns their unit and
// number.
func (d *drift) corrections() (unit uint64, count int) {
	bound := math.Nextafter(d.longest*min(float64(d.guarantee), 1), 0)
	if d.starts > 0 {
		bound = min(bound, float64(d.starts))
	}
	// A correction leaves the clock no farther from the truth than half the unit.
	// Smaller units take more bits, and larger ones corrections sooner again.
	unit = uint64(max(1, min(1.5*bound, 0x1p61)))
	count, ok := d.correct(bound, unit)
	if !ok {
		unit = 1
		count, _ = d.correct(bound, unit)
	}
	return unit, count
}

// correct sets d.found to corrections by multiples of a unit: one wherever the
// clock is farther from the truth than the bound. It returns their number and
// whether they do, as those of one nanosecond always do.
func (d *drift) correct(bound float64, unit uint64) (count int, ok bool) {
	d.clock.reset(d.calls[0].start)
	d.found = d.found[:0]
	for i, c := range d.calls {
		chain := int(c.chain)
		start := d.clock.place(chain) + c.delta
		if i == 0 {
			start = c.start
		}
		amount := int64(0)
		if start != c.start && !near(start, c.start, bound) {
			amount = nearest(c.start-start, int64(unit))
			start += amount * int64(unit)
			if amount == 0 || start != c.start && !near(start, c.start, bound) {
				return 0, false
			}
			count++
		}
		d.found = append(d.found, amount)
		d.clock.set(chain, start, c.duration)
	}
	return count, true
}

// nearest returns n/unit, rounded.
func nearest(n, unit int64) int64 {
	q, r := n/unit, n%unit
	switch {
	case r > (unit-1)/2:
		q++
	case r < -(unit-1)/2:
		q--
	}
	return q
}

// near reports whether v and w are no farther from each other than a bound above
// 0. If the difference overflows, its sign is wrong.
func near(v, w int64, bound float64) bool {
	x := v - w
	return bound > 0 && math.Abs(float64(x)) <= bound && (x > 0) == (v > w)
}

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
	return &ParseError{Package: "timing", Offset: int64(r.at), Field: "corrections",
		Err: fmt.Errorf("%w: the number ends otherwise", ErrCorrupt)}
}

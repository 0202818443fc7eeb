package timing

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A drift follows the clock of a decoder, and finds the corrections it needs.
type drift struct {
	clock     clock
	guarantee Guarantee
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

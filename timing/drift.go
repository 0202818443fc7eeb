package timing

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A drift follows the clock of a decoder, and finds the corrections it needs.
type drift[V Value] struct {
	clock     clock[V]
	guarantee Guarantee
	longest   float64 // gap of the block
	calls     []placed[V]
	found     []int64 // corrections of the calls, in units
}

// A placed is a call of the block: its true start, and what the decoder gives
// back for the rest.
type placed[V Value] struct {
	start    V
	duration V
	lapse    V
	chain    int32
}

// append adds a call, with the true gap before it.
func (d *drift[V]) append(gap V, c placed[V]) {
	d.calls = append(d.calls, c)
	if g := math.Abs(float64(gap)); g > d.longest && g <= math.MaxFloat64 {
		d.longest = g
	}
}

// appendCorrections appends the unit of the corrections of the block and these,
// or 0 if there are none, and begins the next block.
func (d *drift[V]) appendCorrections(dst []byte) []byte {
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
func (d *drift[V]) encode(unit uint64) []byte {
	m := new(correctionModel)
	m.coder.write(nil)
	var before V
	for i, c := range d.calls {
		m.code(classOf(unit, d.calls[0].start, before, c.lapse), d.found[i])
		if d.clock.form == Gaps {
			before = c.duration
		}
	}
	return m.coder.finish()
}

// corrections finds the corrections of the block, and returns their unit and
// number.
func (d *drift[V]) corrections() (unit uint64, count int) {
	bound := math.Nextafter(d.longest*min(float64(d.guarantee), 1), 0)
	// A correction leaves the clock no farther from the truth than half the unit.
	// Smaller units take more bits, and larger ones corrections sooner again.
	unit = d.unit(1.5 * bound)
	count, ok := d.correct(bound, unit)
	if !ok {
		unit = 1
		count, _ = d.correct(bound, unit)
	}
	return unit, count
}

// unit returns the largest number of steps, of float64 of those that are powers
// of two, that moves no start farther than a distance.
func (d *drift[V]) unit(distance float64) uint64 {
	if !isFloat[V]() {
		return uint64(max(1, min(distance, 0x1p61)))
	}
	farthest := 0.0
	for _, c := range d.calls {
		farthest = max(farthest, math.Abs(float64(c.start)))
	}
	farthest += distance
	if !(distance > 0 && farthest <= math.MaxFloat64) {
		return 1
	}
	const mantissa = 52
	return 1 << max(0, min(mantissa-1, math.Ilogb(distance)-math.Ilogb(farthest)+mantissa))
}

// correct sets d.found to corrections by multiples of a unit: one wherever the
// clock is farther from the truth than the bound. It returns their number and
// whether they do, as those of one step always do. The operations are those of the
// decoder, in the same order, because what float64 loses to rounding depends on
// that.
func (d *drift[V]) correct(bound float64, unit uint64) (count int, ok bool) {
	d.clock.reset(d.calls[0].start)
	d.found = d.found[:0]
	for i, c := range d.calls {
		chain := int(c.chain)
		start := sum(d.clock.place(chain), c.lapse)
		if i == 0 {
			start = c.start
		}
		amount := int64(0)
		if toBits(start) != toBits(c.start) && !near(start, c.start, bound) {
			amount = nearest(steps(start, c.start), int64(unit))
			start = step(start, amount*int64(unit))
			if amount == 0 || toBits(start) != toBits(c.start) && !near(start, c.start, bound) {
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
// 0. If the difference of int64 overflows, its sign is wrong.
func near[V Value](v, w V, bound float64) bool {
	x := v - w
	return bound > 0 && math.Abs(float64(x)) <= bound && (x > 0) == (v > w)
}

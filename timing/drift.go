package timing

import "math"

// A drift follows the clock of a decoder, and finds the corrections it needs.
type drift[V Value] struct {
	clock     clock[V]
	guarantee Guarantee
	longest   float64 // lapse so far
	calls     []placed[V]
	found     []correction
}

// A placed is a call of the block: its true start, and what the decoder gives
// back for the rest.
type placed[V Value] struct {
	start    V
	duration V
	lapse    V
	chain    int32
}

// append adds a call, with its true lapse.
func (d *drift[V]) append(lapse V, c placed[V]) {
	d.calls = append(d.calls, c)
	if l := math.Abs(float64(lapse)); l > d.longest && l <= math.MaxFloat64 {
		d.longest = l
	}
}

// corrections returns the corrections of the block, in the order of the calls,
// and begins the next block: one, to the truth, wherever the clock is farther
// from that than the bound. The operations are those of the decoder, in the same
// order, because what float64 loses to rounding depends on that.
func (d *drift[V]) corrections() []correction {
	d.clock.reset(d.calls[0].start)
	d.found = d.found[:0]
	bound := math.Nextafter(d.longest*min(float64(d.guarantee), 1), 0)
	for i, c := range d.calls {
		chain := int(c.chain)
		start := d.clock.place(chain) + c.lapse
		if i == 0 {
			start = c.start
		}
		if toBits(start) != toBits(c.start) && !near(start, c.start, bound) {
			d.found = append(d.found, correction{i, steps(start, c.start)})
			start = c.start
		}
		d.clock.set(chain, start, c.duration)
	}
	d.calls = d.calls[:0]
	return d.found
}

// near reports whether v and w are no farther from each other than a bound above
// 0. If the difference of int64 overflows, its sign is wrong.
func near[V Value](v, w V, bound float64) bool {
	x := v - w
	return bound > 0 && math.Abs(float64(x)) <= bound && (x > 0) == (v > w)
}

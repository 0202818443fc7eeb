package clocks

import (
	"cmp"
	"math"
	"slices"
)

// parts is into how many parts the time of a clock is divided. A window is two of them at least.
const parts = 32

// alone returns the error that a clock had if there were the messages of one window alone, of the window of which that is least, among the shortest that
// tell; 0 if none does. All messages together leave less, which they may do because the clock does not run evenly, though a line just fits: so its
// error is not less than that.
func (c *Clocks) alone(clock int, links []int, all []Aligned, placed []bool, inexact int64) (least int64) {
	limits := c.byPart(clock, links, all, placed)
	for n := 2; n < parts && least == 0; n *= 2 {
		for i := 0; i+n <= parts; i += n / 2 {
			window := slices.Concat(limits[i : i+n]...)
			slices.SortFunc(window, func(a, b limit) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.time, b.time)) })
			p := problemOf(window)
			if len(p.lower) == 0 || len(p.upper) == 0 || !p.fits(float64(tolerance(inexact))) {
				continue
			}
			if l, _ := p.solve(float64(mostOff(window)) + float64(inexact)); least == 0 || l.error < least {
				least = l.error
			}
		}
	}
	return least
}

// byPart returns those limits that matter which messages between a clock and others that are placed are, of each part of its time.
func (c *Clocks) byPart(clock int, links []int, all []Aligned, placed []bool) (limits [parts][]limit) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, other := range links {
		for _, m := range c.messages[[2]int{other, clock}].all() {
			first, last = min(first, m.received), max(last, m.received)
		}
		for _, m := range c.messages[[2]int{clock, other}].all() {
			first, last = min(first, m.sent), max(last, m.sent)
		}
	}
	width := (uint64(last)-uint64(first))/parts + 1
	for _, other := range links {
		if !placed[other] {
			continue
		}
		of := all[other]
		var to, from [parts]envelope
		for _, m := range c.messages[[2]int{other, clock}].all() {
			to[(uint64(m.received)-uint64(first))/width].add(m)
		}
		for _, m := range c.messages[[2]int{clock, other}].all() {
			from[(uint64(m.sent)-uint64(first))/width].add(m)
		}
		for i := range parts {
			for _, m := range to[i].hull() {
				limits[i] = append(limits[i], limit{m.received, of.Apply(m.sent), true, of.errorAt(m.sent)})
			}
			for _, m := range from[i].hull() {
				limits[i] = append(limits[i], limit{m.sent, of.Apply(m.received), false, of.errorAt(m.received)})
			}
		}
	}
	return limits
}

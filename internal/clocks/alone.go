package clocks

import (
	"math"
	"slices"
)

// parts is into how many parts the time of a clock is divided. A window is two of them at least.
const parts = 32

// alone returns the error that a clock had if there were the messages of one window alone, of the window of
// which that is least, among the shortest that tell; 0 if none does. All messages together leave less, which
// they may do because the clock does not run evenly, though a line just fits: so its error is not less than
// that.
func alone(limits [parts][]limit, inexact int64) (least int64) {
	for n := 2; n < parts && least == 0; n *= 2 {
		for i := 0; i+n <= parts; i += n / 2 {
			p, off, ok := window(limits[i:i+n], inexact)
			if !ok {
				continue
			}
			if l, _ := p.solve(off); least == 0 || l.error < least {
				least = l.error
			}
		}
	}
	return least
}

// inQuarters returns how far a clock may be off a line that fits all messages if it is within what the
// messages of the first quarter of its time leave, of the half in the middle, and of the last quarter: one
// that begins to drift otherwise in between may be that far off at the begin or at the end. Where a quarter
// has next to no messages, that is much.
func inQuarters(l line, limits [parts][]limit, inexact int64) (most int64) {
	for _, quarters := range [][2]int{{0, 1}, {1, 3}, {3, 4}} {
		if p, off, ok := window(limits[quarters[0]*parts/4:quarters[1]*parts/4], inexact); ok {
			most = max(most, p.errorOf(l.from(p.x0, p.y0), off))
		}
	}
	return most
}

// window returns the problem that limits of some parts are, and by how much they may be off; false if they
// tell nothing, or no line fits.
func window(limits [][]limit, inexact int64) (p *problem, off float64, ok bool) {
	list := slices.Concat(limits...)
	slices.SortFunc(list, compareLimits)
	p = problemOf(list)
	if len(p.lower) == 0 || len(p.upper) == 0 || !p.fits(float64(tolerance(inexact))) {
		return nil, 0, false
	}
	return p, float64(mostOff(list)) + float64(inexact), true
}

// byPart returns those limits that matter which messages between a clock and others that are placed are, of
// each part of its time.
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

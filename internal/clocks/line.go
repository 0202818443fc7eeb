package clocks

import (
	"math"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// maxDrift is how much faster a clock runs than another, at most: kernels allow 500 ppm for each.
const maxDrift = 1e-3

// A problem is to place a clock: to find the line y over x, the times of the clock, by which it is to be
// moved.
type problem struct {
	begun        bool
	x0, y0       int64 // of the first bound, from which others count
	first, last  float64
	lower, upper []bound
}

// A bound is a point that the line is above or below.
type bound struct{ x, y float64 }

// add adds the bound that the time x of the clock is, once it is moved, after or before a time.
func (p *problem) add(x, time int64, after bool) {
	if !p.begun {
		p.begun, p.x0, p.y0 = true, x, time-x
	}
	b := bound{float64(x - p.x0), float64(time - x - p.y0)}
	if after {
		p.lower = append(p.lower, b)
	} else {
		p.upper = append(p.upper, b)
	}
}

// reach says that the clock is asked for the time x.
func (p *problem) reach(x int64) {
	p.first, p.last = min(p.first, float64(x-p.x0)), max(p.last, float64(x-p.x0))
}

// A line is by what a clock is moved.
type line struct {
	x0, y0   int64
	at, rate float64 // y − y0 at x0, and by how much it grows
	error    int64
}

// alignment returns the line as an Alignment.
func (l line) alignment() format.Alignment {
	return format.Alignment{Offset: l.y0 + int64(math.Round(l.at)),
		Rate: int64(math.Round(l.rate * (1 << 50))), Since: l.x0}
}

// from returns the same line, from another point on.
func (l line) from(x0, y0 int64) line {
	l.at += float64(wire.SubTimes(l.y0, y0)) + float64(l.rate*float64(wire.SubTimes(x0, l.x0)))
	l.x0, l.y0 = x0, y0
	return l
}

// ends returns between which values at x0 a line of some rate is, by the bounds; from may be above to if
// there is no such line.
func (p *problem) ends(rate float64) (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	for _, b := range p.lower {
		from = max(from, b.y-float64(rate*b.x))
	}
	for _, b := range p.upper {
		to = min(to, b.y-float64(rate*b.x))
	}
	return from, to
}

// solve returns the line in the middle of what the bounds leave; false if they leave all. Its error is how
// far from it the true line may be if bounds may be off by so much.
func (p *problem) solve(off float64) (line, bool) {
	if len(p.lower) == 0 || len(p.upper) == 0 {
		return line{}, false
	}
	room := func(rate float64) float64 {
		from, to := p.ends(rate)
		return to - from
	}
	// The room is concave over the rate: it rises to its maximum, and falls from there.
	best := highest(room, -maxDrift, maxDrift)
	most := room(best)
	// Of all rates that leave room, the middle is taken; if several leave as much as is possible, as
	// where all messages come at once, no drift is assumed without need.
	rate := best
	if most > 0 {
		least, greatest := edge(room, best, -maxDrift), edge(room, best, maxDrift)
		if rate = (least + greatest) / 2; least <= -maxDrift || greatest >= maxDrift {
			rate = min(max(0, least), greatest)
		}
	}
	from, to := p.ends(rate)
	l := line{x0: p.x0, y0: p.y0, at: (from + to) / 2, rate: rate}
	l.error = p.errorOf(l, off)
	return l, true
}

// errorOf returns how far the true line may be from another if bounds may be off by so much.
func (p *problem) errorOf(l line, off float64) int64 {
	wider := func(rate float64) float64 {
		from, to := p.ends(rate)
		return to - from + 2*off
	}
	best := highest(wider, -maxDrift, maxDrift)
	least, greatest := best, best
	if wider(best) > 0 {
		least, greatest = edge(wider, best, -maxDrift), edge(wider, best, maxDrift)
	}
	from, to := p.ends(l.rate)
	far := max(p.far(l, least, greatest)+off, (from-to)/2)
	return int64(math.Ceil(min(far, math.MaxInt64/4)))
}

// fits reports whether there is a line within the bounds if they may be off by so much.
func (p *problem) fits(off float64) bool {
	room := func(rate float64) float64 {
		from, to := p.ends(rate)
		return to - from
	}
	return room(highest(room, -maxDrift, maxDrift))+2*off >= 0
}

// far returns how far a line may be from the true one, of which the rate is in a range, as long as there are
// messages.
func (p *problem) far(l line, least, greatest float64) (far float64) {
	for _, x := range []float64{p.first, p.last} {
		here := l.at + float64(l.rate*x)
		above := func(rate float64) float64 {
			_, to := p.ends(rate)
			return to + float64(rate*x) - here
		}
		below := func(rate float64) float64 {
			from, _ := p.ends(rate)
			return here - from - float64(rate*x)
		}
		far = max(far, above(highest(above, least, greatest)), below(highest(below, least, greatest)))
	}
	return far
}

// highest returns where a concave function is greatest.
func highest(f func(float64) float64, from, to float64) float64 {
	for range 200 {
		third := (to - from) / 3
		a, b := from+third, to-third
		if !(a < b) {
			break
		}
		if f(a) < f(b) {
			from = a
		} else {
			to = b
		}
	}
	return (from + to) / 2
}

// edge returns how far one can go from inside to a limit until a concave function is no longer positive.
func edge(f func(float64) float64, inside, limit float64) float64 {
	if f(limit) > 0 {
		return limit
	}
	for range 100 {
		middle := (inside + limit) / 2
		if middle == inside || middle == limit {
			break
		}
		if f(middle) > 0 {
			inside = middle
		} else {
			limit = middle
		}
	}
	return inside
}

package clocks

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A limit is what a message or its answer says of a clock: at the time x, it is at least or at most so much
// once it is moved, which may be off by the error of the other clock.
type limit struct {
	x, time int64
	after   bool
	off     int64
}

func compareLimits(a, b limit) int {
	return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.time, b.time))
}

// byPieces places all clocks that are placed again, each by as few lines as its messages allow, one after the
// other, if that has messages arrive less early.
func (c *Clocks) byPieces(links [][]int, all []Aligned, placed []bool, inexact int64) {
	pieces := slices.Clone(all)
	done := make([]bool, len(placed))
	done[0] = true
	for _, k := range breadthFirst(links, 0)[1:] {
		if !placed[k] {
			continue
		}
		limits := c.limits(k, links[k], pieces, done)
		lines := cut(limits, float64(tolerance(inexact)), float64(inexact))
		if len(lines) == 0 || len(lines) > piecewise.MaxPieces {
			return
		}
		least := alone(c.byPart(k, links[k], pieces, done), inexact)
		pieces[k], done[k] = joined(lines), true
		pieces[k].unsure(lines, limits, float64(inexact))
		pieces[k].raiseAll(least)
	}
	if c.early(pieces, done, nil) < c.early(all, placed, nil) {
		copy(all, pieces)
	}
}

// limits returns what all messages between a clock and others that are placed say of it, in the order of its
// time.
func (c *Clocks) limits(clock int, others []int, all []Aligned, placed []bool) (list []limit) {
	for _, other := range others {
		if !placed[other] {
			continue
		}
		for _, m := range c.messages[[2]int{other, clock}].all() {
			list = append(list, limit{m.received, all[other].Apply(m.sent), true, all[other].errorAt(m.sent)})
		}
		for _, m := range c.messages[[2]int{clock, other}].all() {
			list = append(list, limit{m.sent, all[other].Apply(m.received), false, all[other].errorAt(m.received)})
		}
	}
	slices.SortFunc(list, compareLimits)
	return list
}

// A placedLine is a line from the first of its limits to the last.
type placedLine struct {
	line
	from, to    int64
	begin, end  int // its limits
	least, most int // the limit that the next line begins with, at the earliest and at the latest
}

// cut returns lines that limits allow, each of which may be missed by a tolerance: each line for as many as
// it can be, but for those that the next allows as well. Limits may be off by so much more than they are
// because of the other clock.
func cut(limits []limit, tolerance, inexact float64) (lines []placedLine) {
	fits := func(list []limit) bool { return problemOf(list).fits(tolerance) }
	limits = slices.Clone(limits)
	last := line{error: -1}
	begin, first := 0, 0 // and how many of the rest are what the line before says, in the place of its last limit
	for begin < len(limits) && len(lines) <= piecewise.MaxPieces {
		rest := limits[begin-first:]
		n := longest(rest, fits)
		l := solve(rest[:n], n, last, inexact)
		if n == len(rest) {
			return append(lines, placedLine{line: l, from: rest[0].x, to: rest[n-1].x, begin: begin, end: len(limits)})
		}
		m := n + longest(rest[n:], fits)
		least := max(first+1, n-search(n, func(more int) bool { return fits(rest[n-more : m]) }))
		at, from, to := boundary(rest, least, n, l, solve(rest[least:m], m-least, l, inexact))
		last = solve(rest[:n], at, last, inexact) // which is the same line, for as long as it holds
		end := begin + at - first
		lines = append(lines, placedLine{last, rest[0].x, rest[at-1].x, begin, end, begin + from - first,
			begin + to - first})
		first = 0
		// time does not go back
		rest[at-1] = limit{rest[at].x, piecewise.Apply(last.alignment(), rest[at-1].x), true, rest[at].off}
		if fits(rest[at-1 : m]) {
			first = 1
		}
		begin = end
	}
	return lines
}

// solve returns the line in the middle of what limits leave, with its error for the first of them, or the
// last line, moved, if they leave all.
func solve(list []limit, of int, last line, inexact float64) line {
	p := problemOf(list)
	p.last = float64(list[of-1].x - p.x0)
	off := mostOff(list[:of])
	l, ok := p.solve(float64(off) + inexact)
	if !ok {
		return p.touch(last)
	}
	// Later limits that are less certain do not make the error less.
	certain := slices.DeleteFunc(slices.Clone(list), func(l limit) bool { return l.off > off })
	if len(certain) < len(list) {
		p = problemOf(certain)
		p.last = float64(list[of-1].x - p.x0)
		l.error = p.errorOf(l, float64(off)+inexact)
	}
	return l
}

// mostOff returns how far off the other clocks of limits may be.
func mostOff(list []limit) int64 {
	return slices.MaxFunc(list, func(a, b limit) int { return cmp.Compare(a.off, b.off) }).off
}

// longest returns how many limits from the first on fit, those with the x of the first at least.
func longest(limits []limit, fits func([]limit) bool) int {
	n := 1
	for n < len(limits) && (limits[n].x == limits[0].x || fits(limits[:min(2*n, len(limits))])) {
		n = min(2*n, len(limits))
	}
	if n < len(limits) { // n fit, 2·n do not
		n += search(min(2*n, len(limits))-n, func(more int) bool { return fits(limits[:n+more]) })
	}
	for first := n; n < len(limits); n++ { // not in the middle of those of one x
		if limits[n].x != limits[first-1].x {
			break
		}
	}
	return n
}

// boundary returns the first limit of the next line, from least to most: where time goes back least, and then
// where the lines are closest. It also returns the first and the last where time may not go back, as far as
// is known of both lines.
func boundary(limits []limit, least, most int, before, next line) (best, first, last int) {
	a, b := before.alignment(), next.alignment()
	best = most
	var back, jump int64
	for at := most; at >= least; at-- {
		from, to := limits[at].x, limits[at-1].x
		if from == to {
			continue
		}
		by := wire.SubTimes(piecewise.Apply(a, from), piecewise.Apply(b, from))
		by = max(by, wire.SubTimes(0, by))
		over := max(0, wire.SubTimes(piecewise.Apply(a, to), piecewise.Apply(b, from)))
		if at == most || over < back || over == back && by < jump {
			best, back, jump = at, over, by
		}
		if over <= wire.AddTimes(before.error, next.error) {
			if first = at; last == 0 {
				last = at
			}
		}
	}
	if last == 0 {
		return best, best, best
	}
	return best, min(best, first), max(best, last)
}

// touch returns a line that is moved until it meets bounds of one side.
func (p *problem) touch(l line) line {
	if l.error < 0 { // of none
		l = line{x0: p.x0}
	}
	from, to := p.ends(l.rate)
	if math.IsInf(from, 0) {
		from = to
	}
	before := piecewise.Apply(l.alignment(), p.x0)
	l.x0, l.y0, l.at = p.x0, p.y0, from
	moved := wire.SubTimes(piecewise.Apply(l.alignment(), p.x0), before)
	l.error = wire.AddTimes(l.error, max(moved, wire.SubTimes(0, moved)))
	return l
}

// search returns the greatest i below n for which fits holds, as it does for 0.
func search(n int, fits func(int) bool) int {
	low, high := 0, n
	for low+1 < high {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// problemOf returns the problem to find a line between limits, which has those only that matter.
func problemOf(limits []limit) *problem {
	p := new(problem)
	for _, l := range limits {
		p.add(l.x, l.time, l.after)
		p.reach(l.x)
	}
	p.lower, p.upper = hullOf(p.lower, 1), hullOf(p.upper, -1)
	return p
}

// hullOf returns the bounds, in ascending order of x, of the upper hull, or of the lower one if sign is −1,
// in place.
func hullOf(list []bound, sign float64) []bound {
	hull := list[:0]
	for _, b := range list {
		for n := len(hull); n > 1; n-- {
			a, m := hull[n-2], hull[n-1]
			left, right := float64((m.y-a.y)*(b.x-a.x)), float64((b.y-a.y)*(m.x-a.x))
			if sign*(left-right) > 0 || math.IsNaN(left-right) {
				break
			}
			hull = hull[:n-1]
		}
		hull = append(hull, b)
	}
	return hull
}

// joined returns the pieces of a clock. Each begins as late as it can so that time does not stand still where
// its limits are.
func joined(lines []placedLine) (a Aligned) {
	a = Aligned{Alignment: lines[0].alignment(), Error: lines[0].error}
	if len(lines) == 1 {
		return a
	}
	before := a.Alignment
	for i, l := range lines {
		a.Errors = append(a.Errors, l.error)
		if i == 0 {
			continue
		}
		next := l.alignment()
		since := max(wire.AddTimes(lines[i-1].to, 1), notAfter(before, l.from, piecewise.Apply(next, l.from)))
		next = format.Alignment{Offset: wire.SubTimes(piecewise.Apply(next, since), since), Rate: next.Rate,
			Since: since}
		a.Later, before = append(a.Later, next), next
	}
	a.Error = slices.Max(a.Errors)
	return a
}

// maxParts is into how many parts limits are divided, at most, that may be of either of two pieces.
const maxParts = 8

// unsure raises the errors of pieces where it is not known which of two lines limits are of: wherever the
// next line begins, the clock is within what limits of the one before it, up to there, or those of the next,
// from there on, leave.
func (a *Aligned) unsure(lines []placedLine, limits []limit, inexact float64) {
	for i, l := range lines[:len(lines)-1] {
		// What is certainly of each of both, if anything is.
		first, last := l.begin, lines[i+1].end
		if i > 0 && lines[i-1].most < l.least {
			first = lines[i-1].most
		}
		if i+2 < len(lines) && lines[i+1].least > l.most {
			last = lines[i+1].least
		}
		for _, half := range [][2]int{{l.least, l.end}, {l.end, l.most}} {
			for part := range maxParts {
				n := half[1] - half[0]
				from, to := half[0]+part*n/maxParts, half[0]+(part+1)*n/maxParts
				if from == to {
					continue
				}
				x, y := limits[from].x, limits[to-1].x
				// none where a line goes beyond those next to it
				before, after := limits[min(first, from):from], limits[to:max(last, to)]
				off := max(a.within(before, l.line, x, y, inexact), a.within(after, lines[i+1].line, x, y, inexact))
				a.raise(x, off)
				a.raise(y, off)
			}
		}
	}
}

// within returns how far the clock may be off at two times and between, if it is within what limits leave, of
// which the line is in the middle.
func (a *Aligned) within(limits []limit, middle line, x, y int64, inexact float64) int64 {
	p := problemOf(limits)
	if len(p.lower) == 0 || len(p.upper) == 0 { // then as far as the line may be
		m := middle.alignment()
		far := func(time int64) int64 {
			off := wire.SubTimes(piecewise.Apply(m, time), a.Apply(time))
			return max(off, wire.SubTimes(0, off))
		}
		return wire.AddTimes(max(far(x), far(y)), middle.error)
	}
	p.first, p.last = float64(x-p.x0), float64(y-p.x0)
	at, rate := float64(a.Apply(x)-x-p.y0), 0.0
	if x < y {
		rate = (float64(a.Apply(y)-y-p.y0) - at) / float64(y-x)
	}
	return p.errorOf(line{x0: p.x0, y0: p.y0, at: at - float64(rate*p.first), rate: rate},
		float64(mostOff(limits))+inexact)
}

// notAfter returns a time, at most so late, that an alignment makes no later than another time: the latest,
// or some nanoseconds earlier.
func notAfter(a format.Alignment, time, other int64) int64 {
	for range 4 { // each time, what is over gets less by a factor of at least 64
		over := wire.SubTimes(piecewise.Apply(a, time), other)
		if over <= 0 {
			break
		}
		time = wire.SubTimes(time, wire.AddTimes(over, over/64+1))
	}
	return time
}

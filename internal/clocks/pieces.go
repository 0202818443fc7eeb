package clocks

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// A limit is what a message or its answer says of a clock: at the time x, it is at least or at most so much once it is moved, which may be
// off by the error of the other clock.
type limit struct {
	x, time int64
	after   bool
	off     int64
}

// byPieces places all clocks that are placed again, each by as few lines as its messages allow, one after the other, if that has
// messages arrive less early.
func (c *Clocks) byPieces(links [][]int, all []Aligned, placed []bool, inexact int64) {
	pieces := make([]Aligned, len(all))
	done := make([]bool, len(placed))
	done[0] = true
	for _, k := range breadthFirst(links, 0)[1:] {
		if !placed[k] {
			continue
		}
		limits := c.limits(k, links[k], pieces, done)
		lines := cut(limits, float64(tolerance(inexact)), float64(inexact))
		if len(lines) == 0 || len(lines) > timing.MaxPieces {
			return
		}
		pieces[k], done[k] = joined(lines), true
	}
	if c.early(pieces, done, nil) < c.early(all, placed, nil) {
		copy(all, pieces)
	}
}

// limits returns what all messages between a clock and others that are placed say of it, in the order of its time.
func (c *Clocks) limits(clock int, others []int, all []Aligned, placed []bool) (list []limit) {
	for _, other := range others {
		if !placed[other] {
			continue
		}
		for _, m := range c.messages[[2]int{other, clock}].list {
			list = append(list, limit{m.received, all[other].Apply(m.sent), true, all[other].errorAt(m.sent)})
		}
		for _, m := range c.messages[[2]int{clock, other}].list {
			list = append(list, limit{m.sent, all[other].Apply(m.received), false, all[other].errorAt(m.received)})
		}
	}
	slices.SortFunc(list, func(a, b limit) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.time, b.time)) })
	return list
}

// A placedLine is a line from the first of its limits to the last.
type placedLine struct {
	line
	from, to int64
	unsure   bool // the next could begin elsewhere
}

// cut returns lines that limits allow, which may be missed by a tolerance: each for as many as it can be, but for those that the
// next allows as well. Limits may be off by so much more than they are because of the other clock.
func cut(limits []limit, tolerance, inexact float64) (lines []placedLine) {
	fits := func(list []limit) bool { return problemOf(list).fits(tolerance / 2) }
	last := line{error: -1}
	solve := func(list []limit, of int) line { // for the first of them
		p := problemOf(list)
		p.last = float64(list[of-1].x - p.x0)
		off := slices.MaxFunc(list[:of], func(a, b limit) int { return cmp.Compare(a.off, b.off) }).off
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
	for len(limits) > 0 && len(lines) <= timing.MaxPieces {
		n := longest(limits, fits)
		l := solve(limits[:n], n)
		if n == len(limits) {
			return append(lines, placedLine{l, limits[0].x, limits[n-1].x, false})
		}
		m := n + longest(limits[n:], fits)
		least := n - search(n, func(more int) bool { return fits(limits[n-more : m]) })
		last = l
		at, sure := boundary(limits, max(1, least), n, l, solve(limits[least:m], m-least))
		l = solve(limits[:n], at) // which is the same line, for as long as it holds
		lines = append(lines, placedLine{l, limits[0].x, limits[at-1].x, !sure})
		floor := limit{limits[at].x, l.alignment().Apply(limits[at-1].x), true, limits[at].off} // time does not go back
		if limits = limits[at:]; fits(append([]limit{floor}, limits[:m-at]...)) {
			limits = slices.Insert(limits, 0, floor)
		}
	}
	return lines
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

// boundary returns the first limit of the next line, from least to most: where time goes back least, and then where the lines are
// closest. It is sure if time goes back more at all others.
func boundary(limits []limit, least, most int, before, next line) (best int, sure bool) {
	a, b := before.alignment(), next.alignment()
	best, sure = most, true
	var back, jump int64
	for at := most; at >= least; at-- {
		from, to := limits[at].x, limits[at-1].x
		if from == to {
			continue
		}
		by := wire.SubTimes(a.Apply(from), b.Apply(from))
		by = max(by, wire.SubTimes(0, by))
		over := max(0, wire.SubTimes(a.Apply(to), b.Apply(from)))
		if at < most {
			sure = over != back && (sure || over < back)
		}
		if at == most || over < back || over == back && by < jump {
			best, back, jump = at, over, by
		}
	}
	return best, sure
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
	before := l.alignment().Apply(p.x0)
	l.x0, l.y0, l.at = p.x0, p.y0, from
	moved := wire.SubTimes(l.alignment().Apply(p.x0), before)
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

// hullOf returns the bounds, in ascending order of x, of the upper hull, or of the lower one if sign is −1, in place.
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

// joined returns the pieces of a clock. Each begins as late as it can so that time does not stand still where its limits are. The
// clock may not run evenly within a piece: then it is between the same limits as the line, so off by twice as much at most, and near
// where a piece begins that could begin elsewhere, by as much as the other piece and what is between both lines.
func joined(lines []placedLine) (a Aligned) {
	a = Aligned{Alignment: lines[0].alignment(), Error: lines[0].error}
	if len(lines) == 1 {
		return a
	}
	before := a.Alignment
	jumps := make([]int64, len(lines)) // from a line to the next, where it begins
	for i, l := range lines[1:] {
		next := l.alignment()
		since := max(wire.AddTimes(lines[i].to, 1), notAfter(before, l.from, next.Apply(l.from)))
		jumps[i] = wire.SubTimes(next.Apply(since), before.Apply(since))
		jumps[i] = max(jumps[i], wire.SubTimes(0, jumps[i]))
		next = timing.Alignment{Offset: wire.SubTimes(next.Apply(since), since), Rate: next.Rate, Since: since}
		a.Later, before = append(a.Later, next), next
	}
	for i, l := range lines {
		off := l.error
		if i > 0 && lines[i-1].unsure {
			off = wire.AddTimes(max(off, lines[i-1].error), jumps[i-1])
		}
		if l.unsure {
			off = wire.AddTimes(max(off, lines[i+1].error), jumps[i])
		}
		a.Errors = append(a.Errors, wire.AddTimes(off, off))
	}
	a.Error = slices.Max(a.Errors)
	return a
}

// notAfter returns a time, at most so late, that an alignment makes no later than another time: the latest, or some nanoseconds earlier.
func notAfter(a timing.Alignment, time, other int64) int64 {
	for range 4 { // each time, what is over gets less by a factor of at least 64
		over := wire.SubTimes(a.Apply(time), other)
		if over <= 0 {
			break
		}
		time = wire.SubTimes(time, wire.AddTimes(over, over/64+1))
	}
	return time
}

package clocks

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// AddReading adds that real time was so much, give or take an error, when a clock was so much.
func (c *Clocks) AddReading(clock int, time, real, error int64) {
	if error > math.MaxInt64/4 {
		return // which tells nothing
	}
	// As if real time had sent the clock a message, and the clock had answered.
	c.Add(c.n, clock, wire.SubTimes(real, error), time)
	c.Add(clock, c.n, time, wire.AddTimes(real, error))
	if c.width[clock] < 0 || error < c.width[clock] {
		c.width[clock] = error
	}
}

// maxAnchors is how many clocks are tried to tell real time.
const maxAnchors = 16

// byRealTime places clocks that messages do not tell of, or not as closely, by their readings of real time.
// Real time itself is placed by the readings of one clock that is placed: of those that are known most
// closely, one whom fewest others contradict.
func (c *Clocks) byRealTime(all []Aligned, placed []bool, inexact int64) {
	var anchors, read []int
	for k, width := range c.width {
		if width < 0 {
			continue
		}
		read = append(read, k)
		if placed[k] {
			anchors = append(anchors, k)
		}
	}
	if len(anchors) == 0 || len(read) == 1 {
		return
	}
	off := func(k int) int64 { return wire.AddTimes(all[k].Error, c.width[k]) }
	slices.SortStableFunc(anchors, func(j, k int) int { return int(min(max(off(j)-off(k), -1), 1)) })
	var best Aligned
	var against []int
	found, links := false, c.links()
	for _, anchor := range anchors[:min(len(anchors), maxAnchors)] {
		only := make([]bool, len(placed))
		only[anchor] = true
		line, ok := c.place(c.n, read, all, only, inexact)
		if !ok {
			continue
		}
		real := Aligned{Alignment: line.alignment(), Error: line.error}
		contradicted := slices.DeleteFunc(slices.Clone(anchors), func(k int) bool {
			return c.agrees(k, links[k], all, placed, real, inexact)
		})
		if !found || len(contradicted) < len(against) {
			found, best, against = true, real, contradicted
		}
		if len(against) == 0 {
			break
		}
	}
	if !found {
		return
	}
	for _, k := range against {
		all[k].Contradicted = true
	}
	all[c.n], placed[c.n] = best, true
	c.refine(all, placed, inexact)
}

// agrees reports whether there is a line for a clock by which its readings are those of real time and its
// messages to clocks that are placed arrive after they are sent, as far as these and real time may be off.
// The first clock cannot be moved.
func (c *Clocks) agrees(clock int, others []int, all []Aligned, placed []bool, real Aligned, inexact int64) bool {
	if clock == 0 {
		return c.isRead(real, wire.AddTimes(real.Error, tolerance(inexact)))
	}
	all, placed = slices.Clone(all), slices.Clone(placed)
	all[c.n], placed[c.n], placed[clock] = real, true, false
	links := append(slices.Clone(others), c.n)
	p := c.bounds(clock, links, all, placed)
	return p.fits(float64(c.off(links, all, placed)) + float64(inexact) + 1)
}

// isRead reports whether the first clock has readings of real time, give or take a tolerance.
func (c *Clocks) isRead(real Aligned, tolerance int64) bool {
	for _, m := range c.messages[[2]int{c.n, 0}].hull() {
		if wire.SubTimes(real.Apply(m.sent), m.received) > tolerance {
			return false
		}
	}
	for _, m := range c.messages[[2]int{0, c.n}].hull() {
		if wire.SubTimes(m.sent, real.Apply(m.received)) > tolerance {
			return false
		}
	}
	return true
}

// refine places the clocks that real time can be told from, and those that have messages to them, if that is
// better than they are placed. Messages to those that are placed before count more than readings.
func (c *Clocks) refine(all []Aligned, placed []bool, inexact int64) {
	messages := append(c.links(), nil)
	links := slices.Clone(messages)
	for k, width := range c.width {
		if width >= 0 && !all[k].Contradicted {
			links[k] = append(slices.Clone(links[k]), c.n)
			links[c.n] = append(links[c.n], k)
		}
	}
	for _, k := range breadthFirst(links, 0, c.n) {
		if k == 0 || k == c.n {
			continue
		}
		line, ok := c.place(k, links[k], all, placed, inexact)
		if !ok || placed[k] && line.error >= all[k].Error {
			continue
		}
		was, wasPlaced := all[k], placed[k]
		all[k], placed[k] = Aligned{Alignment: line.alignment(), Error: line.error}, true
		if c.earlyAt(k, messages[k], all, placed) <= tolerance(inexact) {
			continue
		}
		if wasPlaced {
			all[k] = was
		} else if line, ok := c.place(k, messages[k], all, placed, inexact); ok {
			all[k] = Aligned{Alignment: line.alignment(), Error: line.error}
			all[k].Contradicted = !c.agrees(k, messages[k], all, placed, all[c.n], inexact)
		}
	}
}

// earlyAt is early for the messages between a clock and others.
func (c *Clocks) earlyAt(clock int, others []int, all []Aligned, placed []bool) (worst int64) {
	for _, other := range others {
		for _, pair := range [][2]int{{clock, other}, {other, clock}} {
			for _, m := range c.messages[pair].all() {
				if placed[other] {
					worst = max(worst, all[pair[0]].Apply(m.sent)-all[pair[1]].Apply(m.received))
				}
			}
		}
	}
	return worst
}

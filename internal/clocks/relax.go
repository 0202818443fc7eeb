package clocks

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Limits of the relaxation.
const (
	maxSweeps = 10_000
	maxSteps  = 1 << 30 // in all sweeps
	maxShift  = 1e12    // nanoseconds
	margin    = 2       // nanoseconds after sending that messages arrive, so that it comes to an end
)

// A shift is what a clock is moved by, beside its alignment: at − slope where its messages begin, at + slope
// where they end.
type shift struct {
	middle, half float64 // of its messages, from since on
	since        int64
	at, slope    float64
	least, most  float64 // that slope can be
}

// move moves the clock, so that a message at a place comes by so much later.
func (s *shift) move(by, place float64) {
	s.at += by
	s.slope = min(max(s.slope+float64(by*place), s.least), s.most)
}

// place returns where from the begin to the end a time is, from −1 to 1.
func (s *shift) place(time int64) float64 {
	if s.half == 0 {
		return 0
	}
	return (float64(time-s.since) - s.middle) / s.half
}

// A constraint is a message that must arrive after it is sent: it takes room as clocks are, and is at these
// places.
type constraint struct {
	from, to       int
	sent, received float64
	room           float64
}

// relax moves clocks, but for the first, until no message between those that are placed arrives before it is
// sent, by more than times that may be off by so much explain, or for as long as the limits allow. Their
// errors grow by as much as they are moved.
func (c *Clocks) relax(all []Aligned, placed []bool, inexact int64) {
	shifts, list := c.constraints(all, placed)
	for i := range list {
		list[i].room += 2 * float64(inexact)
	}
	for range min(maxSweeps, maxSteps/max(1, len(list))) {
		moved := false
		for _, m := range list {
			moved = m.project(shifts) || moved
		}
		if !moved {
			break
		}
	}
	moved := slices.Clone(all)
	for k := range moved {
		s, a := &shifts[k], &moved[k]
		if s.at == 0 && s.slope == 0 {
			continue
		}
		rate := 0.0
		if s.half > 0 {
			rate = s.slope / s.half
		}
		far := math.Abs(s.at) + math.Abs(s.slope)
		if !(far < maxShift) {
			return // no clocks are like that
		}
		a.Offset = wire.AddTimes(a.Offset, int64(math.Round(s.at+float64(s.slope*s.place(a.Since)))))
		a.Rate += int64(math.Round(rate * (1 << 50)))
		a.Error = wire.AddTimes(a.Error, int64(math.Ceil(far)))
	}
	copy(all, moved)
}

// constraints returns those of all messages between clocks that are placed, in an order that is always the
// same, and clocks that are not moved yet.
func (c *Clocks) constraints(all []Aligned, placed []bool) ([]shift, []constraint) {
	pairs := slices.SortedFunc(maps.Keys(c.messages), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	pairs = slices.DeleteFunc(pairs, func(p [2]int) bool { return !placed[p[0]] || !placed[p[1]] })
	first, last := make([]float64, len(all)), make([]float64, len(all))
	shifts := make([]shift, len(all))
	for k := range all {
		first[k], last[k], shifts[k].since = math.Inf(1), math.Inf(-1), all[k].Since
	}
	for _, p := range pairs {
		if p[0] == 0 || p[1] == 0 {
			shifts[0].since = c.messages[p].hull()[0].sent // near enough
		}
	}
	reach := func(k int, time int64) {
		at := float64(time - shifts[k].since)
		first[k], last[k] = min(first[k], at), max(last[k], at)
	}
	for _, p := range pairs {
		for _, m := range c.messages[p].hull() {
			reach(p[0], m.sent)
			reach(p[1], m.received)
		}
	}
	for k := range shifts {
		if first[k] <= last[k] {
			half := (last[k] - first[k]) / 2
			shifts[k].middle, shifts[k].half = (first[k]+last[k])/2, half
			rate := math.Ldexp(float64(all[k].Rate), -50)
			shifts[k].least, shifts[k].most = min(0, (-maxDrift-rate)*half), max(0, (maxDrift-rate)*half)
		}
	}
	var list []constraint
	for _, p := range pairs {
		for _, m := range c.messages[p].hull() {
			room := all[p[1]].Apply(m.received) - all[p[0]].Apply(m.sent)
			list = append(list, constraint{p[0], p[1], shifts[p[0]].place(m.sent),
				shifts[p[1]].place(m.received), float64(room)})
		}
	}
	return shifts, list
}

// project moves the clocks of a message by the least that makes it arrive after it is sent, and reports
// whether that was necessary.
func (m *constraint) project(shifts []shift) bool {
	from, to := &shifts[m.from], &shifts[m.to]
	room := m.room + to.at + float64(to.slope*m.received) - from.at - float64(from.slope*m.sent)
	if room >= 1 {
		return false
	}
	norm := 0.0
	if m.from > 0 {
		norm += 1 + float64(m.sent*m.sent)
	}
	if m.to > 0 {
		norm += 1 + float64(m.received*m.received)
	}
	step := (margin - room) / norm
	if m.from > 0 {
		from.move(-step, m.sent)
	}
	if m.to > 0 {
		to.move(step, m.received)
	}
	return true
}

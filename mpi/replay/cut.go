package replay

import (
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A cut is the state of a replay in which no strand can go on: what is equal in two cuts if the
// same happens after both, times, and what is added up.
type cut struct {
	words   []uint64 // what has to be equal
	meaning []any    // pointers, the same
	times   []Time   // as far as they matter for what comes
	movers  []int32  // by time: the strand that it is to be compared with, −1 for none
	totals  []uint64 // what is added up
	places  []place  // by strand
}

// A place is where a strand is.
type place struct {
	position, varied, ahead uint64 // ahead is how far its gate is
	loop                    loop
	clock                   Time
	state                   state
}

// A change is what is added between two cuts.
type change struct {
	times, totals []uint64 // differences, modulo 2⁶⁴
	calls         []uint64 // by strand, that it has made; those that have made none are where they were
	movers        []int32
}

// newCut returns the state of a replay, which may be about as large as another, if there is one.
func newCut(e *engine, like *cut) *cut {
	c := &cut{places: make([]place, len(e.strands))}
	if like != nil {
		room := func(n int) int { return n + n/8 }
		c.words, c.meaning = make([]uint64, 0, room(len(like.words))), make([]any, 0, room(len(like.meaning)))
		c.times, c.movers = make([]Time, 0, room(len(like.times))), make([]int32, 0, room(len(like.movers)))
		c.totals = make([]uint64, 0, room(len(like.totals)))
	}
	for i, s := range e.strands {
		c.places[i] = s.place()
	}
	v := survey{engine: e, cut: c}
	v.all()
	return c
}

func (s *strand) place() place {
	return place{position: s.position, varied: s.varied, ahead: s.gate - s.position, loop: s.loop,
		clock: s.clock, state: s.state}
}

// changeTo returns what is added from a cut to a later one. It is nil if what follows them may be
// different, times aside.
func (c *cut) changeTo(now *cut, iterations uint64) *change {
	if !slices.Equal(c.words, now.words) || !slices.Equal(c.meaning, now.meaning) ||
		!slices.Equal(c.movers, now.movers) {
		return nil
	}
	d := &change{movers: c.movers, calls: make([]uint64, len(c.places))}
	for i := range c.places {
		calls, ok := c.places[i].callsTo(&now.places[i], iterations)
		if !ok {
			return nil
		}
		d.calls[i] = calls
	}
	for i, t := range now.times {
		d.times = append(d.times, uint64(t-c.times[i]))
	}
	for i, n := range now.totals {
		d.totals = append(d.totals, n-c.totals[i])
	}
	return d
}

// callsTo returns how many calls a strand has made from one place to another, false if what it calls from
// there on may not be the same, or its gate comes sooner than before. The first call of a rank is like no
// other.
func (p *place) callsTo(now *place, iterations uint64) (uint64, bool) {
	calls := now.position - p.position
	if calls == 0 {
		return 0, p.state == now.state
	}
	step := p.loop.period * iterations
	return calls, p.state == now.state && p.ahead == now.ahead && p.loop == now.loop && step > 0 && calls%step == 0 &&
		p.position >= max(1, p.loop.begin) && now.position <= p.loop.end && now.varied <= p.position
}

// mayRepeat reports whether it looks as if a replay were in the state of a cut, one time later.
func (c *cut) mayRepeat(e *engine, iterations uint64) bool {
	later := Time(-1)
	for i, s := range e.strands {
		p, now := &c.places[i], s.place()
		calls, ok := p.callsTo(&now, iterations)
		if !ok {
			return false
		}
		if calls == 0 {
			continue
		}
		if d := now.clock - p.clock; later < 0 {
			later = d
		} else if d != later {
			return false
		}
	}
	return later >= 0
}

// uniform reports whether all that has moved is later by one time.
func (d *change) uniform() bool {
	later, known := uint64(0), false
	for i, t := range d.times {
		switch m := d.movers[i]; {
		case m < 0 || d.calls[m] == 0:
			if t != 0 {
				return false
			}
		case !known:
			later, known = t, true
		case t != later:
			return false
		}
	}
	return known
}

// equal reports whether two changes are the same.
func (d *change) equal(other *change) bool { return other.isOf(d, 1) }

// isOf reports whether a change is n times another.
func (d *change) isOf(other *change, n uint64) bool {
	times := func(a, b []uint64) bool {
		return slices.EqualFunc(a, b, func(x, y uint64) bool { return x == n*y })
	}
	return times(d.times, other.times) && times(d.totals, other.totals) && times(d.calls, other.calls)
}

// latest is the latest time up to which rounds are skipped.
const latest = endOfTime / 4

// left returns how often strands can make the calls of a change from a cut on, with a round to spare.
func (d *change) left(now *cut, iterations uint64) uint64 {
	n := uint64(never)
	for i, calls := range d.calls {
		if calls == 0 {
			continue
		}
		p := &now.places[i]
		rest := p.loop.end - p.position
		n = min(n, (rest-min(rest, iterations*p.loop.period))/calls)
	}
	return n
}

// most returns how often a change may be repeated from a cut on, with a round to spare, until the latest
// time.
func (d *change) most(now *cut, iterations uint64) uint64 {
	n := d.left(now, iterations)
	for i, t := range d.times {
		switch later := Time(t); {
		case later < 0: // a time that mattered and does so no more
			return 0
		case now.times[i] > latest:
			return 0
		case later > 0:
			n = min(n, uint64((latest-now.times[i])/later))
		}
	}
	if n == never {
		return 0
	}
	return n
}

// restore sets a replay, which is in a state equal to the cut but for times, to what follows the
// cut when a change has been repeated n times.
func (c *cut) restore(e *engine, d *change, n uint64) {
	v := survey{engine: e, write: true}
	for i, t := range c.times {
		v.times = append(v.times, t+Time(n*d.times[i]))
	}
	for i, t := range c.totals {
		v.totals = append(v.totals, t+n*d.totals[i])
	}
	v.all()
	e.calls = 0
	for i, s := range e.strands {
		if e.calls += s.calls; d.calls[i] == 0 {
			continue
		}
		s.walk, s.run = s.rank.calls.Walk(s.position), sequitur.Run{}
		s.gate = s.position + c.places[i].ahead
	}
	e.tellAt = e.calls
}

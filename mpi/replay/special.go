package replay

import (
	"slices"
)

// special does what a call does besides messages and collective operations.
func (s *strand) special(o *op) {
	s.rank.engine.unknown += o.unknown
	if o.sync {
		if s.until(s.rank.accessed, cause{}); o.epoch != noEpoch {
			s.epoch(o)
		}
		s.lock(o)
	}
	for _, slot := range o.frees {
		if r, _ := s.rank.take(slot); r != nil {
			s.rank.engine.drop(r)
		}
	}
	if o.probed != nil {
		s.look(o)
	}
	if s.rank.ti != nil {
		s.rank.ti.special(s, o)
	}
}

// look waits for a message to show, and takes it out of its channel if the call does.
func (s *strand) look(o *op) {
	c := o.probed.channel
	if c == nil { // it looked for any message when the recording ended
		for _, c := range s.rank.inbound {
			if o.probed.accepts(c) && c.sends.len() > 0 {
				return
			}
		}
		s.missing++
		s.rank.lookers = append(s.rank.lookers, s)
		return
	}
	if c.sends.len() == 0 {
		s.missing++
		c.probers = append(c.probers, s)
		return
	}
	s.until(c.sends.first().shows, c.sends.first().cause)
	s.takeOut(o)
}

// takeOut takes the first message out of its channel for a receive that names what the probe
// found.
func (s *strand) takeOut(o *op) {
	if o.found < 0 || o.probed.channel.sends.len() == 0 {
		return
	}
	if s.rank.taken[o.found] != nil { // nobody received it
		s.rank.engine.open--
	}
	taken, _ := o.probed.channel.sends.pop()
	s.rank.taken[o.found] = &taken
}

// show has those go on that look for a message.
func (e *engine) show(c *channel, at Time, cause cause) {
	probers := c.probers
	c.probers = nil
	for _, s := range probers {
		s.takeOut(s.op)
		s.proceed(at, cause)
	}
	if lookers := c.to.lookers; len(lookers) > 0 {
		c.to.lookers = slices.DeleteFunc(lookers, func(s *strand) bool {
			if !s.op.probed.accepts(c) {
				return false
			}
			s.proceed(at, cause)
			return true
		})
	}
}

// release has calls return where nothing else can go on: those that need not wait, though the
// replay has kept them so far. It reports whether there are any.
func (e *engine) release() bool {
	now := Time(0)
	for _, s := range e.strands {
		now = max(now, s.clock, s.busy)
	}
	return e.releaseUnbegun(now) || e.releaseAcross() || e.releaseStretches() || e.releaseNobody(now) ||
		e.releaseDrawn(now)
}

// releaseUnbegun has threads go on that wait for requests that nobody begins.
func (e *engine) releaseUnbegun(now Time) (found bool) {
	for _, r := range e.ranks {
		for i := range r.slots {
			s := &r.slots[i]
			for _, w := range s.expected {
				found = true
				w.proceed(now, cause{})
			}
			s.expected = nil
		}
	}
	return found
}

// releaseNobody has receives from any source return that may be from no process, as SimGrid's traces write
// any source for that, or whose messages calls in stretches have received.
func (e *engine) releaseNobody(now Time) (found bool) {
	for _, r := range e.ranks {
		if r.ti == nil && !e.drawn {
			continue
		}
		for _, p := range r.posted {
			if p.message.channel == nil {
				found = true
				e.open--
				e.part(p.request, max(p.at, now), p.cause)
			}
		}
		if found {
			r.posted = slices.DeleteFunc(r.posted, func(p posted) bool { return p.message.channel == nil })
			r.resolve(now)
			return true
		}
	}
	return false
}

package replay

import (
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// A stretch is calls of a strand of which the trace, made to fit a size, does not keep the order. It is
// drawn: each call is any of those that are left, all of them equally likely. Which requests calls complete
// is not known, but how many: they complete those that were begun first, and the last call completes all.
// Calls wait for what they do, but not if nothing else can go on otherwise: in the run, they were in an order
// in which it could.
type stretch struct {
	calls   drawnCalls
	open    fifo[*request]
	waiting []*request // that the last call waits for
}

// drawnCalls are runs of calls that are drawn without being put back.
type drawnCalls struct {
	runs  []drawnRun
	sums  []uint64 // of the calls that are left, in a tree: Fenwick, Software: Practice and Experience 24(3), 1994
	left  uint64
	state uint64
}

// maxRuns is of how many runs a stretch may be, which has one for each signature if the trace was not forged.
const maxRuns = 1 << 20

type drawnRun struct {
	position uint64 // of the next call
	symbol   sequitur.Symbol
}

// enterStretch takes the calls of the next stretch that are of the strand's thread, and comes to its end.
func (s *strand) enterStretch() {
	of := s.stretches[0]
	calls := drawnCalls{state: uint64(hashed(s.rank.engine.seed, uint64(s.rank.number), uint64(s.thread), of.First))}
	var counts []uint64
	for steps := 0; s.position < layout.EndOf(of); steps++ {
		if e := s.rank.engine; steps%turn == 0 && !e.goesOn() {
			return
		} else if len(calls.runs) == maxRuns {
			e.fail(ErrTooMany)
			return
		}
		if s.run.Count == 0 {
			s.run = s.walk.Next()
		}
		n := min(s.run.Count, layout.EndOf(of)-s.position)
		if s.rank.threadOf(s.run.Symbol) == s.thread {
			calls.runs = append(calls.runs, drawnRun{s.position, s.run.Symbol})
			counts = append(counts, n)
			calls.left += n
		}
		s.run.Count -= n
		s.position += n
	}
	s.stretches = s.stretches[1:]
	s.nextStretch()
	if calls.left == 0 {
		return
	}
	calls.sums = make([]uint64, len(counts)+1)
	for i, n := range counts {
		calls.add(i, n)
	}
	s.stretch = &stretch{calls: calls}
}

// nextStretch sets where the next stretch begins.
func (s *strand) nextStretch() {
	if s.stretchAt = never; len(s.stretches) > 0 {
		s.stretchAt = s.stretches[0].First
	}
}

// add adds to the calls that are left of a run.
func (d *drawnCalls) add(run int, n uint64) {
	for i := run + 1; i < len(d.sums); i += i & -i {
		d.sums[i] += n
	}
}

// next draws a call.
func (d *drawnCalls) next() (uint64, sequitur.Symbol) {
	d.state = mix(d.state)
	k, i := d.state%d.left, 0
	half := 1
	for 2*half < len(d.sums) {
		half *= 2
	}
	for ; half > 0; half /= 2 {
		if i+half < len(d.sums) && d.sums[i+half] <= k {
			i += half
			k -= d.sums[i]
		}
	}
	d.add(i, ^uint64(0))
	d.left--
	r := &d.runs[i]
	r.position++
	return r.position - 1, r.symbol
}

// executeDrawn executes a call of a stretch.
func (s *strand) executeDrawn(o *op) {
	s.sent, s.missing, s.end, s.own.done, s.cause = 0, 0, s.busy, 0, cause{}
	s.op = o
	e, x := s.rank.engine, s.stretch
	var of [2]*request // of the call itself, and of the request that it begins
	for i := range of {
		of[i] = e.request()
		of[i].left++ // until all is begun
	}
	for i := range o.messages {
		m := &o.messages[i]
		s.drawnMessage(m, of[begins(m.slot)])
	}
	for i := range o.collectives {
		c := &o.collectives[i]
		s.enterAs(c, of[begins(c.slot)])
	}
	e.unknown += o.unknown
	s.until(s.busy, cause{})
	for _, r := range of {
		r.left--
	}
	x.waiting = append(x.waiting[:0], of[0])
	if len(o.begins) > 0 {
		x.open.push(of[1])
	} else {
		e.drop(of[1])
	}
	for n := len(o.completes); x.open.len() > 0 && (n > 0 || x.calls.left == 0); n-- {
		r, _ := x.open.pop()
		x.waiting = append(x.waiting, r)
	}
	for _, r := range x.waiting {
		s.waitFor(r)
	}
	if s.missing > 0 {
		s.state = blocked
	}
}

// begins returns 1 for what is a part of a request, whose slot is given, else 0.
func begins(slot int32) int {
	if slot >= 0 {
		return 1
	}
	return 0
}

// drawnMessage begins a message of a call in a stretch: those between two ranks match each other whatever
// their tags are, which may be of a distribution. Of a receive from any source it is not known what it
// received.
func (s *strand) drawnMessage(m *message, r *request) {
	e := s.rank.engine
	if m.kind == receives && m.From == semantics.AnySource {
		e.unknown++
		return
	}
	d := s.rank.drawn[m]
	if d == nil {
		d = new(message)
		*d = *m
		d.mode, d.taken = buffered, -1
		if d.kind != accesses {
			d.channel = e.channel(channelKey{m.From, m.To, m.Communicator, drawnTag, false})
		}
		if s.rank.drawn == nil {
			s.rank.drawn = make(map[*message]*message)
		}
		s.rank.drawn[m] = d
	}
	s.messageAs(d, r)
}

// releaseStretches has calls in stretches go on that wait. The last of a stretch need not: all that is in the
// stretch has begun, which is no later than in the run.
func (e *engine) releaseStretches() (found bool) {
	for _, s := range e.strands {
		if s.stretch == nil || s.stretch.calls.left == 0 {
			continue
		}
		for _, r := range s.stretch.waiting {
			if r.waiter == s {
				r.waiter = nil
				found = true
				s.proceed(s.busy, cause{})
			}
		}
	}
	return found
}

// releaseAcross matches messages between two ranks whatever their tags are, as those of calls in stretches
// may have had others.
func (e *engine) releaseAcross() (found bool) {
	if !e.drawn {
		return false
	}
	of := make(map[channelKey][]*channel) // by all but their tag
	var keys []channelKey
	for _, c := range e.channelList {
		if c.tag == postTag || c.tag == completeTag || c.sends.len()+c.receives.len() == 0 {
			continue
		}
		k := c.channelKey
		k.tag = 0
		if of[k] == nil {
			keys = append(keys, k)
		}
		of[k] = append(of[k], c)
	}
	for _, k := range keys {
		found = e.matchAcross(of[k]) || found
	}
	return found
}

// releaseDrawn has calls go on that wait for the other end of a message, or look for a message, which may
// have been in a stretch: they do not wait for it, but match it when it comes.
func (e *engine) releaseDrawn(now Time) (found bool) {
	if !e.drawn {
		return false
	}
	for _, c := range e.channelList {
		if len(c.probers) > 0 {
			found = true
			e.show(c, now, cause{})
		}
		for i := range c.receives.len() {
			if end := &c.receives.list[c.receives.head+i]; end.request.waiter != nil {
				r := end.request
				end.request = e.request()
				end.request.left, end.request.gone = 1, true
				found = true
				e.part(r, max(now, end.at), end.cause)
			}
		}
		for i := range c.sends.len() {
			if m := &c.sends.list[c.sends.head+i]; m.request != nil && m.request.waiter != nil {
				r := m.request
				m.request = nil
				found = true
				e.part(r, max(now, m.at), m.cause)
			}
		}
	}
	return found
}

// matchAcross matches messages of channels from one rank to another, first those that are waited for.
func (e *engine) matchAcross(list []*channel) (found bool) {
	slices.SortStableFunc(list, func(a, b *channel) int { return waits(b) - waits(a) })
	for _, to := range list {
		for _, from := range list {
			for to.receives.len() > 0 && from.sends.len() > 0 {
				send, _ := from.sends.pop()
				receive, _ := to.receives.pop()
				e.open -= 2
				found = true
				e.meet(&send, &receive)
			}
		}
	}
	return found
}

// waits returns 1 if a call waits for the first receive of a channel.
func waits(c *channel) int {
	if c.receives.len() > 0 && c.receives.first().request.waiter != nil {
		return 1
	}
	return 0
}

// stretchesFrom returns the stretches of r from a position on.
func (r *rank) stretchesFrom(from uint64) []format.Stretch {
	list := layout.StretchesOf(r.engine.model.Trace().Run().Bounded, r.number)
	for len(list) > 0 && layout.EndOf(list[0]) <= from {
		list = list[1:]
	}
	return list
}

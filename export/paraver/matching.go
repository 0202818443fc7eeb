package paraver

import (
	"github.com/reprise-trace/reprise/export/events"
	"github.com/reprise-trace/reprise/export/internal/requests"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

// A matching finds which sends and receives are of one message: those of one number.
type matching struct {
	out   *delay
	ranks map[int]*party      // that are chosen
	half  map[uint64]*message // by number, of which one end is known
	sent  uint64              // messages, whether or not they have numbers
}

// A party is what is known of a rank.
type party struct {
	numbers  *query.Numbers
	requests map[int64]*message // receives that are not complete, each by its request
}

// maxInFlight is how many messages are kept of which one end is known, some hundred bytes
// each.
const maxInFlight = 1 << 18

func newMatching(out *delay) *matching {
	return &matching{out: out, ranks: make(map[int]*party), half: make(map[uint64]*message)}
}

// add adds a rank that is chosen.
func (x *matching) add(r *events.Rank) {
	if numbers := r.Numbers(); numbers != nil {
		x.ranks[r.Number] = &party{numbers: numbers, requests: make(map[int64]*message)}
	}
}

// begin takes note of a call that begins.
func (x *matching) begin(s *thread, c *open) {
	self := x.ranks[s.process.rank.Number]
	if self == nil {
		return
	}
	o, numbers := self.numbers.At(c.Position, c.Terminal)
	x.sent += sends(o)
	for i, n := range numbers {
		id, ok := o.Request(i)
		switch m := &o.Messages[i]; {
		case n == 0:
		case m.Direction == semantics.Send:
			x.send(s, c.Start, m, n)
		case ok && !m.Blocking:
			self.forget(id)
			self.requests[id] = x.receive(s, c.Start, n)
		default:
			c.receives = append(c.receives, x.receive(s, c.Start, n))
		}
	}
}

// sends returns how many messages an operation, which may be nil, sends.
func sends(o *semantics.Operation) (n uint64) {
	if o == nil {
		return 0
	}
	for i := range o.Messages {
		if o.Messages[i].Direction == semantics.Send {
			n++
		}
	}
	return n
}

// end takes note of a call that ends.
func (x *matching) end(s *thread, c *open, now int64) {
	for _, r := range c.receives {
		r.received, r.done = now, true
	}
	self := x.ranks[s.process.rank.Number]
	if self == nil || len(c.call.requests) == 0 {
		return
	}
	for id := range requests.Completed(c.call.Call, c.call.name, c.call.requests) {
		if r := self.requests[id]; r != nil {
			r.received, r.done = now, true
			delete(self.requests, id)
		}
	}
}

// forget gives up what a request was of that no call completed.
func (p *party) forget(id int64) {
	if r := p.requests[id]; r != nil {
		r.lost = true
		delete(p.requests, id)
	}
}

// send takes note of a message that is sent.
func (x *matching) send(s *thread, at int64, m *semantics.Message, number uint64) {
	r := x.message(number)
	r.from, r.sent, r.bytes, r.tag = s, at, m.Bytes, m.Tag
	x.out.add(r)
}

// receive takes note of a message that is received, and returns it.
func (x *matching) receive(s *thread, at int64, number uint64) *message {
	r := x.message(number)
	r.to, r.receive = s, at
	return r
}

// message returns the message of a number, for one of its ends. If there are too many of
// which one end is known, these are left out.
func (x *matching) message(number uint64) *message {
	if m := x.half[number]; m != nil {
		delete(x.half, number)
		return m
	}
	if len(x.half) == maxInFlight {
		for _, m := range x.half {
			m.lost = true
		}
		clear(x.half)
	}
	m := x.out.message()
	x.half[number] = m
	return m
}

package paraver

import (
	"github.com/reprise-trace/reprise/export/internal/requests"
	"github.com/reprise-trace/reprise/semantics"
)

// A matching finds which sends and receives are of one message.
type matching struct {
	model    *semantics.Model
	out      *delay
	ranks    map[int]*party // that are chosen
	channels map[channel]*inFlight
	unclear  map[int]bool // ranks that received nobody knows what
	held     int          // messages in all channels
}

// A party is what is known of a rank.
type party struct {
	number   int
	meaning  *semantics.Rank
	requests map[int64][]*message // receives by requests that are not complete
}

// A channel is where messages keep their order.
type channel struct {
	source, destination int
	tag                 int64
	communicator        *semantics.Communicator
}

// An inFlight is the messages of a channel that were sent and not received, or received
// and not sent, in order.
type inFlight struct {
	list  []*message
	first int
	over  bool // there were too many
}

// maxInFlight is how many messages are kept, of all channels, some hundred bytes each.
const maxInFlight = 1 << 18

func newMatching(model *semantics.Model, out *delay) *matching {
	return &matching{model: model, out: out, ranks: make(map[int]*party), channels: make(map[channel]*inFlight), unclear: make(map[int]bool)}
}

// add adds a rank that is chosen.
func (x *matching) add(p *process) error {
	meaning, err := x.model.Of(p.rank.Rank, p.rank.Number)
	if err != nil {
		return err
	}
	x.ranks[p.rank.Number] = &party{p.rank.Number, meaning, make(map[int64][]*message)}
	return nil
}

// begin takes note of a call that begins.
func (x *matching) begin(s *thread, c *open) {
	self := x.ranks[s.process.rank.Number]
	o := self.meaning.At(c.Position, c.Terminal)
	if o == nil || o.Class != semantics.PointToPoint {
		return
	}
	for i, m := range o.Messages {
		switch m.Direction {
		case semantics.Send:
			x.send(self.number, s, c.Start, m)
		case semantics.Receive:
			r := x.receive(self.number, s, c.Start, m)
			switch {
			case r == nil:
			case m.Blocking || len(c.call.requests) == 0:
				c.receives = append(c.receives, r)
			case len(o.Messages) == len(c.call.requests):
				id := c.call.requests[i]
				self.requests[id] = append(self.requests[id][:0], r)
			default:
				for _, id := range c.call.requests {
					self.requests[id] = append(self.requests[id][:0], r)
				}
			}
		}
	}
}

// end takes note of a call that ends.
func (x *matching) end(s *thread, c *open, now int64) {
	for _, r := range c.receives {
		r.received, r.done = now, true
	}
	if len(c.call.requests) == 0 {
		return
	}
	self := x.ranks[s.process.rank.Number]
	for id := range requests.Completed(c.call.Call, c.call.name, c.call.requests) {
		list := self.requests[id]
		for _, r := range list {
			r.received, r.done = now, true
		}
		if len(list) > 0 {
			self.requests[id] = list[:0]
		}
	}
}

// send takes note of a message that is sent.
func (x *matching) send(self int, s *thread, at int64, m semantics.Message) {
	if x.ranks[m.Peer] == nil || x.unclear[m.Peer] {
		return
	}
	q := x.channel(channel{self, m.Peer, m.Tag, m.Communicator})
	if q.over {
		return
	}
	r, found := x.next(q, func(r *message) bool { return r.from == nil })
	r.from, r.sent, r.bytes, r.tag = s, at, m.Bytes, m.Tag
	if !found {
		x.put(q, r)
	}
	x.out.add(r)
}

// receive takes note of a message that is received, and returns it; nil if it is of no
// interest.
func (x *matching) receive(self int, s *thread, at int64, m semantics.Message) *message {
	if x.unclear[self] {
		return nil
	}
	if m.Peer < 0 || m.Tag < 0 || m.Cancelled {
		x.unclear[self] = true
		for c, q := range x.channels {
			if c.destination == self {
				x.giveUp(q)
			}
		}
		return nil
	}
	if x.ranks[m.Peer] == nil {
		return nil
	}
	q := x.channel(channel{m.Peer, self, m.Tag, m.Communicator})
	if q.over {
		return nil
	}
	r, found := x.next(q, func(r *message) bool { return r.to == nil })
	r.to, r.receive = s, at
	if !found {
		x.put(q, r)
	}
	return r
}

func (x *matching) channel(c channel) *inFlight {
	q := x.channels[c]
	if q == nil {
		q = &inFlight{}
		x.channels[c] = q
	}
	return q
}

// next takes the first message off a channel that wants what is at hand, or returns a new
// one.
func (x *matching) next(q *inFlight, wants func(*message) bool) (m *message, found bool) {
	if q.first == len(q.list) || !wants(q.list[q.first]) {
		return x.out.message(), false
	}
	x.held--
	return q.take(), true
}

// take takes the first message off.
func (q *inFlight) take() *message {
	m := q.list[q.first]
	q.list[q.first] = nil
	if q.first++; q.first == len(q.list) {
		q.list, q.first = q.list[:0], 0
	} else if q.first > 1024 && q.first > len(q.list)/2 {
		n := copy(q.list, q.list[q.first:])
		clear(q.list[n:])
		q.list, q.first = q.list[:n], 0
	}
	return m
}

// put keeps a message, unless there are too many: then the channel is given up.
func (x *matching) put(q *inFlight, m *message) {
	if x.held == maxInFlight {
		x.giveUp(q)
		m.lost = true
		return
	}
	q.list = append(q.list, m)
	x.held++
}

// giveUp leaves the messages of a channel out that are not received, and those that come.
func (x *matching) giveUp(q *inFlight) {
	for _, m := range q.list[q.first:] {
		m.lost = true
	}
	x.held -= len(q.list) - q.first
	*q = inFlight{over: true}
}

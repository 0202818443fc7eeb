package paraver

import (
	"slices"

	"github.com/reprise-trace/reprise/export/internal/requests"
	"github.com/reprise-trace/reprise/semantics"
)

// A matching finds which sends and receives are of one message.
type matching struct {
	model *semantics.Model
	out   *delay
	ranks map[int]*party // that are chosen
	held  int            // messages in all channels
}

// A party is what is known of a rank.
type party struct {
	number   int
	meaning  *semantics.Rank
	requests map[int64]*message    // receives that are not complete, each by its request
	channels map[channel]*inFlight // of messages to it
	unclear  []channel             // that it received from nobody knows which of
}

// maxUnclear is how many channels are told apart of which it is not known which a rank
// received from.
const maxUnclear = 64

// A channel is where messages keep their order. Of one that is not known, the source or
// the tag is negative, or the communicator nil.
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
	return &matching{model: model, out: out, ranks: make(map[int]*party)}
}

// add adds a rank that is chosen.
func (x *matching) add(p *process) error {
	meaning, err := x.model.Of(p.rank.Rank, p.rank.Number)
	if err != nil {
		return err
	}
	x.ranks[p.rank.Number] = &party{
		number: p.rank.Number, meaning: meaning, requests: make(map[int64]*message), channels: make(map[channel]*inFlight),
	}
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
			r := x.receive(self, s, c.Start, m)
			if id, ok := o.Request(i); r != nil && ok && !m.Blocking {
				self.forget(id)
				self.requests[id] = r
			} else if r != nil {
				c.receives = append(c.receives, r)
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
func (x *matching) send(self int, s *thread, at int64, m semantics.Message) {
	peer := x.ranks[m.Peer]
	if peer == nil {
		return
	}
	q := peer.channel(channel{self, m.Peer, m.Tag, m.Communicator})
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
func (x *matching) receive(self *party, s *thread, at int64, m semantics.Message) *message {
	c := channel{m.Peer, self.number, m.Tag, m.Communicator}
	if m.Peer < 0 || m.Tag < 0 || m.Cancelled {
		x.blur(self, c)
		return nil
	}
	if x.ranks[m.Peer] == nil {
		return nil
	}
	q := self.channel(c)
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

// blur takes note that a rank received from nobody knows which of some channels.
func (x *matching) blur(self *party, of channel) {
	if slices.ContainsFunc(self.unclear, func(u channel) bool { return u.covers(of) }) {
		return
	}
	if len(self.unclear) == maxUnclear {
		of = channel{semantics.NoPeer, self.number, semantics.NoTag, nil}
		self.unclear = self.unclear[:0]
	}
	self.unclear = append(self.unclear, of)
	for c, q := range self.channels {
		if of.mayBe(c) {
			x.giveUp(q)
		}
	}
}

// covers reports whether c stands for all channels that d stands for.
func (c channel) covers(d channel) bool {
	return (c.source < 0 || c.source == d.source) && (c.tag < 0 || c.tag == d.tag) &&
		(c.communicator == nil || c.communicator == d.communicator)
}

// mayBe reports whether c and d may be the same.
func (c channel) mayBe(d channel) bool {
	return (c.source < 0 || d.source < 0 || c.source == d.source) && (c.tag < 0 || d.tag < 0 || c.tag == d.tag) &&
		(c.communicator == nil || d.communicator == nil || c.communicator == d.communicator)
}

// channel returns what is under way to p in a channel.
func (p *party) channel(c channel) *inFlight {
	q := p.channels[c]
	if q == nil {
		q = &inFlight{over: slices.ContainsFunc(p.unclear, c.mayBe)}
		p.channels[c] = q
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

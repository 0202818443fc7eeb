package paraver

import (
	"bufio"
	"strconv"

	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// A delay writes records in their order, of which some are not complete yet.
type delay struct {
	w      *bufio.Writer // its errors stick
	err    error
	text   []byte // of the records that wait
	wait   []pending
	first  int // of wait
	free   []*message
	record []byte
	base   int // bytes of text that were written

	messages uint64 // that were written
}

// A pending is a message that waits, and what comes before it: text up to an end.
type pending struct {
	end     int // in text
	message *message
}

// maxDelay is how many bytes of records wait.
var maxDelay = 32 << 20

// line returns where to append a record, to be written next.
func (d *delay) line() []byte { return d.text }

// write takes a record that was appended to what line returned.
func (d *delay) write(text []byte) {
	d.text = text
	switch {
	case d.first < len(d.wait):
		d.flush()
	case len(d.text) >= 32<<10:
		d.drain(len(d.text))
	}
}

// add has a message wait at its place.
func (d *delay) add(m *message) {
	d.wait = append(d.wait, pending{len(d.text), m})
}

// message returns a message that is empty.
func (d *delay) message() *message {
	n := len(d.free) - 1
	if n < 0 {
		return &message{}
	}
	m := d.free[n]
	d.free = d.free[:n]
	*m = message{}
	return m
}

// flush writes what does not wait, and gives up the first message if too much does.
func (d *delay) flush() {
	for d.first < len(d.wait) {
		at := d.wait[d.first]
		if !at.message.complete() {
			if len(d.text)-d.base < maxDelay {
				return
			}
			at.message.lost = true
		}
		d.put(at.end)
		if !at.message.lost {
			d.messages++
			d.record = at.message.append(d.record[:0])
			if d.err == nil {
				_, d.err = d.w.Write(d.record)
			}
			d.free = append(d.free, at.message) // nobody else refers to it
		}
		d.wait[d.first] = pending{}
		d.first++
	}
	d.wait, d.first = d.wait[:0], 0
	d.drain(len(d.text))
}

// put writes text up to an end.
func (d *delay) put(end int) {
	if d.err == nil {
		_, d.err = d.w.Write(d.text[d.base:end])
	}
	d.base = end
	if d.base >= 1<<20 && d.base > len(d.text)/2 {
		d.compact()
	}
}

// compact forgets what was written.
func (d *delay) compact() {
	n := copy(d.text, d.text[d.base:])
	d.text = d.text[:n]
	for i := range d.wait[d.first:] {
		d.wait[d.first+i].end -= d.base
	}
	m := copy(d.wait, d.wait[d.first:])
	clear(d.wait[m:])
	d.wait, d.first, d.base = d.wait[:m], 0, 0
}

// drain writes text up to an end, at which nothing waits.
func (d *delay) drain(end int) {
	d.put(end)
	d.text, d.base = d.text[:0], 0
}

// finish writes everything but messages that are not complete.
func (d *delay) finish() error {
	for _, at := range d.wait[d.first:] {
		at.message.lost = !at.message.complete()
	}
	d.flush()
	d.drain(len(d.text))
	if d.err != nil {
		return d.err
	}
	return d.w.Flush()
}

// A message is a communication.
type message struct {
	from, to          *thread
	sent              int64
	receive, received int64
	bytes, tag        int64
	done              bool // received is known
	lost              bool // nothing is to be written
}

func (m *message) complete() bool { return m.lost || m.from != nil && m.to != nil && m.done }

// append appends the record.
func (m *message) append(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, '3'), m.from.place...), m.sent, 10)
	b = append(strconv.AppendInt(append(b, ':'), m.sent, 10), m.to.place...)
	b = strconv.AppendInt(b, m.receive, 10)
	b = strconv.AppendInt(append(b, ':'), m.received, 10)
	b = strconv.AppendInt(append(b, ':'), max(m.bytes, 0), 10)
	b = strconv.AppendInt(append(b, ':'), m.tag, 10)
	return append(b, '\n')
}

// A matching finds which sends and receives are of one message: those of one number.
type matching struct {
	out   *delay
	ranks map[int]*party      // that are chosen
	half  map[uint64]*message // by number, of which one end is known
	sent  uint64              // messages, whether or not they have numbers
}

// A party describes a rank.
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
	if o == nil {
		return
	}
	x.sent += sends(o)
	c.completes = o.Completes
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

// sends returns how many messages an operation sends.
func sends(o *semantics.Operation) (n uint64) {
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
	if self == nil {
		return
	}
	for _, id := range c.completes {
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

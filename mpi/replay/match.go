package replay

import (
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A channel is the messages from one rank to another, on one communicator and with one tag:
// they are received in the order in which they are sent. Only one of its lists has something in it,
// but where receives wait for a choice, see [rank.resolve].
type channel struct {
	channelKey
	to       *rank // nil if it is not in the trace
	sends    fifo[sendEnd]
	receives fifo[receiveEnd]
	probers  []*strand
	broken   bool // in a recording: ends may not belong together
}

type channelKey struct {
	from, to     int
	communicator *semantics.Communicator
	tag          int64
	partitioned  bool
}

// A sendEnd is a message that is sent and that nobody has received.
type sendEnd struct {
	at       Time   // when the sender was done with it
	shows    Time   // when the receiver can know of it
	order    uint64 // of sending
	transfer Time
	receive  Time
	request  *request // that waits for the receive; nil if none does
	message  *message
	event    *Event // of its arrival, if there are events
	cause    cause
	soft     *softSend // that may wait for its receive; nil if it does not
}

// A receiveEnd is a receive that got no message yet.
type receiveEnd struct {
	at       Time
	request  *request
	receiver *Call // only for events
	cause    cause
}

// A posted receive is one of a rank of which one may take a message of several channels.
type posted struct {
	receiveEnd
	message *message
}

// A post is when a receive was posted.
type post struct {
	at    Time
	cause cause
}

// accepts reports whether a receive may take messages of a channel.
func (m *message) accepts(c *channel) bool {
	return c.communicator == m.Communicator && !c.partitioned &&
		(m.From == semantics.AnySource || m.From == c.from) && (m.Tag == semantics.AnyTag || m.Tag == c.tag)
}

func (e *engine) channel(k channelKey) *channel {
	c := e.channels[k]
	if c == nil {
		c = &channel{channelKey: k}
		e.channels[k] = c
		e.channelList = append(e.channelList, c)
		if c.to = e.byNumber[k.to]; c.to != nil {
			c.to.inbound = append(c.to.inbound, c)
		}
	}
	return c
}

// send sends a message of a strand, as a part of a request.
func (e *engine) send(s *strand, m *message, r *request, cost *Cost) {
	c := m.channel
	end := sendEnd{at: s.busy, order: e.sequence, transfer: cost.Transfer, receive: cost.Receive, message: m,
		cause: s.pathTo()}
	e.sequence++
	if m.mode == synchronous || cost.Rendezvous && m.mode != buffered {
		r.left++
		end.request, end.shows = r, end.at
	} else {
		r.until(end.at, end.cause)
		end.shows = add(end.at, cost.Transfer)
	}
	if end.request == nil {
		end.soft = s.soften(m, r)
	}
	if e.emit != nil {
		end.event = e.arrival()
		*end.event = Event{Start: end.at, Call: s.at, Message: &m.Message}
	}
	if c.to == nil {
		if e.outside++; end.request != nil { // nobody tells when it is received
			e.part(r, add(end.at, cost.Transfer), end.cause)
		}
		return
	}
	if c.receives.len() > 0 {
		receive, _ := c.receives.pop()
		e.open--
		e.meet(&end, &receive)
		return
	}
	e.opened()
	c.sends.push(end)
	if len(c.probers)+len(c.to.lookers) > 0 {
		e.show(c, end.shows, end.cause)
	}
	if len(c.to.posted) > 0 {
		e.later.push(moment{at: max(e.now, end.shows), rank: c.to})
	}
	s.ahead = s.ahead || !e.ordered && c.sends.len() >= patience
}

// post posts a receive of a strand, as a part of a request.
func (r *rank) post(s *strand, m *message, q *request) {
	e := r.engine
	q.left++
	end := receiveEnd{at: s.busy, request: q, cause: s.pathTo()}
	if p, ok := r.posts[m.posted]; ok {
		end.at, end.cause = p.at, p.cause
		delete(r.posts, m.posted)
	}
	if e.emit != nil {
		end.receiver = s.last()
	}
	if m.taken >= 0 {
		if taken := r.taken[m.taken]; taken != nil {
			r.taken[m.taken] = nil
			e.open--
			e.meet(taken, &end)
			return
		}
	}
	switch c := m.channel; {
	case e.recording != nil && c != nil && c.from != r.number && e.byNumber[c.from] == nil:
		e.outside++
		e.part(q, end.at, end.cause)
	case c == nil || len(r.posted) > 0:
		e.opened()
		r.posted = append(r.posted, posted{end, m})
		r.resolve(e.now)
	case c.sends.len() > 0:
		send, _ := c.sends.pop()
		e.open--
		e.meet(&send, &end)
	default:
		e.opened()
		c.receives.push(end)
	}
}

// meet matches the two ends of a message.
func (e *engine) meet(send *sendEnd, receive *receiveEnd) {
	begin, cause := send.at, send.cause
	if send.request != nil && receive.at > begin {
		begin, cause = receive.at, receive.cause
	}
	arrived := add(begin, send.transfer)
	there, came := arrived, cause
	if receive.at > arrived {
		there, came = receive.at, receive.cause
	}
	token := send.message.token
	if !token {
		e.messages++
	}
	if e.recording != nil {
		came.kind, cause.kind = e.meetRecorded(send, receive)
	}
	if e.emit != nil && !token {
		send.event.At, send.event.Receive = max(there, e.now), *receive.receiver
		e.later.push(moment{at: send.event.At, arrival: send.event})
	}
	if send.request != nil {
		e.part(send.request, arrived, cause)
	}
	e.part(receive.request, add(there, send.receive), came)
}

// arrival returns an event to be set.
func (e *engine) arrival() *Event {
	if len(e.events) == 0 {
		return new(Event)
	}
	last := e.events[len(e.events)-1]
	e.events = e.events[:len(e.events)-1]
	return last
}

// resolve matches receives of a rank with the messages that have come by now. One that takes
// messages of several channels takes that which comes first, of one source that which was sent
// first; receives that were posted after it and could take the same have to wait for it.
func (r *rank) resolve(now Time) {
	e := r.engine
	left := r.posted[:0]
	next, choosing := endOfTime, false
	for i := range r.posted {
		p := &r.posted[i]
		c, shows := r.choose(p.message, left)
		if c != nil && (shows <= now || p.message.channel != nil) {
			send, _ := c.sends.pop()
			c.broken = c.broken || p.message.channel == nil // it may have been another
			e.open -= 2
			e.meet(&send, &p.receiveEnd)
			continue
		}
		if c != nil {
			next = min(next, shows)
		}
		choosing = choosing || p.message.channel == nil
		left = append(left, *p)
	}
	clear(r.posted[len(left):])
	if r.posted = left; !choosing {
		for _, p := range left {
			p.message.channel.receives.push(p.receiveEnd)
		}
		r.posted = r.posted[:0]
		return
	}
	if next < endOfTime {
		e.later.push(moment{at: max(now, next), rank: r})
	}
}

// choose returns the channel from which a receive takes its message, nil if there is none, and
// when that shows. Before are the receives that were posted earlier and wait: for one channel, a
// receive has to leave them its messages; of several, they have taken what shows by now.
func (r *rank) choose(m *message, before []posted) (chosen *channel, shows Time) {
	if m.channel != nil {
		if m.channel.sends.len() == 0 || mayTake(before, m.channel) {
			return nil, 0
		}
		return m.channel, m.channel.sends.first().shows
	}
	firsts := make(map[int]*channel) // by source: that of the message sent first
	for _, c := range r.inbound {
		if c.sends.len() == 0 || !m.accepts(c) {
			continue
		}
		if f := firsts[c.from]; f == nil || c.sends.first().order < f.sends.first().order {
			firsts[c.from] = c
		}
	}
	for _, c := range firsts {
		a := c.sends.first()
		if chosen == nil || a.shows < shows || a.shows == shows && a.order < chosen.sends.first().order {
			chosen, shows = c, a.shows
		}
	}
	return chosen, shows
}

func mayTake(list []posted, c *channel) bool {
	for i := range list {
		if list[i].message.accepts(c) {
			return true
		}
	}
	return false
}

// A fifo is a queue: first in, first out.
type fifo[T any] struct {
	list []T
	head int
}

func (f *fifo[T]) len() int { return len(f.list) - f.head }

func (f *fifo[T]) first() *T { return &f.list[f.head] }

func (f *fifo[T]) push(x T) {
	if f.head > 0 && len(f.list) == cap(f.list) && f.head >= len(f.list)/2 {
		n := copy(f.list, f.list[f.head:])
		clear(f.list[n:])
		f.list, f.head = f.list[:n], 0
	}
	f.list = append(f.list, x)
}

func (f *fifo[T]) pop() (x T, ok bool) {
	if f.head == len(f.list) {
		return x, false
	}
	x = f.list[f.head]
	if f.head++; f.head == len(f.list) {
		f.list, f.head = f.list[:0], 0
	}
	return x, true
}

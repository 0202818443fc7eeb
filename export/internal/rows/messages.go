package rows

import (
	"iter"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

// Rows that are messages come by the rank that receives them, in the order in which the calls
// return that complete their receipt. The other end is found by the number of the message on
// its channel, not by going through the calls of all ranks at once.

// A message is what messages have in common that are of one code.
type message struct {
	from, to                        int
	tag, bytes                      int64
	communicator                    string
	sender, receiver, completer     string // functions
	sendSignature, receiveSignature int
	sendSite, receiveSite, doneSite string
	source                          query.Source // of the times, the less exact of both ends
}

// A messageKey tells messages of one receiving rank apart.
type messageKey struct {
	from                           int
	sender, receiver, completer    uint32 // terminals
	sent, received                 *semantics.Operation
	numberOfSent, numberOfReceived int // of the message in these
}

// A column of rows that are messages, which is unique.
const (
	messageNumber = iota
	sendPosition
	receivePosition
	completePosition
	sendStart // since the run began, from here on
	sendEnd
	receiveStart
	receiveEnd
	messageInts // how many there are
)

// messageRows are the unique columns of rows that are messages.
type messageRows struct {
	ints  [messageInts][]int64
	sent  []bool // whether there is the time of the call that sends
	timed []bool // of those that receive
	both  []bool
}

func (m *messageRows) reset() {
	for i := range m.ints {
		m.ints[i] = m.ints[i][:0]
	}
	m.sent, m.timed, m.both = m.sent[:0], m.timed[:0], m.both[:0]
}

// messageColumns returns the columns of rows that are messages.
func (t *Table) messageColumns() []*Column {
	cell := func(name string, typ Type, optional bool, of func(m *message) Cell) *Column {
		return &Column{Name: name, Type: typ, Optional: optional, numbered: true, cell: func(c *code) Cell { return of(c.message) }}
	}
	unique := func(name string, k int, there func(g *Group) []bool) *Column {
		return &Column{Name: name, Type: Int, Optional: there != nil, Unique: true, numbered: true, there: there,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return append(dst, g.messages.ints[k][begin:end]...)
			}}
	}
	text := func(s string) Cell { return Cell{Valid: s != "", Text: s} }
	columns := []*Column{
		unique("message", messageNumber, nil),
		cell("send_rank", Int, false, func(m *message) Cell { return intCell(int64(m.from)) }),
		cell("recv_rank", Int, false, func(m *message) Cell { return intCell(int64(m.to)) }),
		cell("tag", Int, true, func(m *message) Cell { return known(m.tag) }),
		cell("communicator", Text, true, func(m *message) Cell { return text(m.communicator) }),
		cell("bytes", Int, true, func(m *message) Cell { return known(m.bytes) }),
		cell("send_function", Text, false, func(m *message) Cell { return textCell(m.sender) }),
		cell("recv_function", Text, false, func(m *message) Cell { return textCell(m.receiver) }),
		cell("complete_function", Text, false, func(m *message) Cell { return textCell(m.completer) }),
		cell("send_signature", Int, false, func(m *message) Cell { return intCell(int64(m.sendSignature)) }),
		cell("recv_signature", Int, false, func(m *message) Cell { return intCell(int64(m.receiveSignature)) }),
		unique("send_position", sendPosition, nil),
		unique("recv_position", receivePosition, nil),
		unique("complete_position", completePosition, nil),
	}
	if query.HasSites(t.trace) {
		columns = append(columns,
			cell("send_site", Text, true, func(m *message) Cell { return text(m.sendSite) }),
			cell("recv_site", Text, true, func(m *message) Cell { return text(m.receiveSite) }),
			cell("complete_site", Text, true, func(m *message) Cell { return text(m.doneSite) }))
	}
	if t.choice.Times == nil {
		return columns
	}
	sent, timed := func(g *Group) []bool { return g.messages.sent }, func(g *Group) []bool { return g.messages.timed }
	if t.dated {
		columns = append(columns, &Column{Name: "send_start", Type: Time, Optional: true, Unique: true, numbered: true, there: sent,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return appendShifted(dst, g.messages.ints[sendStart][begin:end], t.epoch)
			}})
	}
	return append(columns,
		unique("send_start_ns", sendStart, sent), unique("send_end_ns", sendEnd, sent),
		unique("recv_start_ns", receiveStart, timed), unique("recv_end_ns", receiveEnd, timed),
		&Column{Name: "late_ns", Type: Int, Optional: true, Unique: true, numbered: true, there: func(g *Group) []bool { return g.messages.both },
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				for i := begin; i < end; i++ {
					dst = append(dst, add(g.messages.ints[sendStart][i], -g.messages.ints[receiveStart][i]))
				}
				return dst
			}},
		cell("time_source", Text, true, func(m *message) Cell {
			if m.source == query.None {
				return Cell{}
			}
			return textCell(m.source.String())
		}))
}

// A receipt is a message whose receive has begun.
type receipt struct {
	call      reprise.Call
	operation *semantics.Operation
	message   int // of the operation
	number    uint64
}

// messages adds a row for each message that a rank receives and that a call completes among
// those first ≤ position < end of a source.
func (f *filler) messages(s *source, first, end uint64) error {
	if s.ops == nil {
		return nil
	}
	s.messages = make(map[messageKey]uint32)
	pending := make(map[int64]receipt) // by request
	var done []receipt
	f.begin(s, 0)
	for call, err := range f.walk(s) {
		if err != nil {
			return err
		}
		if call.Position == end || call.Position%cancelled == 0 && f.ctx.Err() != nil {
			break
		}
		o, numbers := s.ops.numbers.At(call.Position, call.Terminal)
		if o == nil {
			continue
		}
		if done = receipts(done[:0], pending, call, o, numbers); len(done) == 0 || call.Position < first || !f.wanted(s, &call) {
			continue
		}
		for i := range done {
			if err := f.message(s, &done[i], call); err != nil {
				return err
			}
			if f.group.full() && !f.next(s, 0) {
				return nil
			}
		}
	}
	f.end(s)
	return nil
}

// walk returns an iterator over the calls of a source, with times if there are some.
func (f *filler) walk(s *source) iter.Seq2[reprise.Call, error] {
	if s.clock != nil {
		return s.clock.Calls(0)
	}
	return s.read.Calls()
}

// receipts returns those that a call completes, and takes note of those that it begins.
func receipts(done []receipt, pending map[int64]receipt, call reprise.Call, o *semantics.Operation, numbers []uint64) []receipt {
	for _, id := range o.Completes {
		if r, ok := pending[id]; ok {
			done = append(done, r)
		}
		delete(pending, id)
	}
	for _, id := range o.Frees {
		delete(pending, id)
	}
	for i, n := range numbers {
		if n == 0 || o.Messages[i].Direction != semantics.Receive {
			continue
		}
		r := receipt{call, o, i, n}
		if id, ok := o.Request(i); ok && !o.Messages[i].Blocking {
			pending[id] = r
		} else {
			done = append(done, r)
		}
	}
	return done
}

// message adds the row of a message whose receipt ends with a call.
func (f *filler) message(s *source, r *receipt, end reprise.Call) error {
	p, err := s.ops.numbers.Partner(r.call.Position, r.operation, r.message)
	if err != nil || p.Rank < 0 {
		return err
	}
	from, err := f.sender(p.Rank)
	if err != nil {
		return err
	}
	terminal := from.rank.Grammar().At(p.Position)
	k := messageKey{p.Rank, terminal, r.call.Terminal, end.Terminal, from.rank.At(p.Position, terminal), r.operation, p.Other, r.message}
	n, ok := s.messages[k]
	if !ok {
		n = uint32(len(s.codes))
		s.messages[k] = n
		s.codes = append(s.codes, code{source: s, terminal: r.call.Terminal, operation: r.operation, message: f.newMessage(s, from, k)})
	}
	at, err := f.senders.time(from, k, p.Position)
	if err != nil {
		return err
	}
	g := f.group
	g.numbers = append(g.numbers, n)
	g.bytes += heldByMessage
	m := &g.messages
	for i, v := range [messageInts]int64{
		messageNumber: number(r.number), sendPosition: number(p.Position), receivePosition: number(r.call.Position), completePosition: number(end.Position),
		sendStart: f.since(at.Start), sendEnd: add(f.since(at.Start), at.Duration),
		receiveStart: f.since(r.call.Start), receiveEnd: add(f.since(end.Start), end.Duration),
	} {
		m.ints[i] = append(m.ints[i], v)
	}
	sent, here := from.timed(), r.call.Timed && end.Timed
	m.sent, m.timed, m.both = append(m.sent, sent), append(m.timed, here), append(m.both, sent && here)
	return nil
}

// heldByMessage is about how many bytes the row of a message takes.
const heldByMessage = 100

// newMessage returns what messages of a key have in common.
func (f *filler) newMessage(s *source, from *sender, k messageKey) *message {
	calls := [...]reprise.Call{from.rank.Call(k.sender), s.read.Call(k.receiver), s.read.Call(k.completer)}
	sent, received := &k.sent.Messages[k.numberOfSent], &k.received.Messages[k.numberOfReceived]
	m := &message{
		from: k.from, to: s.rank, tag: received.Tag, bytes: sent.Bytes, communicator: plain(received.Communicator.Name),
		sender: plain(calls[0].Function.Name), receiver: plain(calls[1].Function.Name), completer: plain(calls[2].Function.Name),
		sendSignature: from.rank.Signature(k.sender), receiveSignature: s.read.Signature(k.receiver),
	}
	for i, to := range []*string{&m.sendSite, &m.receiveSite, &m.doneSite} {
		*to = plain(f.sites.Of(&calls[i]))
	}
	if from.clock != nil && s.clock != nil {
		m.source = min(from.clock.Source(), s.clock.Source())
	}
	return m
}

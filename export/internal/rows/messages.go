package rows

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Rows that are messages come by the rank that receives them, in the order in which the calls
// return that complete their receipt, and behind them those that no call completes. The other end
// is found by the number of the message on its channel, not by going through the calls of all ranks
// at once. A message that has none has a row among those of its sender, at the call that sends it.

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
	sender, receiver, completer    uint32               // terminals
	sent, received                 *semantics.Operation // nil if the message is not received
	numberOfSent, numberOfReceived int                  // of the message in these
	completed                      bool
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
	ints      [messageInts][]int64
	received  []bool // whether there is a receive
	completed []bool // and a call that completes it
	sent      []bool // whether there is the time of the call that sends
	begun     []bool // of the one that begins to receive
	ended     []bool // of the one that completes that
	both      []bool // of those that begin to send and to receive
}

func (m *messageRows) reset() {
	for i := range m.ints {
		m.ints[i] = m.ints[i][:0]
	}
	m.received, m.completed = m.received[:0], m.completed[:0]
	m.sent, m.begun, m.ended, m.both = m.sent[:0], m.begun[:0], m.ended[:0], m.both[:0]
}

// messageColumns returns the columns of rows that are messages.
func (t *Table) messageColumns() []*Column {
	cell := func(name string, typ Type, optional bool, of func(m *message) Cell) *Column {
		return &Column{Name: name, Type: typ, Optional: optional, numbered: true, cell: func(c *code) Cell {
			return of(c.message)
		}}
	}
	unique := func(name string, k int, there func(g *Group) []bool) *Column {
		return &Column{Name: name, Type: Int, Optional: there != nil, Unique: true, numbered: true, there: there,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return append(dst, g.messages.ints[k][begin:end]...)
			}}
	}
	text := func(s string) Cell { return Cell{Valid: s != "", Text: s} }
	received := func(g *Group) []bool { return g.messages.received }
	completed := func(g *Group) []bool { return g.messages.completed }
	columns := []*Column{
		unique("message", messageNumber, received),
		cell("send_rank", Int, false, func(m *message) Cell { return intCell(int64(m.from)) }),
		cell("recv_rank", Int, false, func(m *message) Cell { return intCell(int64(m.to)) }),
		cell("tag", Int, true, func(m *message) Cell { return known(m.tag) }),
		cell("communicator", Text, true, func(m *message) Cell { return text(m.communicator) }),
		cell("bytes", Int, true, func(m *message) Cell { return known(m.bytes) }),
		cell("send_function", Text, false, func(m *message) Cell { return textCell(m.sender) }),
		cell("recv_function", Text, true, func(m *message) Cell { return text(m.receiver) }),
		cell("complete_function", Text, true, func(m *message) Cell { return text(m.completer) }),
		cell("send_signature", Int, false, func(m *message) Cell { return intCell(int64(m.sendSignature)) }),
		cell("recv_signature", Int, true, func(m *message) Cell {
			return Cell{Valid: m.receiver != "", Int: int64(m.receiveSignature)}
		}),
		unique("send_position", sendPosition, nil),
		unique("recv_position", receivePosition, received),
		unique("complete_position", completePosition, completed),
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
	sent := func(g *Group) []bool { return g.messages.sent }
	if t.dated {
		columns = append(columns, &Column{Name: "send_start", Type: Time, Optional: true, Unique: true,
			numbered: true, there: sent,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return appendShifted(dst, g.messages.ints[sendStart][begin:end], t.epoch)
			}})
	}
	return append(columns,
		unique("send_start_ns", sendStart, sent), unique("send_end_ns", sendEnd, sent),
		unique("recv_start_ns", receiveStart, func(g *Group) []bool { return g.messages.begun }),
		unique("recv_end_ns", receiveEnd, func(g *Group) []bool { return g.messages.ended }),
		&Column{Name: "late_ns", Type: Int, Optional: true, Unique: true, numbered: true,
			there: func(g *Group) []bool { return g.messages.both },
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
	call      trace.Call
	operation *semantics.Operation
	message   int // of the operation
	number    uint64
}

// messages adds a row for each message that a rank receives and that a call completes among
// those first ≤ position < end of a source, for each that no call completes whose receive is among
// them, and for each that one of them sends and nobody receives.
func (f *filler) messages(s *source, first, end uint64) error {
	if s.ops == nil {
		return nil
	}
	s.messages = make(map[messageKey]uint32)
	pending := make(map[int64]receipt) // by request
	var done, open []receipt           // open are those that no call completes
	f.begin(s, 0)
	for call, err := range f.walk(s) {
		if err != nil {
			return err
		}
		later := call.Position >= end // where those only count that complete receives from before
		if later && len(pending) == 0 || call.Position%cancelled == 0 && f.ctx.Err() != nil {
			break
		}
		o, numbers := s.ops.numbers.At(call.Position, call.Terminal)
		if o == nil {
			continue
		}
		if later {
			numbers = nil
		}
		done, open = receipts(done[:0], open, pending, call, o, numbers)
		if call.Position < first || later || !f.wanted(s, &call) {
			continue
		}
		for i := range done {
			if more, err := f.received(s, &done[i], &call); err != nil || !more {
				return err
			}
		}
		for i := range o.Messages {
			m := &o.Messages[i] // between ranks that are both chosen, as others have no number
			if m.Direction != semantics.Send || numbers != nil && numbers[i] > 0 || !f.choice.Ranks.Contains(m.Peer) {
				continue
			}
			if more, err := f.unreceived(s, &call, o, i); err != nil || !more {
				return err
			}
		}
	}
	open = slices.AppendSeq(open, maps.Values(pending))
	slices.SortFunc(open, func(a, b receipt) int {
		return cmp.Or(cmp.Compare(a.call.Position, b.call.Position), a.message-b.message)
	})
	for i := range open {
		if r := &open[i]; r.call.Position >= first && f.wanted(s, &r.call) {
			if more, err := f.received(s, r, nil); err != nil || !more {
				return err
			}
		}
	}
	f.end(s)
	return nil
}

// walk returns an iterator over the calls of a source, with times if there are some.
func (f *filler) walk(s *source) iter.Seq2[trace.Call, error] {
	if s.clock != nil {
		return s.clock.Calls(0)
	}
	return s.read.Calls(0)
}

// receipts adds to done those that a call completes, to open those that no call will complete any
// more, and to pending those that the call begins.
func receipts(
	done, open []receipt, pending map[int64]receipt, call trace.Call, o *semantics.Operation, numbers []uint64,
) (_, _ []receipt) {
	for _, id := range o.Completes {
		if r, ok := pending[id]; ok {
			done = append(done, r)
		}
		delete(pending, id)
	}
	for _, id := range o.Frees {
		if r, ok := pending[id]; ok {
			open = append(open, r)
		}
		delete(pending, id)
	}
	for i, n := range numbers {
		if n == 0 || o.Messages[i].Direction != semantics.Receive {
			continue
		}
		r := receipt{call, o, i, n}
		if id, ok := o.Request(i); ok && !o.Messages[i].Blocking {
			if lost, ok := pending[id]; ok {
				open = append(open, lost)
			}
			pending[id] = r
		} else {
			done = append(done, r)
		}
	}
	return done, open
}

// A row is what is unique in the row of a message.
type row struct {
	number    uint64 // of the message, if it is received
	sentAt    uint64 // position of the call that sends
	sent      timing.Time
	timed     bool        // whether there is that time
	begun     *trace.Call // of the receive, and
	completed *trace.Call // what completes it; nil if nothing does
}

// received adds the row of a message whose receipt ends with a call, or with none. It returns false
// if no more rows are wanted.
func (f *filler) received(s *source, r *receipt, end *trace.Call) (bool, error) {
	p, err := s.ops.numbers.Partner(r.call.Position, r.operation, r.message)
	if err != nil || p.Rank < 0 {
		return true, err
	}
	from, err := f.sender(p.Rank)
	if err != nil {
		return false, err
	}
	terminal := from.rank.Grammar().At(p.Position)
	k := messageKey{
		from: p.Rank, sender: terminal, sent: from.rank.At(p.Position, terminal), numberOfSent: p.Other,
		receiver: r.call.Terminal, received: r.operation, numberOfReceived: r.message, completed: end != nil,
	}
	if end != nil {
		k.completer = end.Terminal
	}
	at, err := f.senders.time(from, k, p.Position)
	if err != nil {
		return false, err
	}
	return f.message(s, from, k, row{r.number, p.Position, at, from.timed(), &r.call, end}), nil
}

// unreceived adds the row of a message that a call sends and that has no known receive. It returns
// false if no more rows are wanted.
func (f *filler) unreceived(s *source, call *trace.Call, o *semantics.Operation, i int) (bool, error) {
	from, err := f.sender(s.rank)
	if err != nil {
		return false, err
	}
	k := messageKey{from: s.rank, sender: call.Terminal, sent: o, numberOfSent: i}
	sent := timing.Time{Start: call.Start, Duration: call.Duration}
	return f.message(s, from, k, row{sentAt: call.Position, sent: sent, timed: call.Timed}), nil
}

// message adds a row. It returns false if no more are wanted.
func (f *filler) message(s *source, from *sender, k messageKey, r row) bool {
	n, ok := s.messages[k]
	if !ok {
		n = uint32(len(s.codes))
		s.messages[k] = n
		c := code{source: s, terminal: k.sender, operation: k.sent, message: f.newMessage(s, from, k)}
		if k.received != nil {
			c.terminal, c.operation = k.receiver, k.received
		}
		s.codes = append(s.codes, c)
	}
	g := f.group
	g.numbers = append(g.numbers, n)
	g.bytes += heldByMessage
	m := &g.messages
	sent := f.since(r.sent.Start)
	ints := [messageInts]int64{
		messageNumber: number(r.number), sendPosition: number(r.sentAt), sendStart: sent,
		sendEnd: add(sent, r.sent.Duration),
	}
	if r.begun != nil {
		ints[receivePosition], ints[receiveStart] = number(r.begun.Position), f.since(r.begun.Start)
	}
	if r.completed != nil {
		ints[completePosition] = number(r.completed.Position)
		ints[receiveEnd] = add(f.since(r.completed.Start), r.completed.Duration)
	}
	for i, v := range ints {
		m.ints[i] = append(m.ints[i], v)
	}
	begun, ended := r.begun != nil && r.begun.Timed, r.completed != nil && r.completed.Timed
	m.received, m.completed = append(m.received, r.begun != nil), append(m.completed, r.completed != nil)
	m.sent, m.both = append(m.sent, r.timed), append(m.both, r.timed && begun)
	m.begun, m.ended = append(m.begun, begun), append(m.ended, ended)
	return !g.full() || f.next(s, 0)
}

// heldByMessage is about how many bytes the row of a message takes.
const heldByMessage = 100

// newMessage returns what messages of a key have in common.
func (f *filler) newMessage(s *source, from *sender, k messageKey) *message {
	call, sent := from.rank.Call(k.sender), &k.sent.Messages[k.numberOfSent]
	m := &message{
		from: k.from, to: sent.Peer, tag: sent.Tag, bytes: sent.Bytes,
		sender: plain(call.Function.Name), sendSignature: from.rank.Signature(k.sender),
		sendSite: plain(f.sites.Of(&call)),
	}
	if sent.Communicator != nil {
		m.communicator = plain(sent.Communicator.Name)
	}
	if from.clock != nil {
		m.source = from.clock.Source()
	}
	if k.received == nil {
		return m
	}
	call = s.read.Call(k.receiver)
	m.receiver, m.receiveSite = plain(call.Function.Name), plain(f.sites.Of(&call))
	m.receiveSignature = s.read.Signature(k.receiver)
	if m.to, m.tag = s.rank, k.received.Messages[k.numberOfReceived].Tag; s.clock != nil {
		m.source = min(m.source, s.clock.Source())
	}
	if k.completed {
		call = s.read.Call(k.completer)
		m.completer, m.doneSite = plain(call.Function.Name), plain(f.sites.Of(&call))
	}
	return m
}

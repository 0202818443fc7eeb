package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// A Numbering numbers the messages that are sent and received, from 1 on, for what goes
// through the calls of one rank after the other: both ends of a message have its number.
// Messages of which a [Match] has no [Partner] have none, and those of channels where the
// program tried to cancel receives. It also numbers collective operations: the k-th
// that a rank begins on a communicator has the number of the k-th of all members. Its
// methods may be called from several goroutines at once.
type Numbering struct {
	match       *Match
	last        uint64
	channels    map[Channel]numbered
	collectives map[*semantics.Communicator]uint64 // the number of the first on each
}

// Numbered are the messages of a channel: the first so many, from a number on, of so many bytes each.
type numbered struct {
	first, count uint64
	bytes        int64 // differentBytes if they differ
}

// OpenNumbering numbers the messages between ranks. It costs what [OpenMatch] does for
// messages, and holds something for each channel.
func OpenNumbering(ctx context.Context, model *semantics.Model, o Options) (*Numbering, error) {
	need.That(model != nil, "query: no model")
	n := &Numbering{match: newMatch(model), channels: make(map[Channel]numbered)}
	n.match.numbering = n
	ranks, err := o.ranks(model.Trace(), messagesPerRank)
	if err != nil {
		return nil, err
	}
	found := make([]rankMessages, len(ranks))
	var begun mostBegun
	err = o.eachRank(ctx, model, ranks, func(i int, r *semantics.Rank) {
		if all, err := n.match.operationsOf(ctx, r); err == nil {
			all.sized = true
			found[i] = all.messages()
			begun.add(all.begun())
		}
	})
	if err != nil {
		return nil, err
	}
	n.numberCollectives(begun.counts)
	return n, n.match.pair(ctx, ranks, found)
}

// begun returns how many collective operations the rank begins, by communicator.
func (all *operations) begun() map[*semantics.Communicator]uint64 {
	var counts map[*semantics.Communicator]uint64
	for _, o := range all.list {
		for _, p := range operationsOn(o.Operation, nil) {
			addTo(&counts, p.Communicator, o.Count)
		}
	}
	return counts
}

// A mostBegun has how many collective operations the rank that begins most begins, by communicator.
type mostBegun struct {
	mutex  sync.Mutex
	counts map[*semantics.Communicator]uint64
}

// add adds those of a rank.
func (m *mostBegun) add(counts map[*semantics.Communicator]uint64) {
	if len(counts) == 0 {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.counts == nil {
		m.counts = make(map[*semantics.Communicator]uint64)
	}
	for c, n := range counts {
		m.counts[c] = max(m.counts[c], n)
	}
}

// numberCollectives gives each communicator as many numbers as one of its members needs at
// most, in the order of their names.
func (n *Numbering) numberCollectives(most map[*semantics.Communicator]uint64) {
	list := slices.SortedFunc(maps.Keys(most), func(a, b *semantics.Communicator) int {
		return cmp.Compare(a.Name, b.Name)
	})
	n.collectives = make(map[*semantics.Communicator]uint64, len(list))
	next := uint64(1)
	for _, c := range list {
		n.collectives[c] = next
		next = wire.AddSat(next, most[c])
	}
}

// add numbers the messages that arrive at one rank on one communicator.
func (n *Numbering) add(ends []*end) {
	for i, receive := range ends[1:] {
		send, c := ends[i], receive.channel
		if send.channel != c || receive.cancelled > 0 || !n.match.tells(c) {
			continue
		}
		count := min(send.count, receive.count)
		n.channels[c] = numbered{wire.AddSat(n.last, 1), count, send.bytes}
		n.last = wire.AddSat(n.last, count)
	}
}

// Rank returns a rank of the trace, of which some are kept.
func (n *Numbering) Rank(ctx context.Context, rank int) (*semantics.Rank, error) {
	r, err := n.match.open(ctx, rank)
	if err != nil {
		return nil, err
	}
	return r.rank, nil
}

// Of returns the numbers of the messages of a rank, which was read from the trace. It
// costs what [semantics.Model.Of] does.
func (n *Numbering) Of(ctx context.Context, read *trace.Rank, rank int) (*Numbers, error) {
	need.That(read != nil, "query: no rank")
	r, err := n.match.model.Of(read, rank)
	if err != nil {
		return nil, err
	}
	one, err := n.match.newMatchRank(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Numbers{
		numbering: n, rank: rank, read: one,
		ends: make(map[messageKey]*numberedEnd), begun: make(map[*semantics.Communicator]*numberedCollectives),
		alike: make([]*numberedCall, read.Terminals()),
	}, nil
}

// Numbers are the numbers of the messages and collective operations of a rank. They must not be used by two
// goroutines at once.
type Numbers struct {
	numbering *Numbering
	rank      int
	read      *matchRank
	ends      map[messageKey]*numberedEnd
	begun     map[*semantics.Communicator]*numberedCollectives
	alike     []*numberedCall // by terminal, of calls that are all one operation
	other     numberedCall    // the last of others
	numbers   []uint64
	instances []uint64

	next  uint64 // the position after that of the last call
	jumps uint64 // how often another followed
}

// A numberedEnd is the messages of a channel at the rank.
type numberedEnd struct {
	numbered
	key    messageKey
	before uint64 // how many there are in the calls before
	jumps  uint64 // when before was found; 2⁶⁴−1 if it never was
}

// numberedCollectives are the collective operations of the rank on a communicator.
type numberedCollectives struct {
	communicator *semantics.Communicator
	first        uint64 // number
	before       uint64 // how many there are in the calls before
	jumps        uint64 // as those of a numberedEnd
}

// A numberedCall is an operation, with the channels of its messages: nil if these have no
// numbers; and the collective operations that it begins.
type numberedCall struct {
	operation   *semantics.Operation
	ends        []*numberedEnd
	collectives []*numberedCollectives
}

// Meaning returns the rank, with what its calls mean.
func (n *Numbers) Meaning() *semantics.Rank { return n.read.rank }

// At returns what the call at a position means, whose terminal must be the one given, and
// the numbers of its messages, 0 for those that have none; nil if none has one. They are
// valid until the next call of At. Of calls in ascending order, without others between
// them, each takes constant time; after others, what finding a call does for each channel.
func (n *Numbers) At(position uint64, terminal uint32) (*semantics.Operation, []uint64) {
	need.That(uint(terminal) < uint(len(n.alike)), "query: terminal out of range")
	if position != n.next {
		n.jumps++
	}
	n.next = position + 1
	c := n.call(position, terminal)
	n.instances = n.instances[:0]
	for _, of := range c.collectives {
		n.instances = append(n.instances, n.instance(of, position))
	}
	if c.ends == nil {
		return c.operation, nil
	}
	n.numbers = n.numbers[:0]
	for _, e := range c.ends {
		n.numbers = append(n.numbers, n.take(e, position))
	}
	return c.operation, n.numbers
}

// Collectives returns the numbers of the collective operations that the call begins of which
// At was asked last, of those whose communicator is known. They are valid until the next
// call of At.
func (n *Numbers) Collectives() []uint64 { return n.instances }

// Partner returns the other end of a message that has a number: of the i-th of the operation
// of a call. Its Rank is −1 if there is none.
func (n *Numbers) Partner(position uint64, o *semantics.Operation, i int) (Partner, error) {
	need.That(o != nil && uint(i) < uint(len(o.Messages)), "query: message out of range")
	return n.numbering.match.partner(n.read, n.rank, position, o, i)
}

// SentBytes returns how many bytes a message has that has a number, as its sender says: of the i-th message of the
// operation of a call; [semantics.Unknown] if the sender does not say, or there is no number. It takes constant time
// if all messages of the channel have the same, and else what [Numbers.Partner] does.
func (n *Numbers) SentBytes(position uint64, o *semantics.Operation, i int) (int64, error) {
	need.That(o != nil && uint(i) < uint(len(o.Messages)), "query: message out of range")
	m := &o.Messages[i]
	if m.Direction == semantics.Send {
		return m.Bytes, nil
	}
	e := n.end(keyOf(m))
	switch {
	case e == nil:
		return semantics.Unknown, nil
	case e.bytes != differentBytes:
		return e.bytes, nil
	}
	p, err := n.Partner(position, o, i)
	if err != nil || p.Rank < 0 {
		return semantics.Unknown, err
	}
	sender, err := n.numbering.Rank(context.Background(), p.Rank)
	if err != nil {
		return semantics.Unknown, err
	}
	return sender.At(p.Position, sender.Walk(p.Position).Next().Symbol).Messages[p.Other].Bytes, nil
}

// instance returns the number of the next collective operation on a communicator, in the
// call at a position.
func (n *Numbers) instance(c *numberedCollectives, position uint64) uint64 {
	if c.jumps != n.jumps {
		if c.before, c.jumps = 0, n.jumps; n.jumps > 0 {
			s, err := n.read.sequence(context.Background(), c.communicator)
			if err != nil {
				panic(err) // that the context is done, which never is
			}
			c.before = s.before(position)
		}
	}
	c.before++
	return wire.AddSat(c.first, c.before-1)
}

// take returns the number of the next message of an end, in the call at a position. Of calls
// that were asked for from the first on, the first message of an end has none before it.
func (n *Numbers) take(e *numberedEnd, position uint64) uint64 {
	if e == nil {
		return 0
	}
	if e.jumps != n.jumps {
		if e.before, e.jumps = 0, n.jumps; n.jumps > 0 {
			e.before = n.read.index(e.key).before(position)
		}
	}
	k := e.before
	e.before++
	if k >= e.count {
		return 0
	}
	return wire.AddSat(e.first, k)
}

// call returns the operation of a call.
func (n *Numbers) call(position uint64, terminal uint32) *numberedCall {
	if c := n.alike[terminal]; c != nil {
		return c
	}
	o := n.read.rank.At(position, terminal)
	c := numberedCall{o, n.endsOf(o), n.collectivesOf(o)}
	if alike, ok := n.read.alike[terminal]; alike || !ok {
		n.alike[terminal] = &c
		return n.alike[terminal]
	}
	n.other = c
	return &n.other
}

// collectivesOf returns the collective operations that an operation begins.
func (n *Numbers) collectivesOf(o *semantics.Operation) (list []*numberedCollectives) {
	for _, p := range operationsOn(o, nil) {
		of := n.begun[p.Communicator]
		if of == nil {
			of = &numberedCollectives{communicator: p.Communicator,
				first: n.numbering.collectives[p.Communicator], jumps: math.MaxUint64}
			n.begun[p.Communicator] = of
		}
		list = append(list, of)
	}
	return list
}

// endsOf returns the ends of the messages of an operation, nil if none has numbers.
func (n *Numbers) endsOf(o *semantics.Operation) []*numberedEnd {
	if o == nil {
		return nil
	}
	ends, any := make([]*numberedEnd, len(o.Messages)), false
	for i := range o.Messages {
		ends[i] = n.end(keyOf(&o.Messages[i]))
		any = any || ends[i] != nil
	}
	if !any {
		return nil
	}
	return ends
}

// end returns the end of messages of a key, nil if they have no numbers.
func (n *Numbers) end(k messageKey) *numberedEnd {
	e, ok := n.ends[k]
	if ok {
		return e
	}
	if k.direction == semantics.Send || k.direction == semantics.Receive {
		if of, ok := n.numbering.channels[channelOf(k, n.rank)]; ok {
			e = &numberedEnd{numbered: of, key: k, jumps: math.MaxUint64}
		}
	}
	n.ends[k] = e
	return e
}

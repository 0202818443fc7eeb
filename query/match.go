package query

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/semantics"
)

// A Channel is the messages from one rank of a run to another, on a communicator and with
// a tag. MPI does not let them overtake each other: the k-th that is sent is what the k-th
// receive of them gets.
type Channel struct {
	Communicator        *semantics.Communicator
	Source, Destination int   // ranks in the run; Source is [semantics.AnySource] where no call tells it
	Tag                 int64 // [semantics.AnyTag] where no call tells it, [semantics.NoTag] where the trace has none
}

// An Unmatched is messages of a channel that are sent and not received, or receives that get
// none. Rank is the source of the former and the destination of the latter.
type Unmatched struct {
	Channel
	Direction semantics.Direction // Send or Receive
	Rank      int
	Count     uint64
	Matched   uint64 // others of that channel and direction, which come before
}

// A Match says which sends and receives of a trace belong together, and which calls of the
// members of a communicator are the same collective operation. Its methods may be called
// from several goroutines at once. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
//
// Receives from any source or with any tag are of the channel that the status tells of the
// call that completed them. Those of which none does are matched last, with what is left.
type Match struct {
	Messages  uint64 // that are sent and received
	Guessed   uint64 // of these, received by calls of which the trace does not tell the sender or the tag
	Channels  int    // with messages
	Unmatched []Unmatched

	// What cannot be matched: ends of messages of which the trace does not tell the
	// other rank or the communicator, those of messages to and from ranks that are not
	// looked at or made no calls, and receives without a message that the program tried to cancel.
	Unknown, Outside, Cancelled uint64

	// Instances are those of collective operations, by communicator. UnknownCollectives
	// are calls of which the trace does not tell the communicator.
	Instances          []Instances
	UnknownCollectives uint64

	model   *semantics.Model
	inexact map[place][]Channel // of which not all is known

	mutex  sync.Mutex
	opened map[int]*matchRank
}

// A place is where messages arrive.
type place struct {
	communicator *semantics.Communicator
	destination  int
}

// OpenMatch matches the sends and receives of ranks, and their collective operations. It
// costs what the grammars and signatures of the ranks cost, and something for each
// channel. Only where one communicator after the other has the same id does it go through
// the calls on them.
func OpenMatch(ctx context.Context, model *semantics.Model, o Options) (*Match, error) {
	ranks := o.ranks(model.Trace())
	m := &Match{model: model, inexact: make(map[place][]Channel), opened: make(map[int]*matchRank)}
	found := make([]rankMessages, len(ranks))
	sums := make([]rankSequences, len(ranks))
	err := o.eachRank(ctx, model, ranks, func(i int, r *semantics.Rank) {
		all := operationsOf(r)
		found[i], sums[i] = all.messages(), all.sequences()
	})
	if err != nil {
		return nil, err
	}
	readable := make(map[int]bool, len(ranks))
	for i, rank := range ranks {
		if found[i].read {
			readable[rank] = true
		}
	}
	m.pair(ranks, found, readable)
	return m, m.agree(ctx, ranks, sums, o)
}

// A messageKey says what is alike about messages of one rank.
type messageKey struct {
	communicator *semantics.Communicator
	direction    semantics.Direction
	peer         int
	tag          int64
}

func keyOf(m *semantics.Message) messageKey {
	return messageKey{m.Communicator, m.Direction, m.Peer, m.Tag}
}

// rankMessages are how many messages of each kind a rank sends and receives.
type rankMessages struct {
	read      bool
	counts    map[messageKey]uint64
	cancelled map[messageKey]uint64 // of receives in counts
	unknown   uint64
}

func (all *operations) messages() rankMessages {
	found := rankMessages{read: true, counts: make(map[messageKey]uint64), cancelled: make(map[messageKey]uint64)}
	for _, o := range all.list {
		for i := range o.Operation.Messages {
			m := &o.Operation.Messages[i]
			switch {
			case m.Direction != semantics.Send && m.Direction != semantics.Receive:
			case m.Communicator == nil || m.Peer == semantics.NoPeer || m.Direction == semantics.Send && m.Peer < 0:
				found.unknown = wire.AddSat(found.unknown, o.Count)
			default:
				k := keyOf(m)
				found.counts[k] = wire.AddSat(found.counts[k], o.Count)
				if m.Cancelled {
					found.cancelled[k] = wire.AddSat(found.cancelled[k], o.Count)
				}
			}
		}
	}
	return found
}

// An end is the messages of a channel at one of its ranks.
type end struct {
	order     int // of the communicator
	channel   Channel
	direction semantics.Direction
	count     uint64
	cancelled uint64
	left      uint64 // not matched
}

func (e *end) rank() int {
	if e.direction == semantics.Send {
		return e.channel.Source
	}
	return e.channel.Destination
}

// compareEnds orders ends by where messages arrive, then by channel, sends first.
func compareEnds(a, b *end) int {
	return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.channel.Destination, b.channel.Destination),
		cmp.Compare(a.channel.Source, b.channel.Source), cmp.Compare(a.channel.Tag, b.channel.Tag), cmp.Compare(a.direction, b.direction))
}

// pair matches the messages of all ranks.
func (m *Match) pair(ranks []int, found []rankMessages, readable map[int]bool) {
	order := orderOf(found)
	var ends []*end
	for i, rank := range ranks {
		f := &found[i]
		m.Unknown = wire.AddSat(m.Unknown, f.unknown)
		for k, n := range f.counts {
			if k.peer >= 0 && !readable[k.peer] {
				m.Outside = wire.AddSat(m.Outside, n)
				continue
			}
			e := &end{order: order[k.communicator], direction: k.direction, count: n, cancelled: f.cancelled[k], left: n}
			e.channel = Channel{k.communicator, rank, k.peer, k.tag}
			if k.direction == semantics.Receive {
				e.channel.Source, e.channel.Destination = k.peer, rank
			}
			ends = append(ends, e)
		}
		*f = rankMessages{}
	}
	slices.SortFunc(ends, compareEnds)
	for begin := 0; begin < len(ends); {
		n := begin + 1
		for n < len(ends) && ends[n].order == ends[begin].order && ends[n].channel.Destination == ends[begin].channel.Destination {
			n++
		}
		m.pairAt(ends[begin:n])
		begin = n
	}
}

// orderOf numbers communicators by their names.
func orderOf(found []rankMessages) map[*semantics.Communicator]int {
	order := make(map[*semantics.Communicator]int)
	var list []*semantics.Communicator
	for _, f := range found {
		for k := range f.counts {
			if _, ok := order[k.communicator]; !ok {
				order[k.communicator] = 0
				list = append(list, k.communicator)
			}
		}
	}
	slices.SortFunc(list, func(a, b *semantics.Communicator) int { return cmp.Compare(a.Name, b.Name) })
	for i, c := range list {
		order[c] = i
	}
	return order
}

// pairAt matches messages that arrive at one rank on one communicator.
func (m *Match) pairAt(ends []*end) {
	at := place{ends[0].channel.Communicator, ends[0].channel.Destination}
	var sends, receives []*end // of which some are left
	for i, e := range ends {
		if e.direction == semantics.Send {
			m.Channels++
			if i+1 < len(ends) && ends[i+1].channel == e.channel {
				m.take(e, ends[i+1])
			}
		}
		if e.channel.Source < 0 || e.channel.Tag < 0 {
			m.inexact[at] = append(m.inexact[at], e.channel)
		}
	}
	for _, e := range ends {
		switch {
		case e.left == 0:
		case e.direction == semantics.Send:
			sends = append(sends, e)
		default:
			receives = append(receives, e)
		}
	}
	m.pairRest(sends, receives)
	for _, e := range ends {
		if e.direction == semantics.Receive {
			gone := min(e.left, e.cancelled)
			m.Cancelled = wire.AddSat(m.Cancelled, gone)
			e.left -= gone
		}
		if e.left > 0 {
			m.Unmatched = append(m.Unmatched, Unmatched{e.channel, e.direction, e.rank(), e.left, e.count - e.left})
		}
	}
}

// take matches as many of the messages of two ends as there are of both.
func (m *Match) take(send, receive *end) uint64 {
	n := min(send.left, receive.left)
	send.left -= n
	receive.left -= n
	m.Messages = wire.AddSat(m.Messages, n)
	return n
}

// pairRest matches what is left with receives that do not tell the source or the tag, those
// first that tell most, and with messages whose tags the trace does not have.
func (m *Match) pairRest(sends, receives []*end) {
	if len(sends) == 0 || len(receives) == 0 {
		return
	}
	bySource, byTag := make(map[int][]*end), make(map[int64][]*end)
	var untagged []*end
	for _, s := range sends {
		bySource[s.channel.Source] = append(bySource[s.channel.Source], s)
		byTag[s.channel.Tag] = append(byTag[s.channel.Tag], s)
		if s.channel.Tag < 0 {
			untagged = append(untagged, s)
		}
	}
	try := func(r *end, list []*end) {
		for _, s := range list {
			if r.left == 0 {
				return
			}
			fits := r.channel.Source < 0 || r.channel.Source == s.channel.Source
			if fits && (r.channel.Tag < 0 || s.channel.Tag < 0 || r.channel.Tag == s.channel.Tag) {
				m.Guessed = wire.AddSat(m.Guessed, m.take(s, r))
			}
		}
	}
	vague := func(r *end) int {
		n := 0
		if r.channel.Source < 0 {
			n += 2
		}
		if r.channel.Tag < 0 {
			n++
		}
		return n
	}
	slices.SortStableFunc(receives, func(a, b *end) int { return cmp.Compare(vague(a), vague(b)) })
	for _, r := range receives {
		switch {
		case r.channel.Source >= 0:
			try(r, bySource[r.channel.Source])
		case r.channel.Tag >= 0:
			try(r, byTag[r.channel.Tag])
			try(r, untagged)
		default:
			try(r, sends)
		}
	}
}

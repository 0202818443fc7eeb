package query

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/fingerprint"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Channel is the messages from one rank of a run to another, on a communicator and with
// a tag. MPI does not let them overtake each other: the k-th that is sent is what the k-th
// receive of them gets.
type Channel struct {
	Communicator *semantics.Communicator `json:"communicator"`
	// ranks in the run; [semantics.AnySource], −1, where no call tells it
	Source      int `json:"from"`
	Destination int `json:"to"`
	// [semantics.AnyTag], −1, where no call tells it, [semantics.NoTag], −2, where the trace has none
	Tag int64 `json:"tag"`
}

// An Unmatched is messages of a channel that are sent and not received, or receives that get
// none. Rank is the source of the former and the destination of the latter.
type Unmatched struct {
	Channel
	Direction semantics.Direction `json:"direction"` // Send or Receive
	Rank      int                 `json:"rank"`
	Count     uint64              `json:"count"`
	Matched   uint64              `json:"matched"` // others of that channel and direction, which come before
	// position of the first of them on its rank, once [Match.Firsts] has found it
	First *uint64 `json:"first,omitzero"`

	// Among are channels of which they are, if there are several and the trace does not
	// tell which: receives that do not tell the sender or the tag may have got what is
	// sent on one as well as on another. Channel is the first of them then, Rank that of
	// its end, and Matched 0.
	Among []Channel `json:"among,omitzero"`
}

// A Match says which sends and receives of a trace belong together, and which calls of the
// members of a communicator are the same collective operation. Its methods may be called
// from several goroutines at once. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
//
// Receives from any source or with any tag are of the channel that the status tells of the
// call that completed them, or the probe that found the message. Those of which neither does
// are matched last, with what is left, so that as many messages as can be are received.
type Match struct {
	Messages uint64 `json:"messages"` // that are sent and received
	// of these, received by calls of which the trace does not tell the sender or the tag
	Assumed   uint64      `json:"assumed,omitzero"`
	Channels  int         `json:"channels"` // with messages
	Unmatched []Unmatched `json:"unmatched"`

	// What cannot be matched: ends of messages of which the trace does not tell the
	// other rank or the communicator, those of messages to and from ranks that are not
	// looked at or made no calls, and receives without a message that the program tried to cancel.
	Unknown   uint64 `json:"messages_of_unknown_ranks,omitzero"`
	Outside   uint64 `json:"messages_of_other_ranks,omitzero"`
	Cancelled uint64 `json:"receives_cancelled,omitzero"`

	// Instances are those of collective operations, by communicator. UnknownCollectives
	// are calls of which the trace does not tell the communicator.
	Instances          []Instances `json:"communicators"`
	UnknownCollectives uint64      `json:"collectives_of_unknown_communicators,omitzero"`

	// ThreadsUnordered is set if there are ranks of which it is not known in which order their threads made
	// their calls: members that make as many collective operations as others are not told apart then.
	ThreadsUnordered bool `json:"threads_unordered,omitzero"`

	// Switching are the ranks with calls that switch recording off or on, as
	// [semantics.Rank.SwitchesRecording] says.
	Switching rankenc.Set `json:"switching_rank_set"`

	model   *semantics.Model
	codes   codes
	inexact map[place][]Channel // of which not all is known

	// Of the channels of places that have some that are inexact: those that are, and of which the
	// program tried to cancel all receives, and those of which all messages have a receive
	// that tells that it is of them, so that these can have got none.
	abandoned, full map[Channel]bool

	mutex  sync.Mutex
	opened map[int]*matchRank

	numbering *Numbering // of the messages, if it is wanted

	maxStarts   int // of the members of a communicator, of which the skew is looked at
	maxReceives int // of all channels, that are looked at for late senders
}

// A place is where messages arrive.
type place struct {
	communicator *semantics.Communicator
	destination  int
}

// OpenMatch matches the sends and receives of ranks, and their collective operations. It
// costs what the grammars and signatures of the ranks cost, and something for each
// channel. Only where one communicator after the other has the same id does it go through
// the calls on them, but for those that repeat what others do.
//
// In a Region, messages match whose both ends are in it. Members of a communicator make the same operations if they make
// equally many of each function and root. Positions, [Match.Firsts] and [Match.Skew] are of the whole run alone.
func OpenMatch(ctx context.Context, model *semantics.Model, o Options) (*Match, error) {
	need.That(model != nil, "query: no model")
	ranks, err := o.ranks(model.Trace(), rankMemory)
	if err != nil {
		return nil, err
	}
	m := newMatch(model)
	found := make([]rankMessages, len(ranks))
	sums := make([]rankSequences, len(ranks))
	switching := make([]bool, len(ranks))
	held := tally{trace: model.Trace(), what: "different messages", size: messageMemory, ranks: len(ranks)}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = o.eachRank(ctx, model, ranks, func(i int, r *semantics.Rank) {
		switching[i] = r.SwitchesRecording()
		all, err := m.operationsOf(ctx, r)
		if err == nil && o.Region != nil {
			found[i], sums[i] = all.within(o.operations(r))
		} else if err == nil {
			found[i] = all.messages()
			sums[i], _ = all.sequences(ctx) // it can only be that ctx is done, which eachRank tells
		}
		if err := held.add(len(found[i].counts)); err != nil {
			stop(err)
		}
	})
	if err != nil {
		return nil, err
	}
	var off []int
	for i, rank := range ranks {
		if switching[i] {
			off = append(off, rank)
		}
	}
	m.Switching = rankenc.SetOf(off...)
	if err := m.pair(ctx, ranks, found); err != nil {
		return nil, err
	}
	return m, m.agree(ctx, ranks, sums, o)
}

func newMatch(model *semantics.Model) *Match {
	return &Match{ThreadsUnordered: model.Trace().Run().ThreadsUnordered, model: model,
		inexact: make(map[place][]Channel), abandoned: make(map[Channel]bool), full: make(map[Channel]bool),
		opened: make(map[int]*matchRank), maxStarts: maxStarts, maxReceives: maxReceives}
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

// messageMemory is what a messageKey of a rank takes in bytes, with its counts and what pairs it with others.
const messageMemory = 340

// rankMessages are how many messages of each kind a rank sends and receives.
type rankMessages struct {
	counts    map[messageKey]uint64
	cancelled map[messageKey]uint64 // of receives in counts
	bytes     map[messageKey]int64  // of each that is sent; differentBytes if they differ
	unknown   uint64
}

// differentBytes stands for the size of messages that differ in it.
const differentBytes = -2

func (all *operations) messages() rankMessages {
	var found rankMessages
	for _, o := range all.list {
		for i := range o.Operation.Messages {
			m := &o.Operation.Messages[i]
			switch {
			case m.Direction != semantics.Send && m.Direction != semantics.Receive:
			case m.Communicator == nil || m.Peer == semantics.NoPeer || m.Direction == semantics.Send && m.Peer < 0:
				found.unknown = wire.AddSat(found.unknown, o.Count)
			default:
				k := keyOf(m)
				addTo(&found.counts, k, o.Count)
				if all.sized && m.Direction == semantics.Send {
					found.size(k, m.Bytes)
				}
				if m.Cancelled {
					addTo(&found.cancelled, k, o.Count)
				}
			}
		}
	}
	return found
}

// size takes note of the size of messages of a key.
func (found *rankMessages) size(k messageKey, bytes int64) {
	if found.bytes == nil {
		found.bytes = make(map[messageKey]int64)
	}
	if b, ok := found.bytes[k]; ok && b != bytes {
		bytes = differentBytes
	}
	found.bytes[k] = bytes
}

// within returns the messages and collective operations of some of the calls: of the latter, how many there are of each.
func (all *operations) within(calls iter.Seq[semantics.Occurrence]) (rankMessages, rankSequences) {
	part := &operations{rank: all.rank, codes: all.codes, list: slices.Collect(calls)}
	sequences := rankSequences{digests: make(map[*semantics.Communicator]digest)}
	counts := make(map[*semantics.Communicator]map[uint64]uint64)
	for _, o := range part.list {
		sequences.addUnknown(&o)
		for _, p := range operationsOn(o.Operation, nil) {
			if counts[p.Communicator] == nil {
				counts[p.Communicator] = make(map[uint64]uint64)
			}
			code := all.codes.of(functionOf(all.rank, o.Terminal), p)
			counts[p.Communicator][code] = wire.AddSat(counts[p.Communicator][code], o.Count)
		}
	}
	for c, of := range counts {
		sum := empty
		for _, code := range slices.Sorted(maps.Keys(of)) {
			sum = digest{Value: sum.Value.Then(fingerprint.Of(code).Times(of[code])),
				Weight: wire.AddSat(sum.Weight, of[code])}
		}
		sequences.digests[c] = sum
	}
	return part.messages(), sequences
}

// addTo adds a count to that of a key, in a map that is made when it is needed: many ranks have none.
func addTo[K comparable](counts *map[K]uint64, k K, n uint64) {
	if *counts == nil {
		*counts = make(map[K]uint64)
	}
	(*counts)[k] = wire.AddSat((*counts)[k], n)
}

// An end is the messages of a channel at one of its ranks.
type end struct {
	order     int // of the communicator
	channel   Channel
	direction semantics.Direction
	count     uint64
	cancelled uint64
	left      uint64 // not matched
	bytes     int64  // of each message, of sends of which sizes are asked for; differentBytes if they differ
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
		cmp.Compare(a.channel.Source, b.channel.Source), cmp.Compare(a.channel.Tag, b.channel.Tag),
		cmp.Compare(a.direction, b.direction))
}

// channelOf returns the channel of the messages of a key of a rank.
func channelOf(k messageKey, rank int) Channel {
	if k.direction == semantics.Receive {
		return Channel{k.communicator, k.peer, rank, k.tag}
	}
	return Channel{k.communicator, rank, k.peer, k.tag}
}

// pair matches the messages of ranks, which are those that can be read, in ascending order.
func (m *Match) pair(ctx context.Context, ranks []int, found []rankMessages) error {
	readable := func(rank int) bool {
		_, ok := slices.BinarySearch(ranks, rank)
		return ok
	}
	order := orderOf(found)
	var ends []*end
	for i, rank := range ranks {
		f := &found[i]
		m.Unknown = wire.AddSat(m.Unknown, f.unknown)
		for k, n := range f.counts {
			if k.peer >= 0 && !readable(k.peer) {
				m.Outside = wire.AddSat(m.Outside, n)
				continue
			}
			ends = append(ends, &end{
				order: order[k.communicator], channel: channelOf(k, rank), direction: k.direction,
				count: n, cancelled: f.cancelled[k], left: n, bytes: f.bytes[k],
			})
		}
		*f = rankMessages{}
	}
	slices.SortFunc(ends, compareEnds)
	for begin := 0; begin < len(ends); {
		n := begin + 1
		for n < len(ends) && ends[n].order == ends[begin].order &&
			ends[n].channel.Destination == ends[begin].channel.Destination {
			n++
		}
		if err := m.pairAt(ctx, ends[begin:n]); err != nil {
			return err
		}
		begin = n
	}
	return nil
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
func (m *Match) pairAt(ctx context.Context, ends []*end) error {
	at := place{ends[0].channel.Communicator, ends[0].channel.Destination}
	for _, e := range ends {
		if e.direction == semantics.Send {
			m.Channels++
		}
		if e.channel.Source < 0 || e.channel.Tag < 0 {
			m.inexact[at] = append(m.inexact[at], e.channel)
		}
	}
	if len(m.inexact[at]) > 0 {
		m.account(ends)
	}
	if m.numbering != nil {
		m.numbering.add(ends)
	}
	if len(m.inexact[at]) == 0 {
		for i, e := range ends[1:] {
			if send := ends[i]; send.channel == e.channel {
				m.take(send, e)
			}
		}
		m.leave(ends, new(pairing))
		return nil
	}
	p := newPairing(ends)
	if err := p.maximize(ctx); err != nil {
		return err
	}
	p.apply(m)
	m.leave(ends, p)
	return nil
}

// account finds the abandoned and the full channels among those that arrive at one rank on one
// communicator.
func (m *Match) account(ends []*end) {
	for i, e := range ends {
		switch c := e.channel; {
		case c.Source < 0 || c.Tag < 0:
			m.abandoned[c] = e.direction == semantics.Receive && e.cancelled == e.count
		case e.direction == semantics.Receive && i > 0 && ends[i-1].channel == c:
			m.full[c] = ends[i-1].count == e.count && e.cancelled == 0
		}
	}
}

// leave takes note of what is not matched.
func (m *Match) leave(ends []*end, p *pairing) {
	for _, e := range ends {
		if e.direction == semantics.Receive {
			gone := min(e.left, e.cancelled)
			m.Cancelled = wire.AddSat(m.Cancelled, gone)
			e.left -= gone
		}
	}
	m.Unmatched = append(m.Unmatched, p.unmatched(ends)...)
}

// take matches as many of the messages of the two ends of a channel as there are of both.
func (m *Match) take(send, receive *end) {
	n := min(send.left, receive.left)
	send.left -= n
	receive.left -= n
	m.Messages = wire.AddSat(m.Messages, n)
}

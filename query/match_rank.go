package query

import (
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// Limits of what a Match keeps to answer questions about calls.
const (
	maxOpened  = 256  // ranks that were asked for
	maxIndices = 1024 // channels of a rank, and communicators
)

// A matchRank is a rank of which calls are looked for.
type matchRank struct {
	*operations

	mutex     sync.Mutex
	indices   map[messageKey]*index
	sequences map[*semantics.Communicator]sequence
	walked    map[*semantics.Communicator]*walked
}

// open returns a rank.
func (m *Match) open(ctx context.Context, rank int) (*matchRank, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if r := m.opened[rank]; r != nil {
		return r, nil
	}
	r, err := m.read(ctx, rank)
	if err != nil {
		return nil, err
	}
	if len(m.opened) >= maxOpened {
		clear(m.opened)
	}
	m.opened[rank] = r
	return r, nil
}

// read returns a rank that is asked for once.
func (m *Match) read(ctx context.Context, rank int) (*matchRank, error) {
	r, err := m.model.Rank(rank)
	if err != nil {
		return nil, err
	}
	return m.newMatchRank(ctx, r)
}

func (m *Match) newMatchRank(ctx context.Context, r *semantics.Rank) (*matchRank, error) {
	all, err := m.operationsOf(ctx, r)
	if err != nil {
		return nil, err
	}
	return &matchRank{operations: all, indices: make(map[messageKey]*index),
		sequences: make(map[*semantics.Communicator]sequence)}, nil
}

// operations are those of a rank.
type operations struct {
	rank        *semantics.Rank
	codes       *codes
	list        []semantics.Occurrence
	alike       map[uint32]bool // terminals whose calls are all one operation, wherever they stand
	collectives map[*semantics.Communicator]*collectives
	index       func() *sums.Index // of the grammar
	sized       bool               // whether the sizes of messages are asked for
}

// Collectives are the calls that begin collective operations on a communicator.
type collectives struct {
	list  []semantics.Occurrence
	alike bool // it depends on the terminal of a call alone what it begins
}

func (m *Match) operationsOf(ctx context.Context, r *semantics.Rank) (*operations, error) {
	all := &operations{rank: r, codes: &m.codes, alike: make(map[uint32]bool),
		collectives: make(map[*semantics.Communicator]*collectives)}
	all.index = sync.OnceValue(func() *sums.Index { return sums.Of(r.Grammar()) })
	for o := range r.All() {
		if all.list = append(all.list, o); len(all.list)%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	counts := make(map[uint32]uint64)
	for s, n := range r.Occurrences() {
		counts[s] = n
	}
	for _, o := range all.list {
		all.alike[o.Terminal] = o.Count == counts[o.Terminal]
	}
	for _, o := range all.list {
		for _, p := range operationsOn(o.Operation, nil) {
			of := all.collectives[p.Communicator]
			if of == nil {
				of = new(collectives)
				all.collectives[p.Communicator] = of
			}
			if n := len(of.list); n == 0 || of.list[n-1] != o {
				of.list = append(of.list, o)
			}
		}
	}
	for c, of := range all.collectives {
		of.alike = all.alikeOn(c, of.list, counts)
	}
	return all, nil
}

// alikeOn reports whether calls with each terminal in a list begin the same collective
// operations on a communicator, wherever they stand, given how many calls there are.
func (all *operations) alikeOn(c *semantics.Communicator, list []semantics.Occurrence, counts map[uint32]uint64) bool {
	for len(list) > 0 {
		first, calls, n := list[0], uint64(0), 0
		for ; n < len(list) && list[n].Terminal == first.Terminal; n++ {
			if n > 0 && !slices.Equal(all.digests(first.Terminal, operationsOn(list[n].Operation, c)),
				all.digests(first.Terminal, operationsOn(first.Operation, c))) {
				return false
			}
			calls += list[n].Count
		}
		if calls != counts[first.Terminal] {
			return false
		}
		list = list[n:]
	}
	return true
}

// An index finds the messages of a key among the calls of a rank.
type index struct {
	rank   *semantics.Rank
	key    messageKey
	alike  *ruled // of calls whose terminals say how many messages there are
	others []spot // of others
}

// A spot is a call with messages, and how many there are in others before it.
type spot struct{ position, before, count uint64 }

// index returns that of a key.
func (r *matchRank) index(k messageKey) *index {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	x := r.indices[k]
	if x == nil {
		if len(r.indices) >= maxIndices {
			clear(r.indices)
		}
		x = r.newIndex(k)
		r.indices[k] = x
	}
	return x
}

// messageDigests returns as many digests, which are all the same.
func messageDigests(n uint64) []digest { return slices.Repeat([]digest{digestOf(0)}, int(n)) }

func (r *matchRank) newIndex(k messageKey) *index {
	x := &index{rank: r.rank, key: k}
	alike, others := make(terminals), make(map[sequitur.Symbol]bool)
	for _, o := range r.list {
		n := countOf(o.Operation, k)
		switch {
		case n == 0:
		case r.alike[o.Terminal]:
			alike[o.Terminal] = messageDigests(n)
		default:
			others[o.Terminal] = true
		}
	}
	x.alike = newRuled(r.operations, alike)
	if len(others) == 0 {
		return x
	}
	sum := uint64(0)
	for position, terminal := range r.rank.Find(0, func(s sequitur.Symbol) bool { return others[s] }) {
		if n := countOf(r.rank.At(position, terminal), k); n > 0 {
			x.others = append(x.others, spot{position, sum, n})
			sum += n
		}
	}
	return x
}

// countOf returns how many messages of a key an operation has.
func countOf(o *semantics.Operation, k messageKey) uint64 {
	if o == nil {
		return 0
	}
	n := uint64(0)
	for i := range o.Messages {
		if keyOf(&o.Messages[i]) == k {
			n++
		}
	}
	return n
}

// before returns how many messages there are in the calls before a position.
func (x *index) before(position uint64) uint64 {
	sum := x.alike.before(position)
	i := sort.Search(len(x.others), func(i int) bool { return x.others[i].position >= position })
	if i > 0 {
		sum += x.others[i-1].before + x.others[i-1].count
	}
	return sum
}

// find returns the call with the k-th message, from 0 on, and which of its messages of the
// key it is; the number of calls if there are no more than k.
func (x *index) find(k uint64) (position, nth uint64) {
	if len(x.others) == 0 {
		if k >= x.alike.all().Weight {
			return x.rank.Len(), 0
		}
		position, nth := x.alike.at(k)
		return position, uint64(nth)
	}
	low, high := uint64(0), x.rank.Len() // before(low) ≤ k, and before(high) > k or high is the end
	for high-low > 1 {
		if middle := low + (high-low)/2; x.before(middle) <= k {
			low = middle
		} else {
			high = middle
		}
	}
	if x.before(x.rank.Len()) <= k {
		return x.rank.Len(), 0
	}
	return low, k - x.before(low)
}

// A Partner is the other end of a message.
type Partner struct {
	Message  int // the number of the message in the operation
	Rank     int // in the run; −1 if it is not known
	Position uint64
	Other    int // the number of the message in the operation there
}

// Partner returns the other ends of the messages of the call at a position of a rank that
// have one. A message has none if it is not matched, or if it is not known which one it
// is: where a receive may have got it of which the trace does not tell the sender.
// It takes as many steps of the grammar as finding a call, and reading it the first time.
func (m *Match) Partner(rank int, position uint64) ([]Partner, error) {
	r, err := m.open(context.Background(), rank)
	if err != nil {
		return nil, err
	}
	o := r.rank.At(position, r.rank.Grammar().At(position))
	if o == nil {
		return nil, nil
	}
	var list []Partner
	for i := range o.Messages {
		p, err := m.partner(r, rank, position, o, i)
		if err != nil {
			return nil, err
		}
		if p.Rank >= 0 {
			list = append(list, p)
		}
	}
	return list, nil
}

// partner returns the other end of message i of an operation.
func (m *Match) partner(r *matchRank, rank int, position uint64, o *semantics.Operation, i int) (Partner, error) {
	none := Partner{Message: i, Rank: -1}
	k := keyOf(&o.Messages[i])
	if k.direction != semantics.Send && k.direction != semantics.Receive || k.communicator == nil || k.peer < 0 {
		return none, nil
	}
	if !m.tells(channelOf(k, rank)) {
		return none, nil
	}
	there := messageKey{k.communicator, semantics.Receive, rank, k.tag}
	if k.direction == semantics.Receive {
		there.direction = semantics.Send
	}
	number := r.index(k).before(position)
	for j := range i {
		if keyOf(&o.Messages[j]) == k {
			number++
		}
	}
	other, err := m.open(context.Background(), k.peer)
	if err != nil {
		return none, err
	}
	at, nth := other.index(there).find(number)
	if at >= other.rank.Len() {
		return none, nil
	}
	p := Partner{Message: i, Rank: k.peer, Position: at}
	found := other.rank.At(at, other.rank.Walk(at).Next().Symbol)
	for j := range found.Messages {
		if keyOf(&found.Messages[j]) != there {
			continue
		}
		if nth == 0 {
			p.Other = j
			break
		}
		nth--
	}
	return p, nil
}

// tells reports whether the k-th message that is sent on a channel is what the k-th receive
// gets.
func (m *Match) tells(c Channel) bool {
	return c.Source >= 0 && c.Tag != semantics.AnyTag && m.exact(c)
}

// exact reports whether no receive may have got messages of a channel that does not tell
// that it did. One that the program tried to cancel has got none of a channel of which each
// message has another.
func (m *Match) exact(c Channel) bool {
	for _, w := range m.inexact[place{c.Communicator, c.Destination}] {
		if m.full[c] && m.abandoned[w] {
			continue
		}
		if w != c && (w.Source < 0 || w.Source == c.Source) && (w.Tag < 0 || c.Tag < 0 || w.Tag == c.Tag) {
			return false
		}
	}
	return true
}

package query

import (
	"slices"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxOpened is how many ranks a Match keeps that were asked for.
const maxOpened = 256

// A matchRank is a rank of which calls are looked for.
type matchRank struct {
	*operations

	mutex     sync.Mutex
	indices   map[messageKey]*index
	sequences map[*semantics.Communicator]sequence
}

// open returns a rank.
func (m *Match) open(rank int) (*matchRank, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if r := m.opened[rank]; r != nil {
		return r, nil
	}
	read, err := m.model.Rank(rank)
	if err != nil {
		return nil, err
	}
	if len(m.opened) >= maxOpened {
		clear(m.opened)
	}
	r := &matchRank{operations: operationsOf(read), indices: make(map[messageKey]*index), sequences: make(map[*semantics.Communicator]sequence)}
	m.opened[rank] = r
	return r, nil
}

// operations are those of a rank.
type operations struct {
	rank  *semantics.Rank
	list  []semantics.Occurrence
	alike map[uint32]bool // terminals whose calls are all one operation, wherever they stand
}

func operationsOf(r *semantics.Rank) *operations {
	all := &operations{rank: r, list: slices.Collect(r.All()), alike: make(map[uint32]bool)}
	counts := make(map[uint32]uint64)
	for s, n := range r.Occurrences() {
		counts[uint32(s)] = n
	}
	for _, o := range all.list {
		all.alike[o.Terminal] = o.Count == counts[o.Terminal]
	}
	return all
}

// An index finds the messages of a key among the calls of a rank.
type index struct {
	rank    *semantics.Rank
	key     messageKey
	measure *sequitur.Measure // of calls whose terminals say how many messages there are
	others  []spot            // of others
}

// A spot is a call with messages, and how many there are in others before it.
type spot struct{ position, before, count uint64 }

// index returns that of a key.
func (r *matchRank) index(k messageKey) *index {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	x := r.indices[k]
	if x == nil {
		x = r.newIndex(k)
		r.indices[k] = x
	}
	return x
}

func (r *matchRank) newIndex(k messageKey) *index {
	x := &index{rank: r.rank, key: k}
	weights, others := make(map[sequitur.Symbol]uint64), make(map[sequitur.Symbol]bool)
	for _, o := range r.list {
		n := countOf(o.Operation, k)
		switch {
		case n == 0:
		case r.alike[o.Terminal]:
			weights[sequitur.Symbol(o.Terminal)] = n
		default:
			others[sequitur.Symbol(o.Terminal)] = true
		}
	}
	x.measure = r.rank.Grammar().Measure(func(s sequitur.Symbol) uint64 { return weights[s] })
	if len(others) == 0 {
		return x
	}
	sum := uint64(0)
	for position, terminal := range r.rank.Find(0, func(s sequitur.Symbol) bool { return others[s] }) {
		if n := countOf(r.rank.At(position, uint32(terminal)), k); n > 0 {
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
	sum := x.measure.Before(position)
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
		position, before := x.measure.Find(k)
		return position, k - before
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

// First returns the position of the first call of u, on u.Rank.
func (m *Match) First(u Unmatched) (uint64, error) {
	r, err := m.open(u.Rank)
	if err != nil {
		return 0, err
	}
	position, _ := r.index(u.key()).find(u.Matched)
	return position, nil
}

// key returns what the messages of u are for the rank.
func (u *Unmatched) key() messageKey {
	k := messageKey{u.Communicator, u.Direction, u.Destination, u.Tag}
	if u.Direction == semantics.Receive {
		k.peer = u.Source
	}
	return k
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
	r, err := m.open(rank)
	if err != nil {
		return nil, err
	}
	o := r.rank.At(position, uint32(r.rank.Walk(position).Next().Symbol))
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
	if k.direction != semantics.Send && k.direction != semantics.Receive || k.communicator == nil || k.peer < 0 || k.tag == semantics.AnyTag {
		return none, nil
	}
	there := messageKey{k.communicator, semantics.Receive, rank, k.tag}
	c := Channel{k.communicator, rank, k.peer, k.tag}
	if k.direction == semantics.Receive {
		there.direction = semantics.Send
		c.Source, c.Destination = k.peer, rank
	}
	if !m.exact(c) {
		return none, nil
	}
	number := r.index(k).before(position)
	for j := range i {
		if keyOf(&o.Messages[j]) == k {
			number++
		}
	}
	other, err := m.open(k.peer)
	if err != nil {
		return none, err
	}
	at, nth := other.index(there).find(number)
	if at >= other.rank.Len() {
		return none, nil
	}
	p := Partner{Message: i, Rank: k.peer, Position: at}
	found := other.rank.At(at, uint32(other.rank.Walk(at).Next().Symbol))
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

// exact reports whether no receive may have got messages of a channel that does not tell
// that it did.
func (m *Match) exact(c Channel) bool {
	for _, w := range m.inexact[place{c.Communicator, c.Destination}] {
		if w != c && (w.Source < 0 || w.Source == c.Source) && (w.Tag < 0 || c.Tag < 0 || w.Tag == c.Tag) {
			return false
		}
	}
	return true
}

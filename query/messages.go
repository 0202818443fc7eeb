package query

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Messages are what ranks send and receive, by pairs of ranks, by communicator and by size.
type Messages struct {
	Traffic       *Traffic          // nil if there is a Matrix
	Matrix        *Matrix           // nil if there is a Traffic
	Communicators []CommunicatorUse // those of most calls first
	Sizes         *Sizes
}

// ErrTooManyPairs is the error of [OpenMessages] if there are more pairs of ranks than can be
// held: those of [UniformPairs] do not count.
var ErrTooManyPairs = errors.New("query: too many pairs of ranks have traffic")

// pairMemory is what a pair takes in bytes, with what who asks makes of it.
const pairMemory = 800

// maxPairs is the largest number of pairs of a [Traffic].
const maxPairs = 1 << 23

// OpenMessages counts the messages that ranks send, what they access in the memory of others,
// what they exchange in collective operations, and what they do on each communicator. Traffic is by
// pairs of ranks, or, if these may be too many to hold, by so many bins unless they are 0, or by
// ranks if these are fewer. It costs what reading the ranks costs.
func OpenMessages(ctx context.Context, m *semantics.Model, bins int, o Options) (*Messages, error) {
	return messagesWithin(ctx, m, bins, maxPairs, o)
}

// messagesWithin is OpenMessages with another limit for pairs.
func messagesWithin(ctx context.Context, m *semantics.Model, bins int, most int64, o Options) (*Messages, error) {
	need.That(m != nil, "query: no model")
	ranks, err := o.ranks(m.Trace(), rankMemory)
	if err != nil {
		return nil, err
	}
	size := m.Trace().Ranks()
	all := new(Messages)
	if bins != 0 {
		if all.Matrix, err = newMatrix(size, bins); err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex // of all.Matrix
	found := make([]*rankFlows, len(ranks))
	var pairs atomic.Int64
	held := tally{trace: m.Trace(), what: "pairs of ranks", size: pairMemory, ranks: len(ranks)}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = o.eachRank(ctx, m, ranks, func(i int, r *semantics.Rank) {
		found[i] = flowsOf(ranks[i], r, size, o.operations(r))
		if all.Matrix != nil {
			mu.Lock()
			defer mu.Unlock()
			all.Matrix.addAll(found[i])
			return
		}
		n := pairs.Add(int64(len(found[i].pairs)))
		if n > most {
			stop(ErrTooManyPairs)
		} else if err := held.add(len(found[i].pairs)); err != nil {
			stop(err)
		}
	})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f *rankFlows) bool { return f == nil })
	all.Sizes, all.Communicators = sizesOf(found), usesOf(found)
	uniform := uniformOf(found)
	if all.Matrix != nil {
		all.Matrix.addUniform(uniform)
		return all, nil
	}
	t := &Traffic{Ranks: size, Uniform: uniform}
	lists := make([][]Pair, len(found))
	for i, f := range found {
		t.Unplaced.plus(f.unplaced)
		t.Uncounted = wire.AddSat(t.Uncounted, f.uncounted)
		lists[i], f.pairs = f.pairs, nil
	}
	t.Pairs = mergePairs(slices.Concat(lists...))
	t.sum()
	all.Traffic = t
	return all, nil
}

// A rankFlows is what one rank sends, accesses in the memory of others, and does on each
// communicator.
type rankFlows struct {
	ranks    int // of the run
	pairs    []Pair
	at       map[[2]int]int // numbers in pairs, by source and destination
	unplaced Flow
	sizes    map[int64]uint64 // how many messages have each size
	uses     map[*semantics.Communicator]*CommunicatorUse

	exchange  rankExchange
	uncounted uint64 // calls of collective operations, as in Traffic
}

func flowsOf(rank int, r *semantics.Rank, ranks int, calls iter.Seq[semantics.Occurrence]) *rankFlows {
	f := &rankFlows{
		ranks: ranks, at: make(map[[2]int]int), sizes: make(map[int64]uint64),
		uses:     make(map[*semantics.Communicator]*CommunicatorUse),
		exchange: rankExchange{rank: rank},
	}
	for o := range calls {
		f.addCall(o.Operation, o.Count)
		f.addExchange(r, o.Operation, o.Count)
		for i := range o.Operation.Messages {
			m := &o.Operation.Messages[i]
			if sends(m.Direction) {
				f.transfer(rank, m.Peer, m, o.Count)
			}
			if fetches(m.Direction) {
				f.transfer(m.Peer, rank, m, o.Count)
			}
		}
	}
	f.at = nil
	f.listPairs()
	f.pairs = mergePairs(f.pairs)
	return f
}

// transfer adds messages from a rank to another.
func (f *rankFlows) transfer(source, destination int, m *semantics.Message, count uint64) {
	size := max(m.Bytes, semantics.Unknown)
	f.sizes[size] = wire.AddSat(f.sizes[size], count)
	useOf(f.uses, m.Communicator).Flow.add(count, size)
	if min(source, destination) < 0 || max(source, destination) >= f.ranks {
		f.unplaced.add(count, size)
		return
	}
	f.pair(source, destination).Flow.add(count, size)
}

// pair returns the volume from a rank to another, to be added to.
func (f *rankFlows) pair(source, destination int) *Volume {
	key := [2]int{source, destination}
	at, ok := f.at[key]
	if !ok {
		at = len(f.pairs)
		f.at[key] = at
		f.pairs = append(f.pairs, Pair{Source: source, Destination: destination})
	}
	return &f.pairs[at].Volume
}

// A CommunicatorUse is what ranks do on a communicator: or on one that the trace does
// not tell. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
type CommunicatorUse struct {
	Communicator *semantics.Communicator `json:"communicator"` // nil if the trace does not tell
	Size         int                     `json:"members"`      // its members, those of both groups

	Ranks int    `json:"ranks"` // that make calls on it
	Calls uint64 `json:"calls"` // that send or receive messages, access memory or are collective

	Volume                     // as in Traffic
	Collectives CollectiveFlow `json:"collectives"`
}

// A CollectiveFlow is an amount of calls of collective operations.
type CollectiveFlow struct {
	Calls    uint64 `json:"calls"`
	Sent     uint64 `json:"bytes_sent"`                     // that ranks contribute, or write to files
	Received uint64 `json:"bytes_received"`                 // that they get, or read from files
	Unknown  uint64 `json:"calls_of_unknown_size,omitzero"` // of which one of these is not known and not in the sum
}

func (f *CollectiveFlow) add(calls uint64, sent, received int64) {
	f.Calls = wire.AddSat(f.Calls, calls)
	if sent < 0 || received < 0 {
		f.Unknown = wire.AddSat(f.Unknown, calls)
	}
	f.Sent = wire.AddSat(f.Sent, wire.MulSat(calls, uint64(max(sent, 0))))
	f.Received = wire.AddSat(f.Received, wire.MulSat(calls, uint64(max(received, 0))))
}

// Add adds an amount to f.
func (f *CollectiveFlow) Add(g CollectiveFlow) {
	f.Calls = wire.AddSat(f.Calls, g.Calls)
	f.Sent = wire.AddSat(f.Sent, g.Sent)
	f.Received = wire.AddSat(f.Received, g.Received)
	f.Unknown = wire.AddSat(f.Unknown, g.Unknown)
}

// usesOf returns what all ranks do on each communicator.
func usesOf(found []*rankFlows) []CommunicatorUse {
	all := make(map[*semantics.Communicator]*CommunicatorUse)
	for _, f := range found {
		for c, use := range f.uses {
			of := useOf(all, c)
			of.Ranks++
			of.Calls = wire.AddSat(of.Calls, use.Calls)
			of.Add(use.Volume)
			of.Collectives.Add(use.Collectives)
		}
	}
	list := make([]CommunicatorUse, 0, len(all))
	for c, use := range all {
		if c != nil {
			use.Size = c.Size()
		}
		list = append(list, *use)
	}
	slices.SortFunc(list, func(a, b CommunicatorUse) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), compareCommunicators(a.Communicator, b.Communicator))
	})
	return list
}

// compareCommunicators orders communicators by their names, none last.
func compareCommunicators(a, b *semantics.Communicator) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return strings.Compare(a.Name, b.Name)
}

func useOf(all map[*semantics.Communicator]*CommunicatorUse, c *semantics.Communicator) *CommunicatorUse {
	if c = c.Whole(); all[c] == nil {
		all[c] = &CommunicatorUse{Communicator: c}
	}
	return all[c]
}

// addCall adds calls of an operation to those on its communicator, but not its messages.
func (f *rankFlows) addCall(o *semantics.Operation, count uint64) {
	collective := func(o *semantics.Operation) {
		useOf(f.uses, o.Communicator).Collectives.add(count, o.Sent, o.Received)
	}
	for _, more := range o.More {
		collective(more)
	}
	switch o.Class {
	case spec.PointToPoint, spec.OneSided:
	case spec.Collective:
		collective(o)
	default:
		if o.Communicator == nil {
			return
		}
		if o.IsCollective() {
			collective(o)
		}
	}
	of := useOf(f.uses, callCommunicator(o))
	of.Calls = wire.AddSat(of.Calls, count)
}

// callCommunicator returns the communicator of a call: that of the first message if it
// has none itself.
func callCommunicator(o *semantics.Operation) *semantics.Communicator {
	if o.Communicator == nil && len(o.Messages) > 0 {
		return o.Messages[0].Communicator
	}
	return o.Communicator
}

// Sizes are the sizes of the messages of a [Traffic].
type Sizes struct {
	Flow             // of all of them
	List []SizeCount `json:"sizes"` // by size, without those of unknown size
}

// A SizeCount is how many messages have a size.
type SizeCount struct {
	Bytes    uint64 `json:"message_bytes"` // of each
	Messages uint64 `json:"messages"`
}

// All returns the bytes of all messages of that size, or 2⁶⁴−1 if they are more.
func (c SizeCount) All() uint64 { return wire.MulSat(c.Bytes, c.Messages) }

// sizesOf returns the sizes of the messages of all ranks.
func sizesOf(found []*rankFlows) *Sizes {
	all := make(map[int64]uint64)
	for _, f := range found {
		for size, n := range f.sizes {
			all[size] = wire.AddSat(all[size], n)
		}
	}
	s := new(Sizes)
	for _, size := range slices.Sorted(maps.Keys(all)) {
		s.add(all[size], size)
		if size >= 0 {
			s.List = append(s.List, SizeCount{uint64(size), all[size]})
		}
	}
	return s
}

// A SizeClass is the messages from one size to another.
type SizeClass struct {
	From, To uint64 // 0 and 0, 1 and 1, 2 and 3, 4 and 7, …
	Flow
}

// Classes returns the messages by powers of two, from the smallest to the largest that
// there are, those without messages too.
func (s *Sizes) Classes() []SizeClass {
	if len(s.List) == 0 {
		return nil
	}
	ascend := func(a, b SizeCount) int { return cmp.Compare(a.Bytes, b.Bytes) }
	need.That(slices.IsSortedFunc(s.List, ascend), "query: sizes that do not ascend")
	first, last := bits.Len64(s.List[0].Bytes), bits.Len64(s.List[len(s.List)-1].Bytes)
	classes := make([]SizeClass, last-first+1)
	for i := range classes {
		if n := first + i; n > 0 {
			classes[i].From, classes[i].To = 1<<(n-1), 1<<n-1
		}
	}
	for _, c := range s.List {
		classes[bits.Len64(c.Bytes)-first].add(c.Messages, int64(c.Bytes))
	}
	return classes
}

// Quantile returns the size that a share q, 0 ≤ q ≤ 1, of the messages of known size is
// not larger than: the median for 0.5. It is 0 if there are none. Where a size has
// 2⁶⁴−1 messages or more, it is an estimate.
func (s *Sizes) Quantile(q float64) uint64 {
	total, before := 0.0, 0.0
	for _, c := range s.List {
		total += float64(c.Messages)
	}
	for _, c := range s.List {
		if before += float64(c.Messages); before >= q*total {
			return c.Bytes
		}
	}
	return 0
}

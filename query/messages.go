package query

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/semantics"
)

// A question is what is asked of each rank, several at once, by its number in a list, and
// what becomes of the answers when all ranks have been read.
type question struct {
	rank   func(i int, r *semantics.Rank)
	finish func()
}

// ask reads each rank of a list once for all questions.
func (o *Options) ask(ctx context.Context, m *semantics.Model, ranks []int, list ...question) error {
	err := o.eachRank(ctx, m, ranks, func(i int, r *semantics.Rank) {
		for _, q := range list {
			q.rank(i, r)
		}
	})
	if err != nil {
		return err
	}
	for _, q := range list {
		q.finish()
	}
	return nil
}

// Messages are the answers of [OpenTraffic] or [OpenMatrix], of [OpenCommunicators] and of
// [OpenSizes].
type Messages struct {
	Traffic       *Traffic // nil if there is a Matrix
	Matrix        *Matrix  // nil if there is a Traffic
	Communicators []CommunicatorUse
	Sizes         *Sizes
}

// OpenMessages answers several questions about messages and reads each rank once for all
// of them, which for ranks that do not repeat themselves takes longest. Traffic is by
// pairs of ranks, or by so many bins unless these are 0.
func OpenMessages(ctx context.Context, m *semantics.Model, bins int, o Options) (*Messages, error) {
	ranks := o.ranks(m.Trace())
	all := &Messages{Sizes: new(Sizes)}
	list := []question{all.Sizes.question(ranks), communicatorsQuestion(&all.Communicators, ranks)}
	if bins == 0 {
		all.Traffic = new(Traffic)
		list = append(list, all.Traffic.question(m, ranks))
	} else {
		var err error
		if all.Matrix, err = newMatrix(m.Trace().Ranks(), bins); err != nil {
			return nil, err
		}
		list = append(list, all.Matrix.question(ranks))
	}
	if err := o.ask(ctx, m, ranks, list...); err != nil {
		return nil, err
	}
	return all, nil
}

// A CommunicatorUse is what ranks do on a communicator: or on one that the trace does
// not tell. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
type CommunicatorUse struct {
	Communicator *semantics.Communicator `json:"communicator"` // nil if the trace does not tell
	Size         int                     `json:"members"`      // its members, those of both groups

	Ranks int    `json:"ranks"` // that make calls on it
	Calls uint64 `json:"calls"` // that send or receive messages, access memory or are collective

	Flow                       // as in Traffic
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

// OpenCommunicators counts what ranks do on each communicator: those of most calls
// first.
func OpenCommunicators(ctx context.Context, m *semantics.Model, o Options) ([]CommunicatorUse, error) {
	ranks := o.ranks(m.Trace())
	var list []CommunicatorUse
	err := o.ask(ctx, m, ranks, communicatorsQuestion(&list, ranks))
	return list, err
}

// communicatorsQuestion fills in a list.
func communicatorsQuestion(list *[]CommunicatorUse, ranks []int) question {
	found := make([]map[*semantics.Communicator]*CommunicatorUse, len(ranks))
	read := func(i int, r *semantics.Rank) { found[i] = communicatorsOf(r) }
	return question{read, func() {
		all := make(map[*semantics.Communicator]*CommunicatorUse)
		for _, own := range found {
			for c, use := range own {
				of := useOf(all, c)
				of.Ranks++
				of.Calls = wire.AddSat(of.Calls, use.Calls)
				of.Add(use.Flow)
				of.Collectives.Add(use.Collectives)
			}
		}
		*list = make([]CommunicatorUse, 0, len(all))
		for c, use := range all {
			if c != nil {
				use.Size = c.Size()
			}
			*list = append(*list, *use)
		}
		slices.SortFunc(*list, func(a, b CommunicatorUse) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), compareCommunicators(a.Communicator, b.Communicator))
		})
	}}
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
	if all[c] == nil {
		all[c] = &CommunicatorUse{Communicator: c}
	}
	return all[c]
}

// communicatorsOf returns what a rank does on each communicator.
func communicatorsOf(r *semantics.Rank) map[*semantics.Communicator]*CommunicatorUse {
	all := make(map[*semantics.Communicator]*CommunicatorUse)
	for o := range r.All() {
		addUse(all, o.Operation, o.Count)
		for _, more := range o.Operation.More {
			useOf(all, more.Communicator).addCollective(more, o.Count)
		}
	}
	return all
}

// addUse adds calls of an operation to those on its communicator, and its messages to
// those on theirs.
func addUse(all map[*semantics.Communicator]*CommunicatorUse, o *semantics.Operation, count uint64) {
	switch o.Class {
	case spec.PointToPoint, spec.OneSided:
	case spec.Collective:
		useOf(all, o.Communicator).addCollective(o, count)
	default:
		if o.Communicator == nil {
			return
		}
		if o.IsCollective() {
			useOf(all, o.Communicator).addCollective(o, count)
		}
	}
	of := useOf(all, callCommunicator(o))
	of.Calls = wire.AddSat(of.Calls, count)
	for i := range o.Messages {
		m := &o.Messages[i]
		if sends(m.Direction) {
			useOf(all, m.Communicator).add(count, m.Bytes)
		}
		if fetches(m.Direction) {
			useOf(all, m.Communicator).add(count, m.Bytes)
		}
	}
}

// callCommunicator returns the communicator of a call: that of the first message if it
// has none itself.
func callCommunicator(o *semantics.Operation) *semantics.Communicator {
	if o.Communicator == nil && len(o.Messages) > 0 {
		return o.Messages[0].Communicator
	}
	return o.Communicator
}

func (u *CommunicatorUse) addCollective(o *semantics.Operation, count uint64) {
	u.Collectives.add(count, o.Sent, o.Received)
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

// OpenSizes counts the messages that ranks send by their sizes, and what they access in
// the memory of others.
func OpenSizes(ctx context.Context, m *semantics.Model, o Options) (*Sizes, error) {
	ranks := o.ranks(m.Trace())
	s := new(Sizes)
	if err := o.ask(ctx, m, ranks, s.question(ranks)); err != nil {
		return nil, err
	}
	return s, nil
}

// question fills in s.
func (s *Sizes) question(ranks []int) question {
	found := make([]map[int64]uint64, len(ranks))
	read := func(i int, r *semantics.Rank) { found[i] = sizesOf(r) }
	return question{read, func() {
		all := make(map[int64]uint64)
		for _, messages := range found {
			for size, n := range messages {
				all[size] = wire.AddSat(all[size], n)
			}
		}
		for _, size := range slices.Sorted(maps.Keys(all)) {
			s.add(all[size], size)
			if size >= 0 {
				s.List = append(s.List, SizeCount{uint64(size), all[size]})
			}
		}
	}}
}

// sizesOf counts the messages of a rank by their sizes.
func sizesOf(r *semantics.Rank) map[int64]uint64 {
	messages := make(map[int64]uint64)
	for o := range r.All() {
		for i := range o.Operation.Messages {
			m := &o.Operation.Messages[i]
			size := max(m.Bytes, semantics.Unknown)
			if sends(m.Direction) {
				messages[size] = wire.AddSat(messages[size], o.Count)
			}
			if fetches(m.Direction) {
				messages[size] = wire.AddSat(messages[size], o.Count)
			}
		}
	}
	return messages
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

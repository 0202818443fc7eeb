package query

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/semantics"
)

// A Flow is an amount of messages. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
type Flow struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`                             // of the messages whose size is known
	Unknown  uint64 `json:"messages_of_unknown_size,omitzero"` // messages whose size is not known
}

// add adds messages of a size each, which may be [semantics.Unknown].
func (f *Flow) add(messages uint64, size int64) {
	f.Messages = wire.AddSat(f.Messages, messages)
	if size < 0 {
		f.Unknown = wire.AddSat(f.Unknown, messages)
	} else {
		f.Bytes = wire.AddSat(f.Bytes, wire.MulSat(messages, uint64(size)))
	}
}

// Add adds an amount to f.
func (f *Flow) Add(g Flow) {
	f.Messages = wire.AddSat(f.Messages, g.Messages)
	f.Bytes = wire.AddSat(f.Bytes, g.Bytes)
	f.Unknown = wire.AddSat(f.Unknown, g.Unknown)
}

// A Pair is what goes from one rank to another.
type Pair struct {
	Source      int `json:"from"` // ranks in the run
	Destination int `json:"to"`
	Flow
}

// A Traffic is the messages between the ranks of a run, those of collective operations
// not counted. They are counted where they are sent: a message that nobody receives
// counts, and one that no call sends does not. What a rank puts into the memory of
// another goes from it to the other, what it gets comes from there, and if it fetches
// what was there before, bytes go both ways.
type Traffic struct {
	Flow // of all pairs, and of Lost

	Ranks int    `json:"run_ranks"` // of the run
	Pairs []Pair `json:"pairs"`     // of which there is traffic, by source and then by destination

	// Unplaced is the traffic of which the trace does not say to, or from, which rank of
	// the run it goes.
	Unplaced Flow `json:"of_unknown_ranks,omitzero"`
}

// OpenTraffic counts the messages that ranks send, and what they access in the memory
// of others. It costs what reading the ranks costs, and holds all pairs; see
// [OpenMatrix] if they are too many.
func OpenTraffic(ctx context.Context, m *semantics.Model, o Options) (*Traffic, error) {
	ranks := o.ranks(m.Trace())
	t := new(Traffic)
	if err := o.ask(ctx, m, ranks, t.question(m, ranks)); err != nil {
		return nil, err
	}
	return t, nil
}

// question fills in t.
func (t *Traffic) question(m *semantics.Model, ranks []int) question {
	t.Ranks = m.Trace().Ranks()
	found := make([]rankTraffic, len(ranks))
	read := func(i int, r *semantics.Rank) { found[i] = newRankTraffic(ranks[i], r, t.Ranks) }
	return question{read, func() {
		n := 0
		for _, f := range found {
			n += len(f.pairs)
		}
		t.Pairs = make([]Pair, 0, n)
		for i, f := range found {
			t.Unplaced.Add(f.lost)
			t.Pairs = append(t.Pairs, f.pairs...)
			found[i] = rankTraffic{}
		}
		t.Pairs = mergePairs(t.Pairs)
		t.Flow = t.Unplaced
		for _, p := range t.Pairs {
			t.Add(p.Flow)
		}
	}}
}

// eachRank calls do for each rank of a list, by its number in that list, several at
// once, and tells which cannot be read.
func (o *Options) eachRank(ctx context.Context, m *semantics.Model, ranks []int, do func(i int, r *semantics.Rank)) error {
	var lost failures
	done := progress{tell: o.Progress}
	err := o.each(ctx, len(ranks), func(i int) error {
		r, err := m.Rank(ranks[i])
		if err != nil {
			lost.add(ranks[i], err)
		} else {
			do(i, r)
		}
		done.add(1)
		return nil
	})
	if err != nil {
		return err
	}
	return o.tell(&lost)
}

// A rankTraffic is what one rank sends, and what it accesses in the memory of others.
type rankTraffic struct {
	pairs []Pair
	lost  Flow
}

func newRankTraffic(rank int, r *semantics.Rank, size int) rankTraffic {
	var t rankTraffic
	index := make(map[[2]int]int)
	for p := range transfers(rank, r) {
		if p.Source < 0 || p.Source >= size || p.Destination < 0 || p.Destination >= size {
			t.lost.Add(p.Flow)
			continue
		}
		key := [2]int{p.Source, p.Destination}
		at, ok := index[key]
		if !ok {
			at = len(t.pairs)
			index[key] = at
			t.pairs = append(t.pairs, Pair{Source: p.Source, Destination: p.Destination})
		}
		t.pairs[at].Add(p.Flow)
	}
	slices.SortFunc(t.pairs, comparePairs)
	return t
}

func comparePairs(a, b Pair) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
}

// mergePairs sorts pairs and adds up those of the same ranks.
func mergePairs(list []Pair) []Pair {
	if !slices.IsSortedFunc(list, comparePairs) {
		slices.SortFunc(list, comparePairs)
	}
	merged := list[:0]
	for _, p := range list {
		if n := len(merged); n > 0 && comparePairs(merged[n-1], p) == 0 {
			merged[n-1].Add(p.Flow)
		} else {
			merged = append(merged, p)
		}
	}
	return slices.Clip(merged)
}

// transfers returns an iterator over what goes from where to where by the messages that
// a rank sends, and by its accesses to the memory of others, several for a pair. A rank
// that is not known is negative.
func transfers(rank int, r *semantics.Rank) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for o := range r.All() {
			for i := range o.Operation.Messages {
				m := &o.Operation.Messages[i]
				var f Flow
				f.add(o.Count, m.Bytes)
				if sends(m.Direction) && !yield(Pair{rank, m.Peer, f}) || fetches(m.Direction) && !yield(Pair{m.Peer, rank, f}) {
					return
				}
			}
		}
	}
}

// sends reports whether bytes go to the peer.
func sends(d semantics.Direction) bool {
	return d == semantics.Send || d == semantics.Put || d == semantics.Accumulate || d == semantics.Fetch
}

// fetches reports whether bytes come from the memory of the peer.
func fetches(d semantics.Direction) bool { return d == semantics.Get || d == semantics.Fetch }

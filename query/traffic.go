package query

import (
	"cmp"
	"context"
	"fmt"
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

// newTraffic returns the traffic of pairs, and of what goes to or from unknown ranks.
func newTraffic(ranks int, pairs []Pair, unplaced Flow) *Traffic {
	t := &Traffic{Ranks: ranks, Pairs: mergePairs(pairs), Unplaced: unplaced, Flow: unplaced}
	for _, p := range t.Pairs {
		t.Add(p.Flow)
	}
	return t
}

// eachRank calls do for each rank of a list, by its number in that list, several at
// once.
func (o *Options) eachRank(ctx context.Context, m *semantics.Model, ranks []int, do func(i int, r *semantics.Rank)) error {
	done := progress{tell: o.Progress}
	return o.each(ctx, len(ranks), func(i int) error {
		r, err := m.Rank(ranks[i])
		if err != nil {
			return err
		}
		do(i, r)
		done.add(1)
		return nil
	})
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

// sends reports whether bytes go to the peer.
func sends(d semantics.Direction) bool {
	return d == semantics.Send || d == semantics.Put || d == semantics.Accumulate || d == semantics.Fetch
}

// fetches reports whether bytes come from the memory of the peer.
func fetches(d semantics.Direction) bool { return d == semantics.Get || d == semantics.Fetch }

// A Matrix is a [Traffic] by ranges of ranks, its bins, which are as long as each other
// but for one rank.
type Matrix struct {
	Ranks    int // of the run
	Bins     int // at most Ranks
	Flow         // as in Traffic, likewise Unplaced
	Unplaced Flow

	cells []Flow // source by source
}

// maxBins is the largest number of bins of a [Matrix].
const maxBins = 4096

func newMatrix(ranks, bins int) (*Matrix, error) {
	if bins < 1 || bins > maxBins {
		return nil, fmt.Errorf("query: a matrix has 1 to %d bins, not %d", maxBins, bins)
	}
	bins = min(bins, ranks)
	return &Matrix{Ranks: ranks, Bins: bins, cells: make([]Flow, bins*bins)}, nil
}

// addAll adds what a rank sends and accesses, and keeps none of it by pairs.
func (m *Matrix) addAll(f *rankFlows) {
	m.Add(f.unplaced)
	m.Unplaced.Add(f.unplaced)
	for _, p := range f.pairs {
		m.Add(p.Flow)
		m.cells[m.bin(p.Source)*m.Bins+m.bin(p.Destination)].Add(p.Flow)
	}
	f.pairs = nil
}

// bin returns the number of the bin of a rank of the run.
func (m *Matrix) bin(rank int) int {
	// The first rank of bin b is ⌈b·Ranks/Bins⌉.
	return int(uint64(rank) * uint64(m.Bins) / uint64(m.Ranks))
}

// Range returns the first and the last rank of a bin.
func (m *Matrix) Range(bin int) (first, last int) {
	begin := func(b int) int { return int((uint64(b)*uint64(m.Ranks) + uint64(m.Bins) - 1) / uint64(m.Bins)) }
	return begin(bin), begin(bin+1) - 1
}

// At returns what goes from the ranks of one bin to those of another.
func (m *Matrix) At(source, destination int) Flow { return m.cells[source*m.Bins+destination] }

package query

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

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

// A Matrix is a [Traffic] by ranges of ranks, its bins, which are as long as each other
// but for one rank.
type Matrix struct {
	Ranks    int // of the run
	Bins     int // at most Ranks
	Flow         // as in Traffic, likewise Unplaced
	Unplaced Flow

	cells []Flow // source by source
}

// MaxBins is the largest number of bins of a [Matrix].
const MaxBins = 4096

func newMatrix(ranks, bins int) (*Matrix, error) {
	if bins < 1 || bins > MaxBins {
		return nil, fmt.Errorf("query: a matrix has 1 to %d bins, not %d", MaxBins, bins)
	}
	bins = min(bins, ranks)
	return &Matrix{Ranks: ranks, Bins: bins, cells: make([]Flow, bins*bins)}, nil
}

// OpenMatrix is [OpenTraffic] for so many bins, or for each rank if these are fewer. It
// holds a matrix for each worker, not the pairs of ranks.
func OpenMatrix(ctx context.Context, model *semantics.Model, bins int, o Options) (*Matrix, error) {
	m, err := newMatrix(model.Trace().Ranks(), bins)
	if err != nil {
		return nil, err
	}
	ranks := o.ranks(model.Trace())
	if err := o.ask(ctx, model, ranks, m.question(ranks)); err != nil {
		return nil, err
	}
	return m, nil
}

// question fills in m.
func (m *Matrix) question(ranks []int) question {
	var (
		mu   sync.Mutex
		idle []*Matrix
	)
	take := func() *Matrix {
		mu.Lock()
		defer mu.Unlock()
		if n := len(idle); n > 0 {
			of := idle[n-1]
			idle = idle[:n-1]
			return of
		}
		return &Matrix{Ranks: m.Ranks, Bins: m.Bins, cells: make([]Flow, len(m.cells))}
	}
	read := func(i int, r *semantics.Rank) {
		of := take()
		for p := range transfers(ranks[i], r) {
			of.add(p)
		}
		mu.Lock()
		defer mu.Unlock()
		idle = append(idle, of)
	}
	return question{read, func() {
		for _, of := range idle {
			m.Add(of.Flow)
			m.Unplaced.Add(of.Unplaced)
			for i, f := range of.cells {
				m.cells[i].Add(f)
			}
		}
	}}
}

// Matrix returns t by so many bins, or by ranks if these are fewer.
func (t *Traffic) Matrix(bins int) (*Matrix, error) {
	m, err := newMatrix(t.Ranks, bins)
	if err != nil {
		return nil, err
	}
	for _, p := range t.Pairs {
		m.add(p)
	}
	m.Flow, m.Unplaced = t.Flow, t.Unplaced
	return m, nil
}

func (m *Matrix) add(p Pair) {
	m.Add(p.Flow)
	if p.Source < 0 || p.Source >= m.Ranks || p.Destination < 0 || p.Destination >= m.Ranks {
		m.Unplaced.Add(p.Flow)
		return
	}
	m.cells[m.Bin(p.Source)*m.Bins+m.Bin(p.Destination)].Add(p.Flow)
}

// Bin returns the number of the bin of a rank of the run.
func (m *Matrix) Bin(rank int) int {
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

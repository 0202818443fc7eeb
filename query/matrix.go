package query

import (
	"context"
	"fmt"
	"sync"

	"github.com/reprise-trace/reprise/semantics"
)

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

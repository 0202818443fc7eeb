package query

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Matrix is a [Traffic] by ranges of ranks, its bins, which are as long as each other
// but for one rank.
type Matrix struct {
	Ranks     int // of the run
	Bins      int // at most Ranks
	Volume        // as in Traffic, and so are Unplaced and Uncounted
	Unplaced  Flow
	Uncounted uint64

	flows     []Flow   // source by source
	exchanged []Blocks // the same; nil if there are none
}

// maxBins is the largest number of bins of a [Matrix].
const maxBins = 4096

func newMatrix(ranks, bins int) (*Matrix, error) {
	if bins < 1 || bins > maxBins {
		return nil, fmt.Errorf("query: a matrix has 1 to %d bins, not %d", maxBins, bins)
	}
	bins = min(bins, ranks)
	return &Matrix{Ranks: ranks, Bins: bins, flows: make([]Flow, bins*bins)}, nil
}

// Matrix returns the traffic by so many bins, or by ranks if these are fewer.
func (t *Traffic) Matrix(bins int) (*Matrix, error) {
	need.That(t.Ranks >= 0, "query: traffic of fewer than 0 ranks")
	m, err := newMatrix(t.Ranks, bins)
	if err != nil {
		return nil, err
	}
	m.addUnknown(t.Unplaced, t.Uncounted)
	m.addPairs(t.Pairs)
	m.addUniform(t.Uniform)
	return m, nil
}

// addAll adds what a rank sends and accesses and what is in no uniform pairs, and keeps none of
// it by pairs.
func (m *Matrix) addAll(f *rankFlows) {
	m.addUnknown(f.unplaced, f.uncounted)
	m.addPairs(f.pairs)
	f.pairs = nil
}

func (m *Matrix) addUnknown(unplaced Flow, uncounted uint64) {
	m.Flow.plus(unplaced)
	m.Unplaced.plus(unplaced)
	m.Uncounted = wire.AddSat(m.Uncounted, uncounted)
}

func (m *Matrix) addPairs(list []Pair) {
	for i := range list {
		p := &list[i]
		need.Index(p.Source, m.Ranks, "query: rank")
		need.Index(p.Destination, m.Ranks, "query: rank")
		m.Add(p.Volume)
		source, destination := m.bin(p.Source), m.bin(p.Destination)
		m.flows[source*m.Bins+destination].plus(p.Flow)
		if p.Exchanged.Blocks > 0 {
			m.row(source)[destination].plus(p.Exchanged)
		}
	}
}

// row returns what the ranks of a bin exchange in collective operations, to be added to.
func (m *Matrix) row(source int) []Blocks {
	if m.exchanged == nil {
		m.exchanged = make([]Blocks, m.Bins*m.Bins)
	}
	return m.exchanged[source*m.Bins:][:m.Bins]
}

// addUniform adds uniform pairs: it costs as much as there are cells in which they are.
func (m *Matrix) addUniform(list []UniformPairs) {
	for i := range list {
		u := &list[i]
		m.Exchanged.plus(u.All())
		if u.Higher && u.members != nil {
			m.addHigher(u)
			continue
		}
		from, to := m.count(u.From), m.count(u.To)
		within := m.within(u)
		for source, n := range from {
			if n == 0 {
				continue
			}
			row := m.row(source)
			for destination, k := range to {
				pairs := n * k
				switch {
				case source == destination:
					pairs = within[source]
				case u.Higher && source > destination:
					pairs = 0
				}
				if pairs > 0 {
					row[destination].plus(u.times(pairs))
				}
			}
		}
	}
}

// addHigher adds pairs from ranks to those with higher ranks in a communicator.
func (m *Matrix) addHigher(u *UniformPairs) {
	higher := make([]uint64, m.Bins) // members, by their bins
	for _, rank := range slices.Backward(u.members) {
		bin := m.bin(rank)
		if u.From.Contains(rank) {
			row := m.row(bin)
			for destination, n := range higher {
				if n > 0 {
					row[destination].plus(u.times(n))
				}
			}
		}
		higher[bin]++
	}
}

// within returns how many of the pairs have both ranks in a bin, by bin.
func (m *Matrix) within(u *UniformPairs) []uint64 {
	n := make([]uint64, m.Bins)
	if !u.Higher {
		self, to := m.count(u.From.Intersection(u.To)), m.count(u.To)
		for bin, from := range m.count(u.From) {
			n[bin] = from*to[bin] - self[bin]
		}
		return n
	}
	m.eachBin(u.From, func(bin, first, last int) {
		_, end := m.Range(bin)
		n[bin] += u.higherWithin(first, last, end)
	})
	return n
}

// count returns how many ranks of a set are in each bin.
func (m *Matrix) count(set rankenc.Set) []uint64 {
	n := make([]uint64, m.Bins)
	m.eachBin(set, func(bin, first, last int) { n[bin] += uint64(last - first + 1) })
	return n
}

// eachBin calls f with each run of consecutive ranks of a set that are in one bin.
func (m *Matrix) eachBin(set rankenc.Set, f func(bin, first, last int)) {
	for first, last := range set.Ranges() {
		for bin := m.bin(first); first <= last; bin++ {
			_, end := m.Range(bin)
			end = min(end, last)
			f(bin, first, end)
			first = end + 1
		}
	}
}

// bin returns the number of the bin of a rank of the run.
func (m *Matrix) bin(rank int) int {
	// The first rank of bin b is ⌈b·Ranks/Bins⌉.
	return int(uint64(rank) * uint64(m.Bins) / uint64(m.Ranks))
}

// Range returns the first and the last rank of a bin.
func (m *Matrix) Range(bin int) (first, last int) {
	need.Index(bin, m.Bins, "query: bin")
	begin := func(b int) int { return int((uint64(b)*uint64(m.Ranks) + uint64(m.Bins) - 1) / uint64(m.Bins)) }
	return begin(bin), begin(bin+1) - 1
}

// At returns what goes from the ranks of one bin to those of another.
func (m *Matrix) At(source, destination int) Volume {
	need.Index(source, m.Bins, "query: bin")
	need.Index(destination, m.Bins, "query: bin")
	at := source*m.Bins + destination
	v := Volume{Flow: m.flows[at]}
	if m.exchanged != nil {
		v.Exchanged = m.exchanged[at]
	}
	return v
}

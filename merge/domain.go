package merge

import (
	"sort"

	"github.com/reprise-trace/reprise/rankenc"
)

// A domain is the ranks of some shapes: all ranks of the run in ascending order
// if that is what they are, and otherwise shape by shape.
type domain struct {
	sets   []rankenc.Set // of the shapes
	begins []int         // of the ranks of each in the domain, and the end
	size   int           // of the run, in ranks
}

func newDomain(sets []rankenc.Set, size int) *domain {
	d := &domain{sets, make([]int, len(sets)+1), size}
	for i, s := range sets {
		d.begins[i+1] = d.begins[i] + s.Len()
	}
	return d
}

// columns returns d as package rankenc has domains of columns.
func (d *domain) columns() rankenc.Domain {
	if d.isWorld() {
		return rankenc.Over(rankenc.World(d.size), d.size)
	}
	if len(d.sets) == 1 {
		return rankenc.Over(d.sets[0], d.size)
	}
	return rankenc.Domain{Ranks: d, Size: d.size}
}

// slice returns the positions of d from begin to end, which it excludes, as a domain
// of columns.
func (d *domain) slice(begin, end int) rankenc.Domain {
	switch {
	case begin == 0 && end == d.Len():
		return d.columns()
	case !d.isWorld():
		return rankenc.Domain{Ranks: subdomain{d, begin, end}, Size: d.size}
	}
	return rankenc.Over(rankenc.World(end).Difference(rankenc.World(begin)), d.size)
}

// A subdomain is consecutive positions of a domain.
type subdomain struct {
	*domain
	begin, end int
}

func (s subdomain) Len() int     { return s.end - s.begin }
func (s subdomain) At(i int) int { return s.domain.At(s.begin + i) }

// isWorld reports whether d has all ranks of the run. Sets have no rank in
// common, or the file contradicts itself.
func (d *domain) isWorld() bool { return d.Len() == d.size }

// Len returns the number of ranks.
func (d *domain) Len() int { return d.begins[len(d.sets)] }

// At returns the rank at position i.
func (d *domain) At(i int) int {
	k := sort.SearchInts(d.begins, i+1) - 1
	return d.sets[k].At(i - d.begins[k])
}

// position returns where the rank at a position of the k-th shape is.
func (d *domain) position(k, position, rank int) int {
	if d.isWorld() {
		return rank
	}
	return d.begins[k] + position
}

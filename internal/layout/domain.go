package layout

import (
	"sort"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Domain is the ranks of some shapes: all ranks of the run in ascending order
// if that is what they are, and otherwise shape by shape.
type Domain struct {
	sets   []rankenc.Set // of the shapes
	begins []int         // of the ranks of each in the domain, and the end
	size   int           // of the run, in ranks
}

func NewDomain(sets []rankenc.Set, size int) *Domain {
	d := &Domain{sets, make([]int, len(sets)+1), size}
	for i, s := range sets {
		d.begins[i+1] = d.begins[i] + s.Len()
	}
	return d
}

// Columns returns d as package rankenc has domains of columns.
func (d *Domain) Columns() columns.Domain {
	if d.IsWorld() {
		return columns.Over(rankenc.World(d.size), d.size)
	}
	if len(d.sets) == 1 {
		return columns.Over(d.sets[0], d.size)
	}
	return columns.Domain{Ranks: d, Size: d.size}
}

// Slice returns the positions of d from begin to end, which it excludes, as a domain
// of columns.
func (d *Domain) Slice(begin, end int) columns.Domain {
	switch {
	case begin == 0 && end == d.Len():
		return d.Columns()
	case !d.IsWorld():
		return columns.Domain{Ranks: subdomain{d, begin, end}, Size: d.size}
	}
	return columns.Over(rankenc.World(end).Difference(rankenc.World(begin)), d.size)
}

// A subdomain is consecutive positions of a domain.
type subdomain struct {
	*Domain
	begin, end int
}

func (s subdomain) Len() int { return s.end - s.begin }

func (s subdomain) At(i int) int { return s.Domain.At(s.begin + i) }

// IsWorld reports whether d has all ranks of the run. Sets have no rank in
// common, or the file contradicts itself.
func (d *Domain) IsWorld() bool { return d.Len() == d.size }

// Len returns the number of ranks.
func (d *Domain) Len() int { return d.begins[len(d.sets)] }

// At returns the rank at position i.
func (d *Domain) At(i int) int {
	k := sort.SearchInts(d.begins, i+1) - 1
	return d.sets[k].At(i - d.begins[k])
}

// Position returns where the rank at a position of the k-th shape is.
func (d *Domain) Position(k, position, rank int) int {
	if d.IsWorld() {
		return rank
	}
	return d.begins[k] + position
}

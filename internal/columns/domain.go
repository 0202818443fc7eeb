package columns

import "github.com/reprise-trace/reprise/rankenc"

// Ranks lists the processes that have the values of a column: at each position,
// the rank of one. A [rankenc.Set] is one.
type Ranks interface {
	Len() int
	At(i int) int
}

// A Domain says where a column has values: one at each position of Ranks, in a
// group of Size processes. The zero Domain is empty.
type Domain struct {
	Ranks Ranks
	Size  int
}

// Over returns the domain of the ranks of s in a group of size processes.
func Over(s rankenc.Set, size int) Domain { return Domain{s, size} }

// len returns the number of positions.
func (d Domain) len() int {
	if d.Ranks == nil {
		return 0
	}
	return d.Ranks.Len()
}

// List returns the ranks, which takes memory for each.
func (d Domain) List() []int64 {
	ranks := make([]int64, d.len())
	if s, ok := d.Ranks.(rankenc.Set); ok {
		i := 0
		for low, high := range s.Ranges() {
			for r := low; r <= high; r++ {
				ranks[i] = int64(r)
				i++
			}
		}
		return ranks
	}
	for i := range ranks {
		ranks[i] = int64(d.Ranks.At(i))
	}
	return ranks
}

// Options says what the values of a column or matrix are. The zero Options is for numbers.
type Options struct {
	// Ranks says that the values are ranks, see [rankenc.Options].
	Ranks bool

	// Plain says that a column is not to be an expression, nor pieces or relative,
	// see [Column.Plain]. To find out whether it can be one takes most of the time
	// of making a column.
	Plain bool
}

// fit returns the expression that yields values for ranks in a group of size processes.
func (o Options) fit(ranks, values []int64, size int64) (rankenc.Expr, bool) {
	return rankenc.Fit(ranks, values, size, rankenc.Options{Ranks: o.Ranks})
}

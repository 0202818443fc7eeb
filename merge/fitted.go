package merge

import (
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// A fitter finds the expressions of the columns of one shape. To find one takes time in proportion to the ranks for
// each family, so equal columns, which what is sent and what is received often are, are fitted once.
type fitter struct {
	domain rankenc.Domain
	ranks  spans
	values []int64 // of the column fitted last
	known  map[uint64][]fitted
}

type fitted struct {
	column column
	ranks  bool
	expr   rankenc.Expr
	ok     bool
}

func newFitter(s *shape, size int64) *fitter {
	return &fitter{domain: rankenc.Over(s.ranks.set(), int(size)), ranks: s.ranks, known: make(map[uint64][]fitted)}
}

// fit returns what [rankenc.Fit] does for a column of the shape.
func (f *fitter) fit(c column, kind layout.SlotKind) (rankenc.Expr, bool) {
	hash, ranks := c.hash(), kind == layout.Rank
	for _, x := range f.known[hash] {
		if x.ranks == ranks && slices.Equal(x.column, c) {
			return x.expr, x.ok
		}
	}
	f.values = c.appendValues(f.values[:0], f.ranks)
	expr, ok := rankenc.Fit(f.domain, f.values, rankenc.Options{Ranks: ranks})
	f.known[hash] = append(f.known[hash], fitted{c, ranks, expr, ok})
	return expr, ok
}

// hash returns a number that equal columns have in common.
func (c column) hash() uint64 {
	h := uint64(len(c))
	for _, r := range c {
		for _, v := range [...]uint64{uint64(r.position), uint64(r.first), uint64(r.step)} {
			hi, lo := bits.Mul64(h^v^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
			h = hi ^ lo
		}
	}
	return h
}

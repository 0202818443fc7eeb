package merge

import (
	"hash/maphash"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// A fitter finds the expressions of the columns of one shape. To find one takes time in proportion to the
// ranks for each family, so equal columns, which what is sent and what is received often are, are fitted
// once.
type fitter struct {
	ranks  spans
	list   []int64 // the ranks
	size   int64   // of the run
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
	list := columns.Over(s.ranks.set(), int(size)).List()
	return &fitter{ranks: s.ranks, list: list, size: size, known: make(map[uint64][]fitted)}
}

// fit returns what [rankenc.Fit] does for a column of the shape, if that is known or worth trying.
func (f *fitter) fit(c *column, kind layout.SlotKind, y *yield) (rankenc.Expr, bool) {
	hash, ranks := c.hash(), kind == layout.Rank
	for _, x := range f.known[hash] {
		if x.ranks == ranks && c.equal(&x.column) {
			return x.expr, x.ok
		}
	}
	if !y.tries() {
		return rankenc.Expr{}, false
	}
	f.values = c.appendValues(f.values[:0], f.ranks)
	expr, ok := rankenc.Fit(f.list, f.values, f.size, rankenc.Options{Ranks: ranks})
	enc, _ := expr.AppendBinary(nil)
	y.tell(ok && pays(len(enc), f.values))
	f.known[hash] = append(f.known[hash], fitted{*c, ranks, expr, ok})
	return expr, ok
}

// hash returns a number that equal columns have in common.
func (c *column) hash() uint64 {
	h := mix(mix(uint64(c.last.position), uint64(c.last.first)), uint64(c.last.step))
	if c.single() {
		return h
	}
	return mix(h, maphash.Bytes(columnSeed, c.complete))
}

// columnSeed is another in each process, as seeds are.
var columnSeed = maphash.MakeSeed()

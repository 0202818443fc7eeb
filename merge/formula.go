package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// yields reports whether the values of a column, which is one of those of a
// signature, are those of e.
func yields(e layout.Formula, c column, columns []column, ranks spans, size int64) bool {
	if !e.Grouped {
		return c.satisfies(e.Expr, ranks, size)
	}
	g, same := groupOf(columns), true
	v := values{column: c}
	ranks.each(func(position, rank int) {
		same = same && e.Eval(g.at(position, rank)) == v.at(position, rank)
	})
	return same
}

// A groupReader reads the ranks that processes have in a group, and its size, at
// ascending positions.
type groupReader struct{ ranks, sizes values }

// groupOf returns a reader of the group of a signature that has one.
func groupOf(columns []column) groupReader {
	n := len(columns)
	return groupReader{values{column: columns[n-2]}, values{column: columns[n-1]}}
}

func (g *groupReader) at(position, rank int) (of, size int64) {
	return g.ranks.at(position, rank), g.sizes.at(position, rank)
}

// fitGroup returns which expression of the rank in the group that a signature with
// these columns names yields the values in slot k, if one does, and other expressions
// do not make it needless. Expr is the expression if it must be stored.
func fitGroup(s *shape, columns []column, k int, kind layout.SlotKind, others bool) (fit fits, expr rankenc.Expr) {
	single := s.ranks.len() == 1
	if kind != layout.Rank && kind != layout.Number || others && !single {
		return 0, expr // what holds for several ranks in the run is preferred
	}
	if single {
		if size := columns[len(columns)-1][0].first; size < 0 || kind != layout.Rank || columns[k][0].first < 0 {
			return 0, expr // or nothing is known
		}
		return fitsGroupShift, expr
	}
	var ranks, sizes []int64
	g := groupOf(columns)
	s.ranks.each(func(position, rank int) {
		r, n := g.at(position, rank)
		ranks, sizes = append(ranks, r), append(sizes, n)
	})
	if slices.Max(sizes) < 0 {
		return 0, expr
	}
	values := columns[k].appendValues(nil, s.ranks)
	expr, ok := rankenc.FitGroups(ranks, sizes, values, rankenc.Options{Ranks: kind == layout.Rank})
	if !ok {
		return 0, expr
	}
	return fitsGroupOther, expr
}

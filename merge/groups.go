package merge

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// yields reports whether the values of a column, which is one of those of a
// signature, are those of e.
func yields(e layout.Formula, c *column, columns []column, ranks spans, size int64) bool {
	if !e.Grouped {
		return c.satisfies(e.Expr, ranks, size)
	}
	g, same := groupOf(columns), true
	v := c.values()
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
	return groupReader{columns[n-2].values(), columns[n-1].values()}
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
		if size := columns[len(columns)-1].last.first; size < 0 || kind != layout.Rank || columns[k].last.first < 0 {
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

// isGrouped reports whether s knows groups.
func (s *shape) isGrouped() bool {
	return slices.ContainsFunc(s.forms, func(f form) bool { return f.grouped })
}

// knowsGroups reports whether a terminal of shapes has a group that is known and is not the run, or may be
// another: expressions of ranks in groups say nothing else than those of ranks in the run.
func knowsGroups(shapes []*shape, size int) bool {
	var r columnReader
	for _, s := range shapes {
		end := 0
		for i := range s.forms {
			end += s.forms[i].slots
			if s.forms[i].grouped && !s.isRun(r.columns(s, end-groupSlots, end), size) {
				return true
			}
		}
	}
	return false
}

// isRun reports whether a group of s is the run, or unknown, given the ranks in it and its size.
func (s *shape) isRun(group []column, size int) bool {
	switch n, same := group[1].constant(); {
	case !same:
		return false
	case n < 0:
		return true
	default:
		first := int(s.ranks[0].first)
		line := group[0].single() && group[0].last.first == int64(first) &&
			(group[0].last.step == 1 || s.ranks.len() == 1)
		return line && n == int64(size)
	}
}

// withoutGroups returns shapes as they are if nobody knows groups.
func (a *Accumulator) withoutGroups(shapes []*shape) []*shape {
	byKey := make(map[digest]*shape)
	merged := make(map[digest]bool)
	for _, s := range shapes {
		s = s.withoutGroups()
		key, _ := s.grammar.AppendBinary(nil)
		for _, f := range s.forms {
			key = f.appendKey(key, a.digests)
		}
		sum := digest(sha256.Sum256(key))
		if same := byKey[sum]; same != nil {
			if !merged[sum] {
				same.cloneShared()
				merged[sum] = true
			}
			s.cloneShared()
			s = same.merge(s)
		}
		byKey[sum] = s
	}
	ungrouped := slices.Collect(maps.Values(byKey))
	sortShapes(ungrouped)
	return ungrouped
}

// cloneShared makes columns and times of s that share no memory with those of other shapes.
func (s *shape) cloneShared() {
	s.rows, s.columns, s.times = slices.Clone(s.rows), slices.Clone(s.columns), s.times.Clone()
	for i, c := range s.columns {
		s.columns[i] = c.clone()
	}
}

// withoutGroups returns s without what it knows of groups. Its columns and times share
// memory with those of s.
func (s *shape) withoutGroups() *shape {
	u := &shape{grammar: s.grammar, ranks: slices.Clone(s.ranks), times: s.times}
	if !s.isGrouped() {
		u.forms, u.columns, u.values, u.rows = s.forms, s.columns, s.values, s.rows
		return u
	}
	begins := s.begins()
	u.forms, u.columns, u.values = make([]form, 0, len(s.forms)), make([]column, 0, len(s.columns)),
		make([]int64, 0, len(s.values))
	slots := make([]slotRange, 0, len(s.forms))
	for t, f := range s.forms {
		if f.grouped {
			f.grouped = false
			f.slots -= groupSlots
		}
		u.forms = append(u.forms, f)
		slots = append(slots, slotRange{begins[t], begins[t] + f.slots})
		if end := begins[t] + f.slots; len(s.values) > 0 {
			u.values = append(u.values, s.values[begins[t]:end]...)
		} else if len(s.columns) > 0 {
			u.columns = append(u.columns, s.columns[begins[t]:end]...)
		}
	}
	u.rows = chooseRows(s.rows, slots, nil)
	return u
}

// A storedGroup is what processes are in a group, as signatures have it whose
// arguments are expressions of the rank in that group: a column with the ranks,
// and one with the sizes. It is stored if that takes fewer bytes than the columns
// do that the arguments would be without it.
type storedGroup struct {
	domain       int
	ranks, sizes []byte
	columns      map[string]bool // that it replaces
	saved        int             // the bytes of these, less those of the expressions
	number       int64           // of the column of ranks, if it is written; the sizes follow
	written      bool
}

// columnBytes is about what a column takes besides its own bytes.
const columnBytes = 2

func (g *storedGroup) smaller() bool {
	return g.saved >= len(g.ranks)+len(g.sizes)+2*columnBytes
}

// groupSignatures finds the groups of the signatures that could use them.
func (w *signatureWriter) groupSignatures(ctx context.Context, signatures []*signature) {
	stored := make(map[string]*storedGroup)
	w.groups = make(map[*signature]*storedGroup)
	for _, s := range signatures {
		if ctx.Err() != nil {
			return
		}
		if !s.grouped {
			continue
		}
		var kinds []layout.SlotKind
		for k := range s.fits {
			if !s.fits[k].isGrouped() {
				continue
			}
			e, _ := w.columns.preferred(s, k)
			if kinds == nil {
				kinds = s.layout(w.functions)
			}
			g := w.groups[s]
			if g == nil {
				g = w.group(s, stored)
				w.groups[s] = g
			}
			_, enc := w.encodeColumn(s, k, columns.Options{Ranks: kinds[k] == layout.Rank})
			g.replaces(enc, e)
		}
	}
}

// group returns the group of a signature, which is one of those stored or a new
// one.
func (w *signatureWriter) group(s *signature, stored map[string]*storedGroup) *storedGroup {
	n := len(s.fits)
	domain, ranks := w.encodeColumn(s, n-2, columns.Options{})
	_, sizes := w.encodeColumn(s, n-1, columns.Options{})
	key := columnKey(domain, ranks) + columnKey(domain, sizes)
	g := stored[key]
	if g == nil {
		g = &storedGroup{domain: domain, ranks: ranks, sizes: sizes, columns: make(map[string]bool)}
		stored[key] = g
	}
	return g
}

// replaces takes note that an expression stands for a column.
func (g *storedGroup) replaces(enc []byte, e layout.Formula) {
	expr, _ := e.AppendBinary(nil)
	if g.saved -= len(expr); !g.columns[string(enc)] {
		g.columns[string(enc)] = true
		g.saved += len(enc) + columnBytes
	}
}

// groupColumn returns the number of the column with the ranks in the group of a
// signature.
func (w *signatureWriter) groupColumn(s *signature) int64 {
	g := w.groups[s]
	if !g.written {
		g.number, g.written = int64(len(w.stored)), true
		w.stored = append(w.stored, storedColumn{domain: g.domain, data: g.ranks},
			storedColumn{domain: g.domain, data: g.sizes})
	}
	return g.number
}

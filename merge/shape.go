package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A shape is ranks of the same control flow: with equal grammars over terminals
// that are numbered in the order of their first use, and terminal by terminal
// with signatures of the same form.
type shape struct {
	grammar *sequitur.Grammar
	forms   []form
	ranks   spans
	columns []column // those of the slots of all terminals, in order
	times   summaries
	late    []*shape // further ranks of the same shape, in no order; see Accumulator.settle
}

// begins returns where the columns of each terminal begin, and where those of
// the last one end.
func (s *shape) begins() []int {
	begins := make([]int, len(s.forms)+1)
	for t, f := range s.forms {
		begins[t+1] = begins[t] + f.slots
	}
	return begins
}

// concat adds the ranks of t, which lie above those of s.
func (s *shape) concat(t *shape) {
	n := s.ranks.len()
	for i := range s.columns {
		s.columns[i].concat(n, t.columns[i], t.ranks)
	}
	s.ranks, _ = s.ranks.union(t.ranks)
	s.times.merge(&t.times)
}

// merge returns a shape with the ranks of s and t, of which none is in both. It
// may change s and t, and what it returns may share memory with them.
func (s *shape) merge(t *shape) *shape {
	if s.ranks[0].first > t.ranks[0].first {
		s, t = t, s
	}
	if s.ranks.last() < int(t.ranks[0].first) {
		s.concat(t)
		return s
	}
	pieces, _ := interleave(s.ranks, t.ranks)
	merged := &shape{grammar: s.grammar, forms: s.forms, columns: make([]column, len(s.columns))}
	for _, p := range pieces {
		merged.ranks = merged.ranks.add(p.first, p.last)
	}
	for i := range merged.columns {
		merged.columns[i] = mergeColumns(s.columns[i], t.columns[i], pieces)
	}
	merged.times = s.times
	merged.times.merge(&t.times)
	return merged
}

// mergeColumns returns the column of the values of c and d in the order of
// pieces.
func mergeColumns(c, d column, pieces []piece) column {
	if line, ok := sameLine(c, d); ok {
		return line
	}
	var merged column
	n, first, second := 0, values{column: c}, values{column: d}
	for _, p := range pieces {
		v := &first
		if p.second {
			v = &second
		}
		for rank := p.first; rank <= p.last; rank++ {
			merged.push(n, rank, v.at(p.position+rank-p.first, rank))
			n++
		}
	}
	return slices.Clip(merged)
}

// sameLine returns the column of the values of c and d if these are one run each
// that continue each other, whatever their ranks.
func sameLine(c, d column) (column, bool) {
	if len(c) > 1 || len(d) > 1 {
		return nil, false
	}
	if c[0].rank > d[0].rank {
		c, d = d, c
	}
	if c[0].step != d[0].step || !c[0].holds(int(d[0].rank), d[0].first) {
		return nil, false
	}
	return c, true
}

// view returns the shape with another grammar, over terminals of which to says
// which of s each one is. Of several that are the same of s, the first has the
// times of all.
func (s *shape) view(g *sequitur.Grammar, to []uint32) *shape {
	begins := s.begins()
	v := &shape{grammar: g, forms: make([]form, len(to)), ranks: slices.Clone(s.ranks)}
	v.times = s.times.rename(firstOf(to, len(s.forms)))
	for i, t := range to {
		v.forms[i] = s.forms[t]
		for _, c := range s.columns[begins[t]:begins[t+1]] {
			v.columns = append(v.columns, slices.Clone(c))
		}
	}
	return v
}

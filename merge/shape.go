package merge

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A shape is ranks of the same control flow: with equal grammars over terminals
// that are numbered in the order of their first use, and terminal by terminal
// with signatures of the same form.
type shape struct {
	grammar *sequitur.Grammar
	forms   []form
	ranks   spans
	columns []column    // those of the slots of all terminals, in order
	values  []int64     // in place of columns, if there is one rank: what it has in the slots
	rows    []packedRow // the same, packed, of one rank or of several that differ: what each has in the slots
	times   layout.Summaries

	ungrouped bool     // what the ranks are in groups tells no terminals apart
	late      []*shape // further ranks of the same shape, in no order; see Accumulator.settle
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

// slots returns the number of slots of all terminals.
func (s *shape) slots() int {
	n := 0
	for i := range s.forms {
		n += s.forms[i].slots
	}
	return n
}

// spread makes columns of the values of ranks, so that there can be more.
func (s *shape) spread() {
	if len(s.values) > 0 || len(s.rows) > 0 {
		var r columnReader
		s.columns, s.values, s.rows = r.columns(s, 0, s.slots()), nil, nil
	}
}

// eachColumn calls f for each column of s.
func (s *shape) eachColumn(f func(c *column)) {
	const together = 64
	var r columnReader
	for begin, slots := 0, s.slots(); begin < slots; begin += together {
		list := r.columns(s, begin, min(begin+together, slots))
		for i := range list {
			f(&list[i])
		}
	}
}

// A columnReader reads columns of shapes.
type columnReader struct {
	list   []column
	values []int64 // scratch of rowColumns
}

// columns returns those of some slots of s, which hold until the next call, and must
// not be changed.
func (r *columnReader) columns(s *shape, begin, end int) []column {
	switch {
	case len(s.rows) > 1:
		return r.rowColumns(s, begin, end)
	case len(s.rows) == 1:
		r.values = s.rows[0].append(r.values[:0], begin, end)
		return r.constants(s.ranks[0].first, r.values)
	case len(s.values) == 0:
		return s.columns[begin:end]
	}
	return r.constants(s.ranks[0].first, s.values[begin:end])
}

// constants returns the columns of values of one rank, which hold until the next call.
func (r *columnReader) constants(rank int32, values []int64) []column {
	r.list = slices.Grow(r.list[:0], len(values))
	for _, v := range values {
		r.list = append(r.list, constantColumn(rank, v))
	}
	return r.list
}

// column returns that of a slot of s, which holds until the next call.
func (r *columnReader) column(s *shape, slot int) *column { return &r.columns(s, slot, slot+1)[0] }

// constant returns the value of a slot of s that all ranks have, if they have the
// same.
func (s *shape) constant(slot int) (int64, bool) {
	if len(s.values) > 0 {
		return s.values[slot], true
	}
	if len(s.rows) == 0 {
		return s.columns[slot].constant()
	}
	return constantOf(s.rows, slot)
}

// constantOf returns the value that all rows have in a slot, if they have the same.
func constantOf(rows []packedRow, slot int) (int64, bool) {
	value := rows[0].at(slot)
	for i := range rows[1:] {
		if rows[1+i].at(slot) != value {
			return value, false
		}
	}
	return value, true
}

// copySlots makes the slots of s, which has none yet, those of t, of the same ranks, in the order of some of
// these, but for values that all ranks have in some.
func (s *shape) copySlots(t *shape, of []slotRange, set []slotValue) {
	s.rows = chooseRows(t.rows, of, set)
	for _, p := range of {
		if len(t.values) > 0 {
			s.values = append(s.values, t.values[p.begin:p.end]...)
		} else if len(t.columns) > 0 {
			for _, c := range t.columns[p.begin:p.end] {
				s.columns = append(s.columns, c.clone())
			}
		}
	}
	for _, x := range set {
		if len(t.values) > 0 {
			s.values[x.slot] = x.value
		} else if len(t.columns) > 0 {
			s.columns[x.slot] = constantColumn(s.ranks[0].first, x.value)
		}
	}
}

// concat adds the ranks of t, which lie above those of s.
func (s *shape) concat(t *shape) {
	n, m := s.ranks.len(), t.ranks.len()
	rows := s.joinsRows(t)
	if rows {
		s.rows, s.values = append(s.packed(), t.packed()...), nil
	} else {
		s.spread()
		t.spread()
		for i := range s.columns {
			s.columns[i].concat(n, &t.columns[i], t.ranks)
		}
	}
	s.ranks, _ = s.ranks.union(t.ranks)
	if rows {
		s.keepRows(max(n, m))
	}
	s.times.Merge(&t.times)
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
	merged := &shape{grammar: s.grammar, forms: s.forms}
	for _, p := range pieces {
		merged.ranks = merged.ranks.add(p.first, p.last)
	}
	if s.joinsRows(t) {
		merged.rows = mergeRows(s.packed(), t.packed(), pieces)
		merged.keepRows(max(s.ranks.len(), t.ranks.len()))
	} else {
		s.spread()
		t.spread()
		merged.columns = make([]column, len(s.columns))
		for i := range merged.columns {
			merged.columns[i] = mergeColumns(&s.columns[i], &t.columns[i], pieces)
		}
	}
	merged.times = s.times
	merged.times.Merge(&t.times)
	return merged
}

// mergeRows returns the rows of two shapes in the order of pieces.
func mergeRows(first, second []packedRow, pieces []piece) []packedRow {
	rows := make([]packedRow, 0, len(first)+len(second))
	for _, p := range pieces {
		from := first
		if p.second {
			from = second
		}
		rows = append(rows, from[p.position:p.position+p.last-p.first+1]...)
	}
	return rows
}

// mergeColumns returns the column of the values of c and d in the order of
// pieces.
func mergeColumns(c, d *column, pieces []piece) column {
	if line, ok := sameLine(c, d); ok {
		return line
	}
	var merged column
	n, first, second := 0, c.values(), d.values()
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
	merged.complete = slices.Clip(merged.complete)
	return merged
}

// sameLine returns the column of the values of c and d if these are one run each
// that continue each other, whatever their ranks.
func sameLine(c, d *column) (line column, ok bool) {
	if !c.single() || !d.single() {
		return line, false
	}
	r, s := c.last, d.last
	if r.rank > s.rank {
		r, s = s, r
	}
	return column{last: r}, r.step == s.step && r.holds(int(s.rank), s.first)
}

// view returns the shape with another grammar, over terminals of which to says
// which of s each one is. Of several that are the same of s, the first has the
// times of all.
func (s *shape) view(g *sequitur.Grammar, to []uint32) *shape {
	begins := s.begins()
	v := &shape{grammar: g, forms: make([]form, len(to)), ranks: slices.Clone(s.ranks)}
	v.times = s.times.Rename(firstOf(to, len(s.forms)))
	slots := make([]slotRange, len(to))
	for i, t := range to {
		v.forms[i] = s.forms[t]
		slots[i] = slotRange{begins[t], begins[t+1]}
	}
	v.copySlots(s, slots, nil)
	return v
}

// appendKey appends what tells f, of a function with one of the digests, from
// other forms.
func (f form) appendKey(dst []byte, digests []digest) []byte {
	dst = append(dst, digests[f.function][:]...)
	for _, n := range f.lengths {
		dst = wire.AppendUvarint(dst, uint64(n))
	}
	dst = wire.AppendUvarint(dst, uint64(f.place))
	grouped := byte(0)
	if f.grouped {
		grouped = 1
	}
	return wire.AppendUvarint(append(dst, grouped), f.streams)
}

// groupSlots is the number of slots that a form with a group has besides those of
// the arguments.
const groupSlots = 2

// A form is what the signatures that ranks have for one terminal must share for
// the ranks to be of one shape: all but the values in the slots.
type form struct {
	function int   // in the functions of an Accumulator
	lengths  []int // of all arrays, in the order in which they begin
	slots    int
	grouped  bool   // the last two slots are the rank in a group, and its size
	streams  uint64 // bit k: slot k of those in no array has the number of a stream
	place    int64  // where calls are made, 0 if the function does not say it
}

// equal reports whether f and g are the same form.
func (f form) equal(g form) bool {
	return f.function == g.function && f.grouped == g.grouped && f.streams == g.streams &&
		f.place == g.place && slices.Equal(f.lengths, g.lengths)
}

// streamSlots returns an iterator over the slots of f that have the numbers of streams, by their numbers among
// those in no array.
func (f *form) streamSlots(functions []cst.Function) iter.Seq2[int, int] {
	return func(yield func(scalar, slot int) bool) {
		for left := f.streams; left != 0; left &= left - 1 {
			k := bits.TrailingZeros64(left)
			if !yield(k, layout.ScalarSlot(functions[f.function], f.lengths, k)) {
				return
			}
		}
	}
}

// setPlace sets the place to that of the sites of ranks, and reports whether all are of one.
func (f *form) setPlace(sites *column, ranks spans) bool {
	f.place = layout.Place(sites.begin().first)
	for r, end := range sites.runs(ranks.len()) {
		if layout.Place(r.first) != f.place || layout.Place(r.at(ranks.at(end-1))) != f.place {
			return false
		}
	}
	return true
}

// layout returns the meaning of the slots of f.
func (f form) layout(functions []cst.Function) []layout.SlotKind {
	kinds := make([]layout.SlotKind, 0, f.slots)
	lengths := f.lengths
	for _, p := range functions[f.function].Params {
		kinds = layout.AppendKinds(kinds, p.Type, &lengths)
	}
	if f.grouped {
		kinds = append(kinds, layout.GroupRank, layout.GroupSize)
	}
	return kinds
}

package merge

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// unite returns one shape of the ranks of all shapes, which is possible if their
// sequences are of one length and have signatures of equal forms at equal
// positions. It refuses if it would have more terminals than all of them
// together, and does not change the shapes.
//
// To add a shape to others takes time in proportion to what the sequence of all has become, which may be much
// more than each has. So those whose sequence has grown are complete, and are added together to others of
// their kind.
func unite(shapes []*shape) (*shape, bool) {
	u := uniter{pairing: pairing{most: terminalsOf(shapes)}}
	for _, s := range shapes {
		if of, ok := sequenceOf(s.grammar); !ok || !u.add(0, s, of) {
			return nil, false
		}
	}
	for level := 0; ; level++ { // there may be one more of them then
		s, of := u.levels[level].finish()
		if level+1 == len(u.levels) {
			s.grammar = of.grammar()
			return s, true
		}
		if s != nil && !u.add(level+1, s, of) {
			return nil, false
		}
	}
}

// A uniter unites shapes.
type uniter struct {
	levels  []joint // of the shapes, of joints of these, and so on: those that are not complete
	pairing pairing
}

// maxUnmerged is how many shapes are joined before they become one. What is kept until then grows with the
// terminals of the joint shape for each; after that, with the runs of its columns.
const maxUnmerged = 256

// add adds a shape with a sequence to the joint of a level, and reports whether that can be. It may change
// the sequence.
func (u *uniter) add(level int, s *shape, of sequence) bool {
	if level == len(u.levels) {
		u.levels = append(u.levels, joint{})
	}
	j := &u.levels[level]
	if len(j.parts) == 0 {
		*j = joint{sequence: of, forms: s.forms, parts: []jointPart{{shape: s}}, first: len(s.forms)}
		return true
	}
	if !j.add(s, of, &u.pairing) {
		return false
	}
	const grown = 8 // times
	if len(j.forms) > grown*j.first {
		s, of := j.finish()
		return u.add(level+1, s, of)
	}
	if len(j.parts)-j.merged == maxUnmerged {
		j.merge(j.merged)
		j.merged++
	}
	return true
}

// A joint is the shape that several shapes become. Its sequence is that of the tuples of
// terminals that they have at the same positions. Equal tuples are one terminal; these are
// numbered in the order of their first use.
type joint struct {
	sequence sequence
	forms    []form // of the terminals
	parts    []jointPart
	merged   int // how many of parts are several shapes each
	first    int // terminals of the first shape
}

// A jointPart is a shape of a joint. The terminals of the joint were told apart further when it was added,
// and perhaps since.
type jointPart struct {
	shape *shape
	own   []uint32 // of the joint's terminals when it was added, those of the shape; nil if they are the same
	past  []uint32 // of the joint's terminals when it was added, those before; nil if they are the same
}

// add adds a shape with a sequence to those joined, and reports whether its signatures have the
// same forms in the same order. If not, the joint is of no more use.
func (j *joint) add(s *shape, of sequence, p *pairing) bool {
	p.equal = func(x, y sequitur.Symbol) bool { return j.forms[x].equal(s.forms[y]) }
	if !p.join(&j.sequence, of, len(j.forms)) {
		return false
	}
	part := jointPart{shape: s, own: make([]uint32, len(p.pairs))}
	for n, k := range p.pairs {
		part.own[n] = k.y
	}
	if !p.same(len(j.forms)) {
		part.past = make([]uint32, len(p.pairs))
		forms := make([]form, len(p.pairs))
		for n, k := range p.pairs {
			forms[n] = j.forms[k.x]
			part.past[n] = k.x
		}
		j.forms = forms
	}
	j.parts = append(j.parts, part)
	return true
}

// finish returns the shape that all that were added become, without its grammar, and its sequence, and begins
// anew. It returns nil if none were added.
func (j *joint) finish() (*shape, sequence) {
	if len(j.parts) == 0 {
		return nil, sequence{}
	}
	j.merge(0)
	s, of := j.parts[0].shape, j.sequence
	*j = joint{}
	return s, of
}

// merge makes one part of those from a number on.
func (j *joint) merge(from int) {
	parts := j.parts[from:]
	shapes, of := make([]*shape, len(parts)), make([][]uint32, len(parts))
	var now []uint32 // of the joint's terminals, those when a part was added
	for i := len(parts) - 1; i >= 0; i-- {
		shapes[i] = parts[i].shape
		of[i] = compose(now, parts[i].own)
		if of[i] == nil {
			of[i] = sameTerminals(len(j.forms))
		}
		now = compose(now, parts[i].past)
	}
	j.parts = append(j.parts[:from:from], jointPart{shape: mergeViews(shapes, of), past: now})
}

// compose returns what terminals to are of those that are from; nil stands for the same.
func compose(from, to []uint32) []uint32 {
	if from == nil || to == nil {
		return slices.Concat(from, to)
	}
	of := make([]uint32, len(from))
	for i, n := range from {
		of[i] = to[n]
	}
	return of
}

// sameTerminals returns the first n terminals.
func sameTerminals(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// mergeViews returns the shape of the ranks of all shapes, without a grammar, over
// other terminals, of which to says which of each shape they are.
func mergeViews(shapes []*shape, to [][]uint32) *shape {
	n := len(shapes)
	if n == 1 {
		return shapes[0].view(nil, to[0])
	}
	if inOrder(shapes) {
		return viewInOrder(shapes, to)
	}
	if pieces := piecesOf(shapes); len(pieces) > pieces[len(pieces)-1].end()/2 {
		return viewPieces(shapes, to, pieces)
	}
	return mergeViews(shapes[:n/2], to[:n/2]).merge(mergeViews(shapes[n/2:], to[n/2:]))
}

// inOrder reports whether all shapes have columns, and the ranks of each lie above those of the one before.
func inOrder(shapes []*shape) bool {
	last := -1
	for _, s := range shapes {
		if len(s.columns) == 0 || int(s.ranks[0].first) <= last {
			return false
		}
		last = s.ranks.last()
	}
	return true
}

// viewInOrder is mergeViews for shapes that are in order: it takes time in proportion to the runs of columns.
func viewInOrder(shapes []*shape, to [][]uint32) *shape {
	v := newView(shapes, to)
	begins := make([][]int, len(shapes))
	for i, s := range shapes {
		begins[i] = s.begins()
		v.ranks, _ = v.ranks.union(s.ranks)
	}
	var scratch []byte
	for t := range v.forms {
		for k := range v.forms[t].slots {
			first := &shapes[0].columns[begins[0][to[0][t]]+k]
			c := column{append(scratch[:0], first.complete...), first.last}
			n := shapes[0].ranks.len()
			for i, s := range shapes[1:] {
				c.concat(n, &s.columns[begins[1+i][to[1+i][t]]+k], s.ranks)
				n += s.ranks.len()
			}
			scratch = c.complete
			v.columns = append(v.columns, c.clone())
		}
	}
	return v
}

// newView returns a shape without ranks and columns, of the forms and times of mergeViews.
func newView(shapes []*shape, to [][]uint32) *shape {
	v := &shape{forms: make([]form, len(to[0]))}
	for t := range v.forms {
		v.forms[t] = shapes[0].forms[to[0][t]]
	}
	for i, s := range shapes {
		times := s.times.Rename(firstOf(to[i], len(s.forms)))
		v.times.Merge(&times)
	}
	return v
}

// A shapePiece is consecutive ranks of one of several shapes.
type shapePiece struct {
	span      // with the number of ranks before it in all shapes
	shape int // its number
	at    int // position in that shape
}

// piecesOf returns the ranks of shapes, of which none is in two, in ascending order.
func piecesOf(shapes []*shape) []shapePiece {
	var pieces []shapePiece
	for i, s := range shapes {
		for _, p := range s.ranks {
			pieces = append(pieces, shapePiece{p, i, int(p.position)})
		}
	}
	slices.SortFunc(pieces, func(p, q shapePiece) int { return cmp.Compare(p.first, q.first) })
	before := int32(0)
	for i := range pieces {
		pieces[i].position = before
		before = int32(pieces[i].end())
	}
	return pieces
}

// viewPieces is mergeViews for shapes whose ranks are short pieces: it takes time in proportion to the ranks,
// not to the runs of columns, but looks at each once.
func viewPieces(shapes []*shape, to [][]uint32, pieces []shapePiece) *shape {
	v := newView(shapes, to)
	begins := make([][]int, len(shapes))
	for i, s := range shapes {
		begins[i] = s.begins()
	}
	for _, p := range pieces {
		v.ranks = v.ranks.add(int(p.first), int(p.last))
	}
	if v.rows = viewRows(shapes, to, begins, pieces); v.rows != nil {
		return v
	}
	sources := make([]slotSource, len(shapes))
	for i, s := range shapes {
		if len(s.rows) == 1 && begins[i][len(s.forms)] <= maxUnpacked {
			sources[i].all = s.ofRank(nil)
		}
	}
	var scratch []byte
	for t := range v.forms {
		for i, s := range shapes {
			sources[i].begin(s, begins[i][to[i][t]], v.forms[t].slots)
		}
		for k := range v.forms[t].slots {
			c := joinSlot(scratch, sources, pieces, k)
			scratch = c.complete
			v.columns = append(v.columns, c.clone())
		}
	}
	return v
}

// viewRows is viewPieces for rows. It returns nil if no shape has several, or one has columns.
func viewRows(shapes []*shape, to [][]uint32, begins [][]int, pieces []shapePiece) []packedRow {
	ranks, slots, some := 0, 0, false
	for _, s := range shapes {
		if len(s.columns) > 0 {
			return nil
		}
		ranks, some = ranks+s.ranks.len(), some || len(s.rows) > 1
	}
	for _, t := range to[0] {
		slots += shapes[0].forms[t].slots
	}
	few := ranks <= fewRows && slots >= manyRowSlots
	if !some && !few || ranks > maxRows || slots > maxRowSlots {
		return nil
	}
	rows := make([]packedRow, ranks)
	of := make([][]packedRow, len(shapes))
	for i, s := range shapes {
		var some []slotRange
		for _, t := range to[i] {
			some = append(some, slotRange{begins[i][t], begins[i][t+1]})
		}
		of[i] = chooseRows(s.packed(), some, nil)
	}
	for _, p := range pieces {
		copy(rows[p.position:], of[p.shape][p.at:p.at+p.end()-int(p.position)])
	}
	return rows
}

// maxUnpacked is how many slots a rank has at most of which the values are unpacked at once.
const maxUnpacked = 1 << 12

// A slotSource reads the slots of a terminal of a shape.
type slotSource struct {
	own     []int64     // of a shape of one rank
	all     []int64     // of all terminals of that, if they are few
	scratch []int64     // memory of own, if these are packed and not few
	rows    []packedRow // of a shape of several that has some
	first   int         // slot, in rows
	columns []column    // else
	values  values      // of the slot that is read
}

// begin begins n slots of s from one on.
func (r *slotSource) begin(s *shape, slot, n int) {
	switch {
	case r.all != nil:
		r.own = r.all[slot:]
	case len(s.values) > 0:
		r.own = s.values[slot:]
	case len(s.rows) == 1:
		r.scratch = s.rows[0].append(r.scratch[:0], slot, slot+n)
		r.own = r.scratch
	case len(s.rows) > 1:
		r.rows, r.first = s.rows, slot
	default:
		r.columns = s.columns[slot:]
	}
}

// constant returns the value of slot k that all ranks of the source have, if they have the same.
func (r *slotSource) constant(k int) (int64, bool) {
	switch {
	case r.own != nil:
		return r.own[k], true
	case r.columns != nil:
		return r.columns[k].constant()
	}
	return constantOf(r.rows, r.first+k)
}

// joinSlot returns the column of slot k of all sources, in the memory of scratch.
func joinSlot(scratch []byte, sources []slotSource, pieces []shapePiece, k int) column {
	first, constant := sources[0].constant(k)
	for i := range sources[1:] {
		value, same := sources[1+i].constant(k)
		constant = constant && same && value == first
	}
	if constant {
		return column{scratch[:0], run{rank: pieces[0].first, first: first}}
	}
	for i := range sources {
		if r := &sources[i]; r.columns != nil {
			r.values = r.columns[k].values()
		}
	}
	c := column{complete: scratch[:0]}
	for _, p := range pieces {
		r := &sources[p.shape]
		if r.own != nil {
			c.push(int(p.position), int(p.first), r.own[k])
			continue
		}
		for rank := int(p.first); rank <= int(p.last); rank++ {
			before := rank - int(p.first)
			if r.columns == nil {
				c.push(int(p.position)+before, rank, r.rows[p.at+before].at(r.first+k))
			} else {
				c.push(int(p.position)+before, rank, r.values.at(p.at+before, rank))
			}
		}
	}
	return c
}

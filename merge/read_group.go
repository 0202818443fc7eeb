package merge

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// group reads the n signatures of function f.
func (p *signatureParser) group(f cst.Function, n int) group {
	var g group
	if hasArrays(f) {
		g = p.lengths(f, n)
	}
	next := slices.Clone(g.starts) // of the lengths of each signature that are to come
	if p.elastic {
		g.masks = p.masks(f, n)
	}
	for _, param := range f.Params {
		if p.Err() != nil {
			break
		}
		if param.Type.Kind == cst.KindArray {
			g.params = append(g.params, p.matrices(&g, param.Type, next, n))
			continue
		}
		var r paramReader
		for range layout(nil, param.Type, nil) {
			r.slots = append(r.slots, p.slot(n))
		}
		g.scalars += len(r.slots)
		g.params = append(g.params, r)
	}
	return g
}

// masks reads which slots of n signatures of f have streams.
func (p *signatureParser) masks(f cst.Function, n int) numbers {
	at := p.Offset()
	masks := p.numbers(n)
	if p.Err() != nil {
		return numbers{}
	}
	slots := len(scalarKinds(f))
	for _, m := range masks.All() {
		if uint64(m)>>slots != 0 {
			p.Corrupt(at, "streams", "slots %#x of %d", uint64(m), slots)
			return numbers{}
		}
	}
	return masks
}

// lengths reads the lengths of the arrays of n signatures of f.
func (p *signatureParser) lengths(f cst.Function, n int) group {
	at := p.Offset()
	total := p.Uvarint("lengths")
	if most := max(maxIndex, indexPerByte*p.size); total > uint64(most) {
		p.Limit(at, "lengths", "%d are more than %d", total, most)
		return group{}
	}
	column := p.numbers(int(total))
	if p.look(at, "lengths", int(total)); p.Err() != nil {
		return group{}
	}
	g := group{lengths: make([]int, 0, total), starts: make([]int, 0, n+1)}
	for _, v := range column.All() {
		if v < 0 || v > maxSlots {
			p.Corrupt(at, "lengths", "an array of %d elements", v)
			return group{}
		}
		g.lengths = append(g.lengths, int(v))
	}
	rest := g.lengths
	for range n {
		g.starts = append(g.starts, len(g.lengths)-len(rest))
		slots := 0
		for _, param := range f.Params {
			var ok bool
			if slots, ok = countSlots(slots, param.Type, &rest); !ok {
				p.Corrupt(at, "lengths", "%d do not suit %d signatures of %s", total, n, f.Name)
				return group{}
			}
		}
	}
	if len(rest) > 0 {
		p.Corrupt(at, "lengths", "%d more than %d signatures of %s have", len(rest), n, f.Name)
	}
	g.starts = append(g.starts, len(g.lengths))
	return g
}

// look counts numbers that are to be looked at one by one.
func (p *signatureParser) look(at int, field string, n int) {
	if p.indexed += n; p.indexed > max(maxIndex, indexPerByte*p.size) {
		p.Limit(at, field, "more than %d numbers", max(maxIndex, indexPerByte*p.size))
	}
}

// countSlots adds the number of slots of a value of type t to n, and reports
// whether the lengths of its arrays are there and n is at most maxSlots. It takes
// time in proportion to the lengths, not to the slots.
func countSlots(n int, t cst.Type, lengths *[]int) (int, bool) {
	switch t.Kind {
	case cst.KindPointer, cst.KindStatus:
		return n + 3, n+3 <= maxSlots
	case cst.KindArray:
		if len(*lengths) == 0 {
			return n, false
		}
		k := (*lengths)[0]
		*lengths = (*lengths)[1:]
		if t.Elem.Kind != cst.KindArray {
			of, _ := countSlots(0, *t.Elem, nil)
			n += k * of // at most 3·2²⁴ more
			return n, n <= maxSlots
		}
		for range k {
			var ok bool
			if n, ok = countSlots(n, *t.Elem, lengths); !ok {
				return n, false
			}
		}
		return n, true
	}
	return n + 1, n+1 <= maxSlots
}

// checkSlots checks that signatures do not have more slots than a rank may have:
// a few bytes can stand for many.
func (t *signatureTable) checkSlots(signatures []sequitur.Symbol) error {
	slots := 0
	for _, n := range signatures {
		g, i := &t.groups[t.functions[n]], t.indexes[n]
		if slots += g.scalars; g.starts != nil {
			rest := g.lengths[g.starts[i]:g.starts[i+1]]
			slots += len(rest)
			for k := 0; len(rest) > 0; k++ {
				if typ := t.declared[t.functions[n]].Params[k].Type; typ.Kind == cst.KindArray {
					of, _ := countSlots(0, typ, &rest)
					slots += of
				}
			}
		}
		if slots > maxPartSlots {
			return fmt.Errorf("merge: %w: a rank has more than %d values in its signatures", ErrLimit, maxPartSlots)
		}
	}
	return nil
}

// matrices reads the numbers of the matrices of an array parameter of type t.
// Next are the places of its lengths, and then of those of the next parameter.
func (p *signatureParser) matrices(g *group, t cst.Type, next []int, n int) paramReader {
	r := paramReader{index: make([]uint32, n)}
	count := 0
	for i := range n {
		rest := g.lengths[next[i]:g.starts[i+1]]
		before := len(rest)
		r.index[i] = uint32(count)
		if slots, _ := countSlots(0, t, &rest); slots > 0 {
			count++
		}
		next[i] += before - len(rest)
	}
	at := p.Offset()
	r.matrices = p.numbers(count)
	p.checkColumns(at, r.matrices, true)
	return r
}

// checkColumns checks that the numbers are those of columns, or of matrices.
func (p *signatureParser) checkColumns(at int, n numbers, matrix bool) {
	if p.Err() != nil || n.Len() == 0 {
		return
	}
	_, constant := constantOf(n)
	if !constant {
		p.look(at, "column", n.Len())
	}
	for _, v := range n.All() {
		if v < 0 || v >= int64(len(p.columns)) || p.columns[v].matrix != matrix {
			p.Corrupt(at, "column", "%d is none of the %d columns that could be here", v, len(p.columns))
		}
		if constant || p.Err() != nil {
			return
		}
	}
}

// slot reads a slot of n signatures.
func (p *signatureParser) slot(n int) slotReader {
	var r slotReader
	at := p.Offset()
	r.written = p.numbers(n)
	if p.Err() != nil {
		return r
	}
	var counts [writtenExpr + 1]int
	if all, ok := constantOf(r.written); ok && all >= 0 && all <= writtenExpr {
		counts[all] = n
	} else {
		if p.look(at, "slot", n); p.Err() != nil {
			return r
		}
		r.index = make([]uint32, n)
		for i, v := range r.written.All() {
			if v < 0 || v > writtenExpr {
				p.Corrupt(at, "slot", "written as %d", v)
				return r
			}
			r.index[i] = uint32(counts[v])
			counts[v]++
		}
	}
	for i := range r.values {
		if counts[i] > 0 {
			at = p.Offset()
			r.values[i] = p.numbers(counts[i])
		}
	}
	p.checkColumns(at, r.values[writtenColumn], false)
	p.checkGroups(at, r.values[writtenGroup])
	r.groups = p.expressions(counts[writtenGroup], true)
	r.others = p.expressions(counts[writtenExpr], false)
	return r
}

// checkGroups checks that the numbers are those of columns with others after them,
// over the same ranks.
func (p *signatureParser) checkGroups(at int, n numbers) {
	p.checkColumns(at, n, false)
	_, constant := constantOf(n)
	for _, v := range n.All() {
		if p.Err() != nil {
			return
		}
		if k := int(v) + 1; k >= len(p.columns) || p.columns[k].matrix || p.columns[k].domain != p.columns[v].domain {
			p.Corrupt(at, "group", "column %d of %d has no sizes after it", v, len(p.columns))
		}
		if constant {
			return
		}
	}
}

// Expressions are a list in which each different one is kept once: a few bytes
// stand for one, and they may be many.
type expressions struct {
	different []rankenc.Expr
	numbers   []uint32 // of each in the list
}

func (e *expressions) at(k int) *rankenc.Expr { return &e.different[e.numbers[k]] }

// expressions reads n expressions: of the rank in a group, or others. Constants are
// not written so, nor is the rank in the run plus a constant.
func (p *signatureParser) expressions(n int, grouped bool) expressions {
	var list expressions
	known := make(map[rankenc.Expr]uint32)
	for range n {
		at := p.Offset()
		e := rankenc.DecodeExpr(&p.Decoder)
		_, constant := e.Constant()
		_, shift := e.Shift()
		if p.Err() == nil && (constant || shift && !grouped) {
			p.Corrupt(at, "family", "%v is written otherwise", e)
		}
		if p.Err() != nil {
			return expressions{}
		}
		k, ok := known[e]
		if !ok {
			k = uint32(len(list.different))
			known[e] = k
			list.different = append(list.different, e)
		}
		list.numbers = append(list.numbers, k)
	}
	return list
}

// constantOf returns the value of all numbers, if it is one.
func constantOf(n numbers) (int64, bool) {
	if e, ok := n.Expr(); ok {
		return e.Constant()
	}
	return 0, false
}

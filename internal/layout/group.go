package layout

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// mask returns which scalar slots of signature i of a function have streams.
func (g *FunctionGroup) mask(i int) uint64 {
	if g.Masks.Len() == 0 {
		return 0
	}
	return uint64(g.Masks.At(i))
}

// Form returns how a slot of signature i of a function is written: by an
// expression or, if there is none, as the column of a number.
func (r *SlotReader) Form(i int) (e Formula, column int, ok bool) {
	written, k := r.Written.At(i), i
	if r.index != nil {
		k = int(r.index[i])
	}
	switch written {
	case Constant:
		return Formula{rankenc.Constant(r.constant(k)), false}, 0, true
	case Shift:
		return Formula{rankenc.Shift(r.Values[written].At(k)), false}, 0, true
	case Column:
		return Formula{}, int(r.Values[written].At(k)), false
	case InGroup:
		return Formula{*r.Groups.At(k), true}, 0, true
	}
	return Formula{*r.Others.At(k), false}, 0, true
}

// GroupColumn returns the number of the column with the ranks in the group that a
// slot of signature i refers to.
func (r *SlotReader) GroupColumn(i int) int {
	k := i
	if r.index != nil {
		k = int(r.index[i])
	}
	return int(r.Values[InGroup].At(k))
}

// group reads the n signatures of function f.
func (p *signatureParser) group(f cst.Function, n int) FunctionGroup {
	var g FunctionGroup
	if HasArrays(f) {
		g = p.lengths(f, n)
	}
	next := slices.Clone(g.starts) // of the lengths of each signature that are to come
	if p.varying {
		g.Masks = p.masks(f, n)
	}
	for _, param := range f.Params {
		if p.Err() != nil {
			break
		}
		if param.Type.Kind == cst.KindArray {
			g.Params = append(g.Params, p.matrices(&g, param.Type, next, n))
			continue
		}
		var r ParamReader
		for range AppendKinds(nil, param.Type, nil) {
			r.Slots = append(r.Slots, p.slot(n))
		}
		if list, ok := p.lists[param.Type.Class]; ok && param.Type.Kind == cst.KindHandle && p.Err() == nil {
			p.resolve(&r.Slots[0], &g, list, n)
		}
		g.Scalars += len(r.Slots)
		g.Params = append(g.Params, r)
	}
	return g
}

// masks reads which slots of n signatures of f have streams.
func (p *signatureParser) masks(f cst.Function, n int) Numbers {
	at := p.Offset()
	masks := p.numbers(n)
	if p.Err() != nil {
		return Numbers{}
	}
	slots := len(ScalarKinds(f))
	for _, m := range masks.All() {
		if uint64(m)>>slots != 0 {
			p.Corrupt(at, "streams", "slots %#x of %d", uint64(m), slots)
			return Numbers{}
		}
	}
	return masks
}

// lengths reads the lengths of the arrays of n signatures of f.
func (p *signatureParser) lengths(f cst.Function, n int) FunctionGroup {
	at := p.Offset()
	total := p.Uvarint("lengths")
	if p.look(at, "lengths", total); p.Err() != nil {
		return FunctionGroup{}
	}
	column := p.numbers(int(total))
	if p.Err() != nil {
		return FunctionGroup{}
	}
	g := FunctionGroup{lengths: make([]int, 0, total), starts: make([]int, 0, n+1)}
	for _, v := range column.All() {
		if v < 0 || v > MaxSlots {
			p.Corrupt(at, "lengths", "an array of %d elements", v)
			return FunctionGroup{}
		}
		g.lengths = append(g.lengths, int(v))
	}
	rest := g.lengths
	for range n {
		g.starts = append(g.starts, len(g.lengths)-len(rest))
		slots := 0
		for _, param := range f.Params {
			var ok bool
			if slots, ok = CountSlots(slots, param.Type, &rest); !ok {
				p.Corrupt(at, "lengths", "%d do not suit %d signatures of %s", total, n, f.Name)
				return FunctionGroup{}
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
func (p *signatureParser) look(at int, field string, n uint64) {
	p.indexed = wire.AddSat(p.indexed, n)
	if p.indexed > MaxRanks {
		p.Limit(at, field, "more than %d numbers", MaxRanks)
		return
	}
	most := max(p.memory, uint64(p.size)*indexPerByte*indexMemory)
	if err := CheckMemory("lengths of arrays and numbers of columns", p.indexed, indexMemory, most); err != nil {
		p.Fail(at, field, err)
	}
}

// CheckSlots checks that signatures do not have more slots than a rank may have:
// a few bytes can stand for many.
func (t *Table) CheckSlots(signatures []sequitur.Symbol) error {
	slots := 0
	for _, n := range signatures {
		g, i := &t.Groups[t.Functions[n]], t.indexes[n]
		if slots += g.Scalars; g.starts != nil {
			rest := g.lengths[g.starts[i]:g.starts[i+1]]
			slots += len(rest)
			for k := 0; len(rest) > 0; k++ {
				if typ := t.declared[t.Functions[n]].Params[k].Type; typ.Kind == cst.KindArray {
					of, _ := CountSlots(0, typ, &rest)
					slots += of
				}
			}
		}
	}
	return CheckMemory("values in the signatures of a rank", uint64(slots), slotMemory, t.memory)
}

// matrices reads the numbers of the matrices of an array parameter of type t.
// Next are the places of its lengths, and then of those of the next parameter.
func (p *signatureParser) matrices(g *FunctionGroup, t cst.Type, next []int, n int) ParamReader {
	r := ParamReader{Index: make([]uint32, n)}
	count := 0
	for i := range n {
		rest := g.lengths[next[i]:g.starts[i+1]]
		before := len(rest)
		r.Index[i] = uint32(count)
		if slots, _ := CountSlots(0, t, &rest); slots > 0 {
			count++
		}
		next[i] += before - len(rest)
	}
	at := p.Offset()
	r.Matrices = p.numbers(count)
	p.checkColumns(at, r.Matrices, true)
	return r
}

// checkColumns checks that the numbers are those of columns, or of matrices.
func (p *signatureParser) checkColumns(at int, n Numbers, matrix bool) {
	if p.Err() != nil || n.Len() == 0 {
		return
	}
	_, constant := constantOf(n)
	if !constant {
		p.look(at, "column", uint64(n.Len()))
	}
	for _, v := range n.All() {
		if v < 0 || v >= int64(len(p.Columns)) || p.Columns[v].Matrix != matrix {
			p.Corrupt(at, "column", "%d is none of the %d columns that could be here", v, len(p.Columns))
		}
		if constant || p.Err() != nil {
			return
		}
	}
}

// slot reads a slot of n signatures.
func (p *signatureParser) slot(n int) SlotReader {
	var r SlotReader
	at := p.Offset()
	r.Written = p.numbers(n)
	if p.Err() != nil {
		return r
	}
	var counts [Expression + 1]int
	if all, ok := constantOf(r.Written); ok && all >= 0 && all <= Expression {
		counts[all] = n
	} else {
		if p.look(at, "slot", uint64(n)); p.Err() != nil {
			return r
		}
		r.index = make([]uint32, n)
		for i, v := range r.Written.All() {
			if v < 0 || v > Expression {
				p.Corrupt(at, "slot", "written as %d", v)
				return r
			}
			r.index[i] = uint32(counts[v])
			counts[v]++
		}
	}
	for i := range r.Values {
		if counts[i] > 0 {
			at = p.Offset()
			r.Values[i] = p.numbers(counts[i])
		}
	}
	p.checkColumns(at, r.Values[Column], false)
	p.checkGroups(at, r.Values[InGroup])
	r.Groups = p.expressions(counts[InGroup], true)
	r.Others = p.expressions(counts[Expression], false)
	return r
}

// resolve looks up the constants of the last slot of n signatures in the list that they are
// places of, but for numbers of streams.
func (p *signatureParser) resolve(r *SlotReader, g *FunctionGroup, list []int64, n int) {
	at := p.Offset()
	if p.look(at, "constants", uint64(n)); p.Err() != nil {
		return
	}
	r.handles = make([]int64, 0, r.Values[Constant].Len())
	for i := range n {
		if r.Written.At(i) != Constant {
			continue
		}
		v := r.Values[Constant].At(len(r.handles))
		if g.mask(i)>>g.Scalars&1 == 0 {
			if v < 0 || v >= int64(len(list)) {
				p.Corrupt(at, "constants", "handle %d of a list of %d", v, len(list))
				return
			}
			v = list[v]
		}
		r.handles = append(r.handles, v)
	}
}

// checkGroups checks that the numbers are those of columns with others after them,
// over the same ranks.
func (p *signatureParser) checkGroups(at int, n Numbers) {
	p.checkColumns(at, n, false)
	_, constant := constantOf(n)
	for _, v := range n.All() {
		if p.Err() != nil {
			return
		}
		if k := int(v) + 1; k >= len(p.Columns) || p.Columns[k].Matrix || p.Columns[k].Domain != p.Columns[v].Domain {
			p.Corrupt(at, "group", "column %d of %d has no sizes after it", v, len(p.Columns))
		}
		if constant {
			return
		}
	}
}

// Expressions are a list in which each different one is kept once: a few bytes
// stand for one, and they may be many.
type Expressions struct {
	different []rankenc.Expr
	Numbers   []uint32 // of each in the list
}

func (e *Expressions) At(k int) *rankenc.Expr { return &e.different[e.Numbers[k]] }

// expressions reads n expressions: of the rank in a group, or others. Constants are
// not written so, nor is the rank in the run plus a constant.
func (p *signatureParser) expressions(n int, grouped bool) Expressions {
	var list Expressions
	known := make(map[rankenc.Expr]uint32)
	for range n {
		at := p.Offset()
		e := wire.Embed(&p.Decoder, rankenc.ParseExpr)
		_, constant := e.Constant()
		_, shift := e.Shift()
		if p.Err() == nil && (constant || shift && !grouped) {
			p.Corrupt(at, "family", "%v is written otherwise", e)
		}
		if p.Err() != nil {
			return Expressions{}
		}
		k, ok := known[e]
		if !ok {
			k = uint32(len(list.different))
			known[e] = k
			list.different = append(list.different, e)
		}
		list.Numbers = append(list.Numbers, k)
	}
	return list
}

// constantOf returns the value of all numbers, if it is one.
func constantOf(n Numbers) (int64, bool) {
	if e, ok := n.Expr(); ok {
		return e.Constant()
	}
	return 0, false
}

// A group reads the signatures of one function.
type FunctionGroup struct {
	Params  []ParamReader
	Scalars int     // slots of each signature that are in no array
	Masks   Numbers // of the slots with streams, if there are any in the trace
	lengths []int   // of the arrays of all signatures
	starts  []int   // of the lengths of each signature, and the end
}

// A ParamReader reads the arguments of one parameter.
type ParamReader struct {
	Slots    []SlotReader // unless it is an array
	Matrices Numbers      // of those of the arguments that have slots
	Index    []uint32     // of the argument among these
}

// A SlotReader reads one slot of the signatures of one function.
type SlotReader struct {
	Written Numbers
	Values  [Expression]Numbers
	Groups  Expressions // of the rank in a group
	Others  Expressions
	index   []uint32 // of the value among those written in the same way; nil if all are
	handles []int64  // the constants, if Values has places of a list
}

func (r *SlotReader) constant(k int) int64 {
	if r.handles != nil {
		return r.handles[k]
	}
	return r.Values[Constant].At(k)
}

// template returns how the slot is written in signature i of its function.
func (r *SlotReader) template(i int) Value {
	s, k := Value{How: r.Written.At(i)}, i
	if r.index != nil {
		k = int(r.index[i])
	}
	if s.How == Expression {
		s.Expr = r.Others.At(k)
		return s
	}
	switch s.How {
	case Constant:
		s.Number = r.constant(k)
		return s
	case InGroup:
		s.Expr = r.Groups.At(k)
	}
	s.Number = r.Values[s.How].At(k)
	return s
}

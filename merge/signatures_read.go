package merge

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// Limits of what is read of signatures.
const (
	maxSignatures   = 1 << 22
	maxIndex        = 1 << 24 // numbers looked at one by one, such as lengths of arrays
	maxSlots        = 1 << 24 // of a signature
	maxDomainShapes = 1 << 22 // of all domains together
	maxPartSlots    = 1 << 26 // of all signatures of a rank, arrays included
)

// A signatureTable reads the signatures of a trace.
type signatureTable struct {
	declared  []cst.Function
	functions []uint32 // of each signature
	indexes   []uint32 // of each signature, among those of its function
	groups    []group  // by function
	domains   []*domain
	shapes    []rankenc.Set // of each domain
	columns   []columnPlace
	inline    []byte       // the columns, if they stand in the section of the signatures
	streams   *streamTable // nil if there are none
}

// A group reads the signatures of one function.
type group struct {
	params  []paramReader
	scalars int     // slots of each signature that are in no array
	masks   numbers // of the slots with streams, if there are any in the trace
	lengths []int   // of the arrays of all signatures
	starts  []int   // of the lengths of each signature, and the end
}

// A paramReader reads the arguments of one parameter.
type paramReader struct {
	slots    []slotReader // unless it is an array
	matrices numbers      // of those of the arguments that have slots
	index    []uint32     // of the argument among these
}

// A slotReader reads one slot of the signatures of one function.
type slotReader struct {
	written numbers
	values  [writtenExpr]numbers
	others  []rankenc.Expr
	index   []uint32 // of the value among those written in the same way; nil if all are
}

// Numbers are a column that has nothing to do with ranks.
type numbers = rankenc.Column

// A columnPlace says where a column is.
type columnPlace struct {
	domain          int
	matrix          bool
	section, offset int
	size            int
	others          []int // the matrices to which this one may refer
}

// A signatureParser is the state of parseSignatures.
type signatureParser struct {
	wire.Decoder
	signatureTable
	elastic bool // there are streams
	indexed int  // numbers that were looked at one by one
}

// parseSignatures decodes the section of the signatures of a run of size ranks
// and of shapes of the ranks sets.
func parseSignatures(data []byte, declared []cst.Function, sets []rankenc.Set, size int) (*signatureTable, error) {
	p := signatureParser{Decoder: wire.NewDecoder("merge", data), signatureTable: signatureTable{declared: declared}}
	sizes := p.parseFunctions()
	p.parseDomains(sets, size)
	inline := p.parseColumns()
	if p.elastic {
		p.streams = p.parseStreams()
	}
	for f := range sizes {
		if n := sizes[f]; n > 0 && p.Err() == nil {
			p.groups[f] = p.group(declared[f], n)
		}
	}
	if inline {
		p.inline = p.Bytes("columns", p.Rest())
		if n := p.inlineSize(); len(p.inline) != n && p.Err() == nil {
			p.Corrupt(p.Offset(), "columns", "%d bytes, not %d", len(p.inline), n)
		}
	}
	p.End("columns")
	if p.Err() != nil {
		return nil, p.Err()
	}
	return &p.signatureTable, nil
}

// parseFunctions reads the function of each signature, and returns how many
// signatures there are of each.
func (p *signatureParser) parseFunctions() []int {
	at := p.Offset()
	n := p.Uvarint("signatures")
	p.elastic = n&1 == 1
	if n >>= 1; n > maxSignatures {
		p.Limit(at, "signatures", "%d are more than %d", n, maxSignatures)
		return nil
	}
	at = p.Offset()
	functions := p.numbers(int(n))
	if p.Err() != nil {
		return nil
	}
	sizes := make([]int, len(p.declared))
	p.groups = make([]group, len(p.declared))
	p.functions, p.indexes = make([]uint32, n), make([]uint32, n)
	for i, f := range functions.All() {
		if f < 0 || f >= int64(len(sizes)) {
			p.Corrupt(at, "functions", "%d of %d", f, len(sizes))
			return nil
		}
		p.functions[i], p.indexes[i] = uint32(f), uint32(sizes[f])
		sizes[f]++
	}
	return sizes
}

// numbers reads a column of n numbers.
func (p *signatureParser) numbers(n int) numbers {
	return rankenc.DecodeColumn(&p.Decoder, rankenc.Over(rankenc.World(n), int64(n)))
}

func (p *signatureParser) parseDomains(sets []rankenc.Set, size int) {
	n, all := p.Count("domains", 1), 0
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		shapes := rankenc.DecodeSet(&p.Decoder)
		if p.Err() != nil {
			return
		}
		if shapes.Len() == 0 || shapes.Len() > len(sets) || int(shapes.At(shapes.Len()-1)) >= len(sets) {
			p.Corrupt(at, "domain", "of shapes %v of %d", shapes, len(sets))
			return
		}
		if all += shapes.Len(); all > maxDomainShapes {
			p.Limit(at, "domain", "more than %d shapes", maxDomainShapes)
			return
		}
		of := make([]rankenc.Set, 0, shapes.Len())
		for _, s := range shapes.All() {
			of = append(of, sets[s])
		}
		p.domains, p.shapes = append(p.domains, newDomain(of, size)), append(p.shapes, shapes)
	}
}

// parseColumns reads where the columns are, and reports whether they stand at
// the end of this section.
func (p *signatureParser) parseColumns() (inline bool) {
	n := p.Count("columns", 2)
	p.columns = make([]columnPlace, 0, n)
	var packer packer
	matrices := make([][]int, len(p.domains)) // the columns that are matrices, of each
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		v := p.Uvarint("column")
		if v>>1 >= uint64(len(p.domains)) {
			p.Corrupt(at, "column", "domain %d of %d", v>>1, len(p.domains))
			return false
		}
		at = p.Offset()
		size := p.Uvarint("size")
		if size == 0 || size > maxColumn {
			p.Corrupt(at, "size", "%d, not from 1 to %d", size, maxColumn)
			return false
		}
		c := columnPlace{domain: int(v >> 1), matrix: v&1 == 1, size: int(size)}
		c.section, c.offset = packer.place(c.size)
		if c.matrix {
			all := matrices[c.domain]
			c.others = all[len(all)/matricesTogether*matricesTogether:]
			matrices[c.domain] = append(all, i)
		}
		p.columns = append(p.columns, c)
	}
	return n > 0 && packer.section == 0 && packer.offset <= maxInline
}

// maxColumn is the largest size of an encoded column, in bytes.
const maxColumn = math.MaxInt32

// inlineSize returns the size of the columns that stand in this section.
func (t *signatureTable) inlineSize() int {
	c := t.columns[len(t.columns)-1]
	return c.offset + c.size
}

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
	if total > maxIndex {
		p.Limit(at, "lengths", "%d are more than %d", total, maxIndex)
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
	if p.indexed += n; p.indexed > maxIndex {
		p.Limit(at, field, "more than %d numbers", maxIndex)
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
	for range counts[writtenExpr] {
		if p.Err() != nil {
			break
		}
		r.others = append(r.others, rankenc.DecodeExpr(&p.Decoder))
	}
	return r
}

// constantOf returns the value of all numbers, if it is one.
func constantOf(n numbers) (int64, bool) {
	if e, ok := n.Expr(); ok {
		return e.Constant()
	}
	return 0, false
}

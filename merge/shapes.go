package merge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Shape is ranks of the same control flow. It must not be changed.
type Shape struct {
	Ranks   rankenc.Set
	Grammar *sequitur.Grammar // over the signatures of the trace

	trace      *Trace
	number     int
	signatures []sequitur.Symbol // in the order of their first use
}

// Shapes returns the number of shapes. They are numbered in the order of their
// lowest ranks.
func (t *Trace) Shapes() int { return len(t.sets) }

// Shape reads a shape. An error about the file is a [*SectionError].
func (t *Trace) Shape(number int) (*Shape, error) {
	if number < 0 || number >= len(t.sets) {
		return nil, fmt.Errorf("merge: there is no shape %d of %d", number, len(t.sets))
	}
	t.mu.Lock()
	s := t.shapes[number]
	t.mu.Unlock()
	if s != nil {
		return s, nil
	}
	g, err := t.readGrammar(number)
	if err != nil {
		return nil, err
	}
	s = &Shape{t.sets[number], g, t, number, g.FirstUse()}
	if err := t.signatures.checkSlots(s.signatures); err != nil {
		return nil, &SectionError{KindSignatures, 0, -1, err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.symbols += g.Symbols(); len(t.shapes) >= maxShapes || t.symbols > maxSymbols {
		clear(t.shapes)
		t.symbols = g.Symbols()
	}
	t.shapes[number] = s
	return s, nil
}

// intern interns the signatures of s as rank has them in a table, and returns
// the terminals there by the terminals of the trace.
func (s *Shape) intern(table *cst.Table, rank int) (map[sequitur.Symbol]sequitur.Symbol, error) {
	position, _ := s.Ranks.Index(rank)
	terminals := make(map[sequitur.Symbol]sequitur.Symbol, len(s.signatures))
	var args []cst.Value
	for _, n := range s.signatures {
		var fn int
		var err error
		if fn, args, err = s.trace.signature(args[:0], int(n), s.number, position, rank); err != nil {
			return nil, err
		}
		terminals[n] = sequitur.Symbol(table.InternRun(fn, 0, args...))
	}
	return terminals, nil
}

// signature appends the arguments that a rank of a shape has in a signature.
func (t *Trace) signature(args []cst.Value, n, shape, position, rank int) (fn int, _ []cst.Value, err error) {
	fn = int(t.signatures.functions[n])
	g, i := &t.signatures.groups[fn], int(t.signatures.indexes[n])
	var u unflattener
	u.texts = t.texts
	if g.starts != nil {
		u.lengths = g.lengths[g.starts[i]:g.starts[i+1]]
	}
	rest := u.lengths
	for k, p := range t.Functions()[fn].Params {
		r := &g.params[k]
		if p.Type.Kind == cst.KindArray {
			if slots, _ := countSlots(0, p.Type, &rest); slots > 0 {
				u.slots, err = t.row(u.slots[:0], int(r.matrices.At(int(r.index[i]))), shape, position, rank, slots)
			}
		} else {
			u.slots = u.slots[:0]
			for k := range r.slots {
				var v int64
				if v, err = t.slot(&r.slots[k], i, shape, position, rank); err != nil {
					break
				}
				u.slots = append(u.slots, v)
			}
		}
		if err != nil {
			return 0, nil, err
		}
		slots := u.slots
		args = append(args, u.value(p.Type))
		u.slots = slots
	}
	return fn, args, nil
}

// scalarSlots returns the slots that a rank of a shape has in signature n, up to
// the first array.
func (t *Trace) scalarSlots(n, shape, position, rank int) ([]int64, error) {
	fn := t.signatures.functions[n]
	g, i := &t.signatures.groups[fn], int(t.signatures.indexes[n])
	var slots []int64
	for k, p := range t.Functions()[fn].Params {
		if p.Type.Kind == cst.KindArray {
			break
		}
		for j := range g.params[k].slots {
			v, err := t.slot(&g.params[k].slots[j], i, shape, position, rank)
			if err != nil {
				return nil, err
			}
			slots = append(slots, v)
		}
	}
	return slots, nil
}

// slot returns the value of a slot in signature i of a function.
func (t *Trace) slot(r *slotReader, i, shape, position, rank int) (int64, error) {
	written, k := r.written.At(i), i
	if r.index != nil {
		k = int(r.index[i])
	}
	switch written {
	case writtenConstant:
		return r.values[written].At(k), nil
	case writtenShift:
		return int64(rank) + r.values[written].At(k), nil
	case writtenColumn:
		return t.columnValue(int(r.values[written].At(k)), shape, position, rank)
	}
	return r.others[k].Eval(int64(rank), int64(t.run.Ranks)), nil
}

// columnValue returns the value of a stored column for a rank.
func (t *Trace) columnValue(n, shape, position, rank int) (int64, error) {
	at, err := t.place(n, shape, position, rank)
	if err != nil {
		return 0, err
	}
	c, err := t.column(n)
	if err != nil {
		return 0, err
	}
	return c.(rankenc.Column).At(at), nil
}

// row appends the row of a stored matrix for a rank, which must be of a length.
func (t *Trace) row(dst []int64, n, shape, position, rank, length int) ([]int64, error) {
	at, err := t.place(n, shape, position, rank)
	if err != nil {
		return nil, err
	}
	c, err := t.column(n)
	if err != nil {
		return nil, err
	}
	m := c.(rankenc.Matrix)
	if k := m.RowLen(at); k != length {
		return nil, t.columnError(n, corrupt("column %d has a row of %d, not %d", n, k, length))
	}
	return m.AppendRow(dst, at), nil
}

// place returns the position of a rank in the domain of a column.
func (t *Trace) place(n, shape, position, rank int) (int, error) {
	d := t.signatures.columns[n].domain
	k, ok := t.signatures.shapes[d].Index(shape)
	if !ok {
		return 0, &SectionError{KindSignatures, 0, -1, corrupt("shape %d is none of those of column %d", shape, n)}
	}
	return t.signatures.domains[d].position(k, position, rank), nil
}

// column reads a column or a matrix.
func (t *Trace) column(n int) (any, error) {
	t.mu.Lock()
	c, ok := t.columns[n]
	t.mu.Unlock()
	if ok {
		return c, nil
	}
	p := t.signatures.columns[n]
	data, err := t.columnBytes(n)
	if err != nil {
		return nil, err
	}
	domain := t.signatures.domains[p.domain].columns()
	if p.matrix {
		var others []rankenc.Matrix
		if others, err = t.matrices(p.others); err == nil {
			c, err = rankenc.ParseMatrix(data, domain, others, rankenc.ParseOptions{})
		}
	} else {
		c, err = rankenc.ParseColumn(data, domain)
	}
	if err != nil {
		return nil, t.columnError(n, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns[n] = c
	return c, nil
}

// columnError returns a SectionError about a column.
func (t *Trace) columnError(n int, err error) error {
	var s *SectionError
	if errors.As(err, &s) {
		return err
	}
	if t.signatures.inline != nil {
		return &SectionError{KindSignatures, 0, -1, err}
	}
	return &SectionError{KindColumns, uint64(t.signatures.columns[n].section), -1, err}
}

// columnBytes returns the encoding of a column.
func (t *Trace) columnBytes(n int) ([]byte, error) {
	p := t.signatures.columns[n]
	if t.signatures.inline != nil {
		return t.signatures.inline[p.offset : p.offset+p.size], nil
	}
	var data []byte
	err := t.read(KindColumns, uint64(p.section), func(content []byte) error {
		if p.offset+p.size > len(content) {
			return corrupt("column %d is at %d to %d of %d bytes", n, p.offset, p.offset+p.size, len(content))
		}
		data = content[p.offset : p.offset+p.size]
		return nil
	})
	return slices.Clone(data), err
}

// matrices reads some matrices.
func (t *Trace) matrices(numbers []int) ([]rankenc.Matrix, error) {
	var matrices []rankenc.Matrix
	for _, n := range numbers {
		c, err := t.column(n)
		if err != nil {
			return nil, err
		}
		matrices = append(matrices, c.(rankenc.Matrix))
	}
	return matrices, nil
}

// Grammars are the shared piece of the grammars of shapes, and where the others
// are.
type grammars struct {
	shared *sequitur.Shared
	places []place // of the pieces of the shapes that are not in the shared one
}

type place struct{ section, offset, size int }

func (t *Trace) readGrammars() (*grammars, error) {
	var g grammars
	err := t.read(KindGrammars, 0, func(data []byte) error {
		d := wire.NewDecoder("sequitur", data)
		g.shared = sequitur.DecodeShared(&d, sequitur.Options{})
		if d.Err() != nil {
			return d.Err()
		}
		if g.shared.Len() > len(t.sets) {
			return corrupt("%d grammars of %d shapes", g.shared.Len(), len(t.sets))
		}
		var p packer
		for range len(t.sets) - g.shared.Len() {
			n := int(d.UvarintMax("size", maxColumn))
			if d.Err() != nil {
				return d.Err()
			}
			section, offset := p.place(n)
			g.places = append(g.places, place{section + 1, offset, n})
		}
		d.End("size")
		return d.Err()
	})
	return &g, err
}

// readGrammar reads the grammar of a shape.
func (t *Trace) readGrammar(number int) (g *sequitur.Grammar, err error) {
	all, err := t.grammars()
	if err != nil {
		return nil, err
	}
	k := number - all.shared.Len()
	if k < 0 {
		g, err = all.shared.ParseMember(nil, number)
		if err == nil {
			err = t.checkGrammar(g)
		}
		if err != nil {
			err = &SectionError{KindGrammars, 0, -1, err}
		}
		return g, err
	}
	p := all.places[k]
	err = t.read(KindGrammars, uint64(p.section), func(data []byte) error {
		if p.offset+p.size > len(data) {
			return corrupt("the grammar of shape %d is at %d to %d of %d bytes", number, p.offset, p.offset+p.size, len(data))
		}
		if g, err = all.shared.ParseMember(data[p.offset:p.offset+p.size], number); err != nil {
			return atOffset(err, p.offset)
		}
		return t.checkGrammar(g)
	})
	return g, err
}

// checkGrammar checks the grammar of a shape.
func (t *Trace) checkGrammar(g *sequitur.Grammar) error {
	if n := terminals(g); n > uint64(len(t.signatures.functions)) {
		return corrupt("terminal %d of %d signatures", n-1, len(t.signatures.functions))
	}
	if g.Len() == 0 {
		return corrupt("no calls of ranks that made calls")
	}
	return nil
}

package merge

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
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

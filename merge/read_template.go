package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/pairmap"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A template is what the ranks of a shape have in common, for making the calls of
// each from it.
type template struct {
	grammar    *sequitur.Grammar   // over the signatures in the order of their first use
	signatures []signatureTemplate // nil if they are too large to be kept
	elastic    bool                // some of the signatures have streams
}

// A signatureTemplate is a signature with what is looked up of a rank.
type signatureTemplate struct {
	function int
	lengths  []int            // of arrays
	slots    []slotTemplate   // that are in no array
	matrices []matrixTemplate // of the parameters that are arrays
	streams  uint64           // bit k: slot k has the number of a stream
}

// A slotTemplate is how a slot is written: as one of writtenConstant and so on.
type slotTemplate struct {
	written int64
	value   int64         // the constant, what is added to the rank, or the number of a column
	expr    *rankenc.Expr // of writtenExpr and writtenGroup
}

// A matrixTemplate says which matrix has the slots of an array, if there are any.
type matrixTemplate struct{ number, slots int }

// newTemplate returns the template of s.
func (s *Shape) newTemplate() *template {
	t := &template{}
	if s.size() <= s.trace.most {
		t.signatures = make([]signatureTemplate, len(s.signatures))
	}
	var numbers pairmap.Map
	for i, n := range s.signatures {
		numbers.Put(uint64(n), 0, uint32(i))
		t.elastic = t.elastic || s.trace.signatures.mask(int(n)) != 0
		if t.signatures != nil {
			s.trace.signatures.template(&t.signatures[i], int(n))
		}
	}
	t.grammar = s.Grammar.Rewrite(func(n sequitur.Symbol) sequitur.Symbol {
		i, _ := numbers.Get(uint64(n), 0)
		return i
	})
	return t
}

// mask returns which slots of signature n have streams.
func (t *signatureTable) mask(n int) uint64 {
	return t.groups[t.functions[n]].mask(int(t.indexes[n]))
}

// template sets s to the template of signature n, in the memory that s has.
func (t *signatureTable) template(s *signatureTemplate, n int) {
	f, i := int(t.functions[n]), int(t.indexes[n])
	g := &t.groups[f]
	*s = signatureTemplate{
		function: f, slots: slices.Grow(s.slots[:0], g.scalars), matrices: s.matrices[:0], streams: g.mask(i),
	}
	if g.starts != nil {
		s.lengths = g.lengths[g.starts[i]:g.starts[i+1]]
	}
	rest := s.lengths
	for k, p := range t.declared[f].Params {
		r := &g.params[k]
		if p.Type.Kind != cst.KindArray {
			for j := range r.slots {
				s.slots = append(s.slots, r.slots[j].template(i))
			}
			continue
		}
		m := matrixTemplate{}
		if m.slots, _ = countSlots(0, p.Type, &rest); m.slots > 0 {
			m.number = int(r.matrices.At(int(r.index[i])))
		}
		s.matrices = append(s.matrices, m)
	}
}

// template returns how the slot is written in signature i of its function.
func (r *slotReader) template(i int) slotTemplate {
	s, k := slotTemplate{written: r.written.At(i)}, i
	if r.index != nil {
		k = int(r.index[i])
	}
	if s.written == writtenExpr {
		s.expr = r.others.at(k)
		return s
	}
	s.value = r.values[s.written].At(k)
	if s.written == writtenGroup {
		s.expr = r.groups.at(k)
	}
	return s
}

// A rankReader makes the signatures of a rank from the template of its shape.
type rankReader struct {
	trace          *Trace
	shape          *Shape
	template       *template
	rank, position int

	// What was returned last is in these.
	current    signatureTemplate // unless the template of the shape has it
	group      Group             // that the signature names, if it is grouped
	grouped    bool
	slots, row []int64
	args       []cst.Value
	elements   []cst.Value
}

func newRankReader(s *Shape, rank int) *rankReader {
	r := &rankReader{trace: s.trace, shape: s, template: s.template(), rank: rank}
	r.position, _ = s.Ranks.Index(rank)
	return r
}

// signatureTemplate returns the template of the i-th signature of the shape. It is
// valid until the next call.
func (r *rankReader) signatureTemplate(i int) *signatureTemplate {
	if r.template.signatures != nil {
		return &r.template.signatures[i]
	}
	r.trace.signatures.template(&r.current, int(r.shape.signatures[i]))
	return &r.current
}

// signature returns the function and the arguments of the i-th signature of the
// shape. They are valid until the next call.
func (r *rankReader) signature(i int) (fn int, args []cst.Value, err error) {
	s := r.signatureTemplate(i)
	if err := r.readSlots(s); err != nil {
		return 0, nil, err
	}
	u := unflattener{slots: r.slots, lengths: s.lengths, texts: r.trace.texts, elems: r.elements[:0]}
	r.args = r.args[:0]
	params, matrices := r.trace.Functions()[s.function].Params, s.matrices
	for k := range params {
		typ := params[k].Type
		if typ.Kind != cst.KindArray {
			r.args = append(r.args, u.value(typ))
			continue
		}
		scalars := u.slots
		if m := matrices[0]; m.slots > 0 {
			if r.row, err = r.trace.row(r.row[:0], m.number, r.shape.number, r.position, r.rank, m.slots); err != nil {
				return 0, nil, err
			}
			u.slots = r.row
		}
		matrices = matrices[1:]
		r.args = append(r.args, u.value(typ))
		u.slots = scalars
	}
	r.elements = u.elems
	return s.function, r.args, nil
}

// readSlots sets r.slots to those of s that are in no array.
func (r *rankReader) readSlots(s *signatureTemplate) error {
	r.slots, r.grouped = r.slots[:0], false
	for i := range s.slots {
		x := &s.slots[i]
		v := x.value
		switch x.written {
		case writtenShift:
			v += int64(r.rank)
		case writtenColumn:
			var err error
			if v, err = r.column(x.value); err != nil {
				return err
			}
		case writtenGroup:
			of, err := r.column(x.value)
			if err != nil {
				return err
			}
			size, err := r.column(x.value + 1)
			if err != nil {
				return err
			}
			v = x.expr.Eval(of, size)
			if min(of, size) >= 0 && max(of, size) <= maxRanks {
				r.group, r.grouped = Group{int(of), int(size)}, true
			}
		case writtenExpr:
			v = x.expr.Eval(int64(r.rank), int64(r.trace.run.Ranks))
		}
		r.slots = append(r.slots, v)
	}
	return nil
}

// column returns the value of a stored column.
func (r *rankReader) column(n int64) (int64, error) {
	return r.trace.columnValue(int(n), r.shape.number, r.position, r.rank)
}

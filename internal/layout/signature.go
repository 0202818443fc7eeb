package layout

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Formula yields the values of a slot: an expression of the rank in the run or,
// if it is grouped, of the rank in the group that the call names.
type Formula struct {
	rankenc.Expr
	Grouped bool
}

// String returns e as text, such as (rank+1) mod N in group.
func (e Formula) String() string { return e.Expr.String() + e.of() }

// Form returns the form of e, such as (rank+c) mod N in group.
func (e Formula) Form() string {
	form, _ := e.Expr.Form()
	return form + e.of()
}

func (e Formula) of() string {
	if e.Grouped {
		return " in group"
	}
	return ""
}

// A Template is a signature with what is looked up of a rank.
type Template struct {
	Function int
	Lengths  []int   // of arrays
	Values   []Value // that are in no array
	Arrays   []Array // of the parameters that are arrays
	Streams  uint64  // bit k: slot k has the number of a stream
}

// A Value is how a slot is written.
type Value struct {
	How    int64         // Constant and so on
	Number int64         // the constant, what is added to the rank, or the number of a column
	Expr   *rankenc.Expr // of an Expression and InGroup
}

// An Array says which matrix has the slots of an array, if there are any.
type Array struct{ Column, Slots int }

// Mask returns which slots of signature n have streams.
func (t *Table) Mask(n int) uint64 {
	return t.Groups[t.Functions[n]].mask(int(t.indexes[n]))
}

// Template sets s to the template of signature n, in the memory that s has.
func (t *Table) Template(s *Template, n int) {
	f, i := int(t.Functions[n]), int(t.indexes[n])
	g := &t.Groups[f]
	*s = Template{
		Function: f, Values: slices.Grow(s.Values[:0], g.Scalars), Arrays: s.Arrays[:0], Streams: g.mask(i),
	}
	if g.starts != nil {
		s.Lengths = g.lengths[g.starts[i]:g.starts[i+1]]
	}
	rest := s.Lengths
	for k, p := range t.declared[f].Params {
		r := &g.Params[k]
		if p.Type.Kind != cst.KindArray {
			for j := range r.Slots {
				s.Values = append(s.Values, r.Slots[j].template(i))
			}
			continue
		}
		m := Array{}
		if m.Slots, _ = CountSlots(0, p.Type, &rest); m.Slots > 0 {
			m.Column = int(r.Matrices.At(int(r.Index[i])))
		}
		s.Arrays = append(s.Arrays, m)
	}
}

// Slot returns a function that yields what Template does for a slot that is in no array, of signatures of
// the same function as signature n, without the other slots.
func (t *Table) Slot(n, slot int) func(n int) Value {
	f := int(t.Functions[n])
	for k, p := range t.declared[f].Params {
		if p.Type.Kind == cst.KindArray {
			continue
		}
		slots := t.Groups[f].Params[k].Slots
		if slot < len(slots) {
			return func(n int) Value { return slots[slot].template(int(t.indexes[n])) }
		}
		slot -= len(slots)
	}
	panic("layout: no such slot")
}

// How a slot of a signature is written.
const (
	Constant int64 = iota
	Shift
	Column     // the number of a column
	InGroup    // an expression of the rank in a group; the number of the column with that
	Expression // another expression
)

// Stored returns how many values of a rank s needs that are stored in columns, and how
// many rows of matrices.
func (s *Template) Stored() (scalars, rows int) {
	for i := range s.Values {
		scalars += s.Values[i].stored()
	}
	for _, a := range s.Arrays {
		rows += min(a.Slots, 1)
	}
	return scalars, rows
}

// stored returns how many values of columns v needs.
func (v *Value) stored() int {
	switch v.How {
	case Column:
		return 1
	case InGroup:
		return 2 // the rank in the group, and its size
	}
	return 0
}

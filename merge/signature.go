package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// A signature is a call as the trace has it: with a closed form, or a column of
// values, in every slot. It stands for one terminal of each of several shapes.
type signature struct {
	*form
	uses   []use          // in ascending order of the shapes
	fits   []fits         // of each slot
	others *[]slotFormula // nil means none
}

// A use is a terminal of a shape.
type use struct {
	shape    int32
	terminal uint32
}

// Fits are the expressions that yield the values of a slot, in the order in which
// they are preferred. There may be many slots, and most have one value, so that
// those which follow from the first value that a use has there are not stored.
type fits uint8

const (
	fitsConstant   fits = 1 << iota
	fitsShift           // of the rank in the run
	fitsRing            // the same, where the first rank follows the last one
	fitsOther           // a slotFormula that is not grouped
	fitsGroupShift      // of the rank in the group
	fitsGroupOther      // a slotFormula that is grouped
)

// isGrouped reports whether the expression that is preferred is of the rank in the
// group.
func (f fits) isGrouped() bool { return f != 0 && f&-f >= fitsGroupShift }

// A slotFormula is an expression that is stored for a slot.
type slotFormula struct {
	slot int
	layout.Formula
}

// store stores an expression for a slot.
func (x *signature) store(slot int, e layout.Formula) {
	if x.others == nil {
		x.others = new([]slotFormula)
	}
	*x.others = append(*x.others, slotFormula{slot, e})
}

// other returns the expression stored for a slot that is grouped, or not.
func (x *signature) other(slot int, grouped bool) layout.Formula {
	i := slices.IndexFunc(*x.others, func(o slotFormula) bool { return o.slot == slot && o.Grouped == grouped })
	return (*x.others)[i].Formula
}

// ShapeColumns reads the columns of the terminals of shapes.
type shapeColumns struct {
	shapes []*shape
	begins [][]int // of the columns of each terminal, for each shape
	size   int64   // of the run, in ranks
	reader columnReader
}

func newShapeColumns(shapes []*shape, size int) *shapeColumns {
	c := &shapeColumns{shapes: shapes, size: int64(size), begins: make([][]int, len(shapes))}
	for i, s := range shapes {
		c.begins[i] = s.begins()
	}
	return c
}

// of returns the columns of the slots of a terminal, which hold until columns are
// asked for again.
func (c *shapeColumns) of(u use) []column {
	begins := c.begins[u.shape]
	return c.reader.columns(c.shapes[u.shape], begins[u.terminal], begins[u.terminal+1])
}

// slot returns the column of a slot of a terminal, which holds until columns are
// asked for again.
func (c *shapeColumns) slot(u use, slot int) *column {
	return c.reader.column(c.shapes[u.shape], c.begins[u.shape][u.terminal]+slot)
}

// first returns the first run of the column of a slot.
func (c *shapeColumns) first(u use, slot int) run {
	s, k := c.shapes[u.shape], c.begins[u.shape][u.terminal]+slot
	if len(s.values) > 0 {
		return run{0, s.ranks[0].first, s.values[k], 0}
	}
	if len(s.rows) > 0 {
		return run{0, s.ranks[0].first, s.rows[0].at(k), 0}
	}
	return s.columns[k].begin()
}

// formula returns one of those that fit a slot of x.
func (c *shapeColumns) formula(x *signature, slot int, which fits) layout.Formula {
	switch which {
	case fitsOther, fitsGroupOther:
		return x.other(slot, which == fitsGroupOther)
	case fitsConstant:
		return layout.Formula{Expr: rankenc.Constant(c.first(x.uses[0], slot).first), Grouped: false}
	case fitsShift:
		r := c.first(x.uses[0], slot)
		return layout.Formula{Expr: rankenc.Shift(r.first - int64(r.rank)), Grouped: false}
	case fitsRing:
		r := c.first(x.uses[0], slot)
		return layout.Formula{Expr: rankenc.Ring(r.first-int64(r.rank), c.size), Grouped: false}
	}
	group := c.first(x.uses[0], x.slots-groupSlots)
	return layout.Formula{Expr: rankenc.Shift(c.first(x.uses[0], slot).first - group.first), Grouped: true}
}

// preferred returns the formula of a slot of x that is preferred, and whether there
// is one.
func (c *shapeColumns) preferred(x *signature, slot int) (layout.Formula, bool) {
	f := x.fits[slot]
	if f == 0 {
		return layout.Formula{}, false
	}
	return c.formula(x, slot, f&-f), true
}

// constant returns the value of a slot of x if no other expression fits it.
func (c *shapeColumns) constant(x *signature, slot int) (int64, bool) {
	if x.fits[slot] == fitsConstant {
		return c.first(x.uses[0], slot).first, true
	}
	return 0, false
}

// A signatureAllocator makes signatures many at a time.
type signatureAllocator struct {
	signatures []signature
	uses       []use
	fits       []fits
}

// signature returns one without expressions that has one use.
func (a *signatureAllocator) signature(f *form, at use) *signature {
	const together = 256
	if len(a.signatures) == 0 {
		a.signatures, a.uses = make([]signature, together), make([]use, together)
	}
	if len(a.fits) < f.slots {
		a.fits = make([]fits, together*f.slots)
	}
	x := &a.signatures[0]
	*x = signature{form: f, uses: append(a.uses[:0:1], at), fits: a.fits[:f.slots:f.slots]}
	a.signatures, a.uses, a.fits = a.signatures[1:], a.uses[1:], a.fits[f.slots:]
	return x
}

package merge

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A unifier gathers the signatures of shapes, the shapes of most ranks first.
type unifier struct {
	size       int64 // of the run, in ranks
	functions  []cst.Function
	layouts    [][]layout.SlotKind // of the functions that have no arrays, as far as known
	grouped    [][]layout.SlotKind // the same, with a group
	columns    *shapeColumns
	signatures []*signature
	byFunction map[int]*index
	key        []byte
	fitter     *fitter    // of the shape that is added, once it is needed
	yields     slotYields // of expressions
}

// An index finds the signatures of one function that a terminal may have: those
// that have the same constants.
type index struct {
	masks  []uint64 // of the slots that are constants, in order of first occurrence
	byMask map[uint64]map[string]*candidates
}

// Candidates are signatures with the same constants in the same slots.
type candidates struct {
	all  []*signature
	next int // after the one found last: terminals of shapes go in similar order
}

// maxTries is how many candidates are compared with one terminal.
const maxTries = 256

// maxMasked is the number of slots of which an index looks at constants.
const maxMasked = 64

// unify returns the signatures of shapes, each once, where it has the same
// expressions in all of them. Slots that no expression fits are left to be
// columns over the ranks of all uses. There are fewer if ctx is done.
func unify(ctx context.Context, columns *shapeColumns, functions []cst.Function, size int) []*signature {
	shapes := columns.shapes
	u := unifier{size: int64(size), functions: functions, layouts: make([][]layout.SlotKind, len(functions)),
		grouped: make([][]layout.SlotKind, len(functions)), columns: columns, byFunction: make(map[int]*index),
		yields: make(slotYields)}
	order := make([]int, len(shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return shapes[j].ranks.len() - shapes[i].ranks.len() })
	for n, i := range order {
		known := len(u.signatures)
		u.add(ctx, i)
		if n+1 < len(order) {
			for _, x := range u.signatures[known:] {
				u.index(x)
			}
		}
	}
	for _, s := range u.signatures {
		slices.SortFunc(s.uses, func(a, b use) int { return int(a.shape) - int(b.shape) })
	}
	return u.signatures
}

// add adds the signatures of a shape.
func (u *unifier) add(ctx context.Context, number int) {
	var together signatureAllocator
	u.fitter = nil
	forms := u.columns.shapes[number].forms
	if u.signatures == nil {
		u.signatures = make([]*signature, 0, len(forms))
	}
	for t := range forms {
		f := &forms[t]
		if ctx.Err() != nil {
			return
		}
		at := use{int32(number), uint32(t)}
		columns := u.columns.of(at)
		if u.join(at, f, columns) {
			continue
		}
		x := together.signature(f, at)
		u.fit(x, columns)
		u.signatures = append(u.signatures, x)
	}
}

// layout returns the meaning of the slots of f.
func (u *unifier) layout(f *form) []layout.SlotKind {
	if len(f.lengths) > 0 {
		return f.layout(u.functions)
	}
	known := &u.layouts[f.function]
	if f.grouped {
		known = &u.grouped[f.function]
	}
	if *known == nil {
		*known = f.layout(u.functions)
	}
	return *known
}

// index makes x known as a candidate.
func (u *unifier) index(x *signature) {
	list := u.byFunction[x.function]
	if list == nil {
		list = &index{byMask: make(map[uint64]map[string]*candidates)}
		u.byFunction[x.function] = list
	}
	var mask uint64
	u.key = u.key[:0]
	for k := range min(len(x.fits), maxMasked) {
		if v, ok := u.columns.constant(x, k); ok {
			mask |= 1 << k
			u.key = wire.AppendVarint(u.key, v)
		}
	}
	if list.byMask[mask] == nil {
		list.masks = append(list.masks, mask)
		list.byMask[mask] = make(map[string]*candidates)
	}
	c := list.byMask[mask][string(u.key)]
	if c == nil {
		c = new(candidates)
		list.byMask[mask][string(u.key)] = c
	}
	c.all = append(c.all, x)
}

// candidates returns the signatures that have the constants which columns have
// in the slots of a mask, or nil if there are none.
func (u *unifier) candidates(list *index, mask uint64, columns []column) *candidates {
	u.key = u.key[:0]
	for k := range min(len(columns), maxMasked) {
		if mask>>k&1 == 0 {
			continue
		}
		v, constant := columns[k].constant()
		if !constant {
			return nil
		}
		u.key = wire.AppendVarint(u.key, v)
	}
	return list.byMask[mask][string(u.key)]
}

// fit finds the expressions that yield the values of the slots of x, which has one
// use, with these columns: of the rank in the run and, if x has a group, of the rank
// in that.
func (u *unifier) fit(x *signature, columns []column) {
	s := u.columns.shapes[x.uses[0].shape]
	var streams []int
	for _, slot := range x.streamSlots(u.functions) {
		streams = append(streams, slot)
	}
	for k, kind := range u.layout(x.form) {
		fit, e := u.fitRun(s, &columns[k], kind, slotOf{x.function, k})
		if fit == fitsOther {
			x.store(k, layout.Formula{Expr: e, Grouped: false})
		}
		if x.grouped && !slices.Contains(streams, k) {
			group, e := fitGroup(s, columns, k, kind, fit != 0)
			if group == fitsGroupOther {
				x.store(k, layout.Formula{Expr: e, Grouped: true})
			}
			fit |= group
		}
		x.fits[k] = fit
	}
}

// fitRun returns which expressions of the rank in the run each yield the values of a
// column of s: none, or one, or several if there is one value that may be constant or
// go with the rank. Expr is the one that must be stored, if there is one.
func (u *unifier) fitRun(s *shape, c *column, kind layout.SlotKind, at slotOf) (
	fit fits, expr rankenc.Expr,
) {
	if kind == layout.GroupRank || kind == layout.GroupSize {
		return 0, expr // what they are depends on who uses them
	}
	if r := c.last; c.single() {
		switch {
		case s.ranks.len() == 1 && r.first >= 0 && (kind == layout.Rank || kind == layout.Text):
			fit = fitsConstant | fitsShift
			if kind == layout.Rank && r.first < u.size {
				fit |= fitsRing
			}
			return fit, expr
		case s.ranks.len() == 1 || r.step == 0:
			return fitsConstant, expr
		case r.step == 1 && r.first >= 0:
			if kind == layout.Rank && r.at(s.ranks.last()) < u.size {
				return fitsShift | fitsRing, expr
			}
			return fitsShift, expr
		}
	}
	if kind&layout.Element != 0 {
		return 0, expr // arrays are stored as they are
	}
	if u.fitter == nil {
		u.fitter = newFitter(s, u.size)
	}
	e, ok := u.fitter.fit(c, kind, u.yields.at(at))
	if !ok {
		return 0, expr
	}
	return fitsOther, e
}

// join adds a use to a signature that has the same expressions, and reports
// whether there is one. Of several it takes the one with the fewest slots that
// are columns.
func (u *unifier) join(x use, f *form, columns []column) bool {
	list := u.byFunction[f.function]
	if list == nil {
		return false
	}
	var best *signature
	least := -1
	for _, mask := range list.masks {
		c := u.candidates(list, mask, columns)
		if c == nil {
			continue
		}
		for i := range min(len(c.all), maxTries) {
			at := (c.next + i) % len(c.all)
			s := c.all[at]
			if !s.form.equal(*f) || s.uses[len(s.uses)-1].shape == x.shape {
				continue
			}
			irregular, ok := u.matches(s, columns, u.columns.shapes[x.shape])
			if ok && (least < 0 || irregular < least) {
				best, least = s, irregular
				c.next = at + 1
			}
			if least == 0 {
				break
			}
		}
		if least == 0 {
			break
		}
	}
	if best == nil {
		return false
	}
	best.uses = append(best.uses, x)
	u.narrow(best, columns, u.columns.shapes[x.shape])
	return true
}

// matches reports whether x has an expression that yields the values of columns
// in every slot that has any, and the number of its slots that have none.
func (u *unifier) matches(x *signature, columns []column, s *shape) (irregular int, ok bool) {
	for k := range columns {
		if x.fits[k] == 0 {
			if !x.grouped || k < len(columns)-groupSlots {
				irregular++
			}
			continue
		}
		if u.fitting(x, k, columns, s) == 0 {
			return 0, false
		}
	}
	return irregular, true
}

// fitting returns which of the expressions of a slot of x yield the values of the
// column there.
func (u *unifier) fitting(x *signature, slot int, columns []column, s *shape) fits {
	var fitting fits
	for left := x.fits[slot]; left != 0; left &= left - 1 {
		which := left & -left
		if e := u.columns.formula(x, slot, which); yields(e, &columns[slot], columns, s.ranks, u.size) {
			fitting |= which
		}
	}
	return fitting
}

// narrow removes the expressions of x that do not yield the values of columns.
func (u *unifier) narrow(x *signature, columns []column, s *shape) {
	for k := range columns {
		if x.fits[k] != 0 {
			x.fits[k] = u.fitting(x, k, columns, s)
		}
	}
}

// satisfies reports whether the values of c are those of e.
func (c *column) satisfies(e rankenc.Expr, ranks spans, size int64) bool {
	if r := c.begin(); e.Eval(int64(r.rank), size) != r.first {
		return false
	}
	if c.single() {
		if _, ok := e.Constant(); ok {
			return c.last.step == 0
		}
		if _, ok := e.Shift(); ok {
			return c.last.step == 1 || ranks.len() == 1
		}
	}
	v := c.values()
	for _, p := range ranks {
		for r := int(p.first); r <= int(p.last); r++ {
			if e.Eval(int64(r), size) != v.at(int(p.position)+r-int(p.first), r) {
				return false
			}
		}
	}
	return true
}

package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
)

// A signature is a call as the trace has it: with a closed form, or a column of
// values, in every slot. It stands for one terminal of each of several shapes.
type signature struct {
	form
	uses  []use // in ascending order of the shapes
	slots [][]rankenc.Expr
}

// A use is a terminal of a shape.
type use struct {
	shape    int
	terminal int
}

// A unifier gathers the signatures of shapes, the shapes of most ranks first.
type unifier struct {
	size       int64 // of the run, in ranks
	functions  []cst.Function
	shapes     []*shape
	signatures []*signature
	byFunction map[int]*candidates
}

// Candidates are the signatures of one function that a terminal of the next
// shape may have.
type candidates struct {
	all  []*signature
	next int // after the one found last: terminals of shapes go in similar order
}

// maxTries is how many signatures are compared with one terminal.
const maxTries = 256

// unify returns the signatures of shapes, each once, where it has the same
// expressions in all of them. Slots that no expression fits are left to be
// columns over the ranks of all uses.
func unify(shapes []*shape, functions []cst.Function, size int) []*signature {
	u := unifier{int64(size), functions, shapes, nil, make(map[int]*candidates)}
	order := make([]int, len(shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return shapes[j].ranks.len() - shapes[i].ranks.len() })
	for _, i := range order {
		u.add(i)
	}
	for _, s := range u.signatures {
		slices.SortFunc(s.uses, func(a, b use) int { return a.shape - b.shape })
	}
	return u.signatures
}

// add adds the signatures of a shape.
func (u *unifier) add(number int) {
	s := u.shapes[number]
	begins := s.begins()
	known := len(u.signatures)
	for t, f := range s.forms {
		columns := s.columns[begins[t]:begins[t+1]]
		if u.join(use{number, t}, f, columns) {
			continue
		}
		x := &signature{form: f, uses: []use{{number, t}}, slots: make([][]rankenc.Expr, f.slots)}
		for k, kind := range f.layout(u.functions) {
			x.slots[k] = u.fit(s, columns[k], kind)
		}
		u.signatures = append(u.signatures, x)
	}
	for _, x := range u.signatures[known:] {
		c := u.byFunction[x.function]
		if c == nil {
			c = new(candidates)
			u.byFunction[x.function] = c
		}
		c.all = append(c.all, x)
	}
}

// layout returns the meaning of the slots of f.
func (f form) layout(functions []cst.Function) []slot {
	kinds := make([]slot, 0, f.slots)
	lengths := f.lengths
	for _, p := range functions[f.function].Params {
		kinds = layout(kinds, p.Type, &lengths)
	}
	return kinds
}

// fit returns expressions that each yield the values of a column of s: none, or
// one, or two if there is one value, which may be constant or go with the rank.
func (u *unifier) fit(s *shape, c column, kind slot) []rankenc.Expr {
	if len(c) == 1 {
		first, shift := rankenc.Constant(c[0].first), rankenc.Shift(c[0].first-int64(c[0].rank))
		switch {
		case s.ranks.len() == 1 && c[0].first >= 0:
			return []rankenc.Expr{first, shift}
		case s.ranks.len() == 1 || c[0].step == 0:
			return []rankenc.Expr{first}
		case c[0].step == 1 && c[0].first >= 0:
			return []rankenc.Expr{shift}
		}
	}
	if kind&slotElement != 0 {
		return nil // arrays are stored as they are
	}
	domain := rankenc.Over(s.ranks.set(), u.size)
	e, ok := rankenc.Fit(domain, c.appendValues(nil, s.ranks), rankenc.Options{Ranks: kind == slotRank})
	if !ok {
		return nil
	}
	return []rankenc.Expr{e}
}

// join adds a use to a signature that has the same expressions, and reports
// whether there is one. Of several it takes the one with the fewest slots that
// are columns.
func (u *unifier) join(x use, f form, columns []column) bool {
	list := u.byFunction[f.function]
	if list == nil {
		return false
	}
	var (
		best  int
		slots [][]rankenc.Expr
		least = -1
	)
	for i := range min(len(list.all), maxTries) {
		at := (list.next + i) % len(list.all)
		s := list.all[at]
		if !s.form.equal(f) || s.uses[len(s.uses)-1].shape == x.shape {
			continue
		}
		common, irregular, ok := u.common(s, columns, u.shapes[x.shape])
		if ok && (least < 0 || irregular < least) {
			best, slots, least = at, common, irregular
		}
		if least == 0 {
			break
		}
	}
	if least < 0 {
		return false
	}
	s := list.all[best]
	s.uses, s.slots = append(s.uses, x), slots
	list.next = best + 1
	return true
}

// common returns the expressions of x that yield the values of columns, too, and
// the number of slots of x that are columns themselves.
func (u *unifier) common(x *signature, columns []column, s *shape) (common [][]rankenc.Expr, irregular int, ok bool) {
	common = make([][]rankenc.Expr, len(columns))
	for k, c := range columns {
		if len(x.slots[k]) == 0 {
			irregular++
			continue
		}
		for _, e := range x.slots[k] {
			if c.satisfies(e, s.ranks, u.size) {
				common[k] = append(common[k], e)
			}
		}
		if len(common[k]) == 0 {
			return nil, 0, false
		}
	}
	return common, irregular, true
}

// satisfies reports whether the values of c are those of e.
func (c column) satisfies(e rankenc.Expr, ranks spans, size int64) bool {
	if e.Eval(int64(c[0].rank), size) != c[0].first {
		return false
	}
	if len(c) == 1 {
		if _, ok := e.Constant(); ok {
			return c[0].step == 0
		}
		if _, ok := e.Shift(); ok {
			return c[0].step == 1 || ranks.len() == 1
		}
	}
	v := values{column: c}
	for _, p := range ranks {
		for r := int(p.first); r <= int(p.last); r++ {
			if e.Eval(int64(r), size) != v.at(int(p.position)+r-int(p.first), r) {
				return false
			}
		}
	}
	return true
}

package extrapolate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A call is a call with its arguments.
type call struct {
	fn      int
	slots   uint64 // that advance
	args    []*argument
	group   [2]form
	grouped bool
}

// An argument is one, or an element of an array.
type argument struct {
	kind     cst.Kind
	constant cst.Value // of floats, strings and bytes, and of arrays of arrays
	text     numbered  // a string that differs in numbers
	numbers  []form
	length   form // of an array
	rule     *argument
	elements []*argument
}

// nearestValue returns the value of the largest trace that is nearest to the middle of its ranks.
func (f *programFitter) nearestValue(what string, at []*point, values []cst.Value) cst.Value {
	best := 0
	for i, p := range at {
		if p.ranks > at[best].ranks {
			best = i
		}
	}
	if slices.ContainsFunc(values, func(v cst.Value) bool { return !v.Equal(values[0]) }) {
		f.varied[what] = true
	}
	return values[best]
}

// A programFitter fits what the places of a class have.
type programFitter struct {
	*solver
	class   *class
	path    []*place // to where it fails
	done    int
	lenient lenience // whether it must follow from the traces

	site int64 // of the call that is fitted, or with which a loop begins; 0 if the traces have none
}

func (f *programFitter) body(body []*place) (first *failure) {
	for _, p := range body {
		f.path = append(f.path, p)
		var failed *failure
		if p.loop {
			if failed = f.body(p.body); failed == nil {
				failed = f.loop(p)
			}
		} else {
			failed = f.call(p)
		}
		if failed != nil {
			failed.depth += f.done
			if !f.learns() {
				return failed
			}
			if first == nil { // what comes then may be known, and tell what this is
				first = failed
			}
		}
		f.done++
		f.path = f.path[:len(f.path)-1]
	}
	return first
}

func (f *programFitter) fail(what string) *failure { return &failure{f.class.name, what, 2} }

// points returns where a place is visited.
func points(p *place) []*point {
	all, list := make([]point, len(p.visits)), make([]*point, len(p.visits))
	for i := range p.visits {
		v, at := &p.visits[i], &all[i]
		*at = v.rank.point
		at.rounds = v.rounds
		if !p.loop {
			at.own, at.size = v.rank.inCommunicator(v.value)
		}
		list[i] = at
	}
	return list
}

func (f *programFitter) loop(p *place) (failed *failure) {
	values := make([]int64, 0, len(p.visits))
	for _, v := range p.visits {
		values = append(values, int64(v.value))
	}
	if len(values) == 0 { // no rank comes there
		p.trips.exprs = []expr{{text: "0", constant: true, at: func(*point) (int64, bool) { return 0, true }}}
		return nil
	}
	first := p.firstCall()
	f.site = f.siteOf(first)
	what := fmt.Sprintf("the number of iterations of the loop of %s", f.name(first))
	p.trips, failed = f.form(what, points(p), values, p.depth, false, roleCount)
	if digits := func(e expr) bool {
		return e.binary
	}; slices.ContainsFunc(p.trips.exprs, digits) && halves(p.body, p.depth) {
		p.trips.exprs = slices.DeleteFunc(slices.Clone(p.trips.exprs), func(e expr) bool { return !e.binary })
	}
	if failed != nil && byRanks(p.trips.at, p.trips.values) > 2 && halves(p.body, p.depth) {
		p.trips.exprs = f.doublings(p.trips.at, p.trips.values)
		if len(p.trips.exprs) > 0 {
			failed = nil
		}
	}
	if is := func(e expr) bool {
		return strings.HasPrefix(e.text, "[")
	}; p.condition && slices.ContainsFunc(p.trips.exprs, is) {
		p.trips.exprs = slices.DeleteFunc(slices.Clone(p.trips.exprs), func(e expr) bool { return !is(e) })
	}
	return failed
}

// halves reports whether peers in a loop depend on a power of two of its iteration: it has as many as a number has
// digits.
func halves(body []*place, depth int) (found bool) {
	(&class{body: body}).numbers(func(_ *place, _ string, f *form) {
		for _, e := range f.exprs {
			found = found || f.role == roleRank && e.binary && e.uses&(1<<depth) != 0
		}
	})
	return found
}

// doublings returns how many iterations a loop has that doubles what it begins with, and which extents and roots are
// the same.
func (f *programFitter) doublings(at []*point, values []int64) (list []expr) {
	add := func(e expr) {
		if e.holds(at, values) {
			list = append(list, e)
		}
	}
	add(expr{text: "log2(N)", terms: terms{bits: 2, binary: true}, at: func(p *point) (int64, bool) {
		return log2(p.ranks), true
	}})
	add(expr{text: "log2(N), rounded up", terms: terms{bits: 3, binary: true}, at: func(p *point) (int64, bool) {
		return log2(2*p.ranks - 1), true
	}})
	if len(list) == 0 {
		return nil
	}
	for _, x := range slices.Concat(sizes(f.grid), f.foreign) {
		if !x.binary {
			add(expr{text: x.name, terms: x.terms, at: func(p *point) (int64, bool) { return x.of(p), true }})
		}
	}
	return list
}

// firstCall returns the call that a loop begins with, or a loop of no calls.
func (p *place) firstCall() *place {
	for p.loop && len(p.body) > 0 {
		p = p.body[0]
	}
	return p
}

// name returns the name of the function that is called at a place.
func (f *programFitter) name(p *place) string {
	if p.call == nil {
		return "no calls"
	}
	return f.declared.Functions()[p.call.fn].Name
}

// siteOf returns where in the program the call at a place is made, 0 if the traces do not say it.
func (f *programFitter) siteOf(p *place) int64 {
	if p.call == nil {
		return 0
	}
	i := layout.SiteOf(&f.declared.Functions()[p.call.fn])
	if i < 0 {
		return 0
	}
	v := p.visits[0]
	return v.rank.args[v.value][i].Int()
}

func (f *programFitter) call(p *place) (failed *failure) {
	at := points(p)
	if len(at) == 0 {
		p.call = nil
		return nil
	}
	first := p.visits[0]
	c := &call{fn: first.rank.fns[first.value], slots: first.rank.slots[first.value]}
	p.call = c
	f.site = f.siteOf(p)
	fn := &f.declared.Functions()[c.fn]
	for i, param := range fn.Params {
		values := make([]cst.Value, 0, len(at))
		for _, v := range p.visits {
			values = append(values, v.rank.args[v.value][i])
		}
		number := roleCount
		switch {
		case isGrid(fn.Name, param.Name):
			number = roleGrid
		case isSite(param):
			number = roleSite
		}
		if a := f.sumsBefore(c, p, i); a != nil {
			c.args = append(c.args, a)
			continue
		}
		f.lenient = f.solver.lenient(param)
		a, failed := f.argument(param.Name+" of "+fn.Name, param.Type, number, at, values, p.depth, false)
		f.lenient = strict
		if failed != nil {
			return failed
		}
		c.args = append(c.args, a)
	}
	var own, sizes []int64
	for _, v := range p.visits {
		if g, ok := v.rank.groups[uint32(v.value)]; ok {
			own, sizes = append(own, int64(g.Rank)), append(sizes, int64(g.Size))
		}
	}
	if c.grouped = len(own) == len(at); c.grouped {
		if c.group[0], failed = f.form("the rank in the group of "+fn.Name, at, own, p.depth, false,
			roleRank); failed != nil {
			return failed
		}
		c.group[1], failed = f.form("the size of the group of "+fn.Name, at, sizes, p.depth, false, roleGroup)
	}
	return failed
}

// isGrid reports whether elements of an array are extents of a grid.
func isGrid(function, parameter string) bool {
	switch function {
	case "MPI_Cart_create":
		return parameter == "dims"
	case "MPI_Dims_create":
		return parameter == "dims_out" // the input are wishes
	}
	return false
}

// argument fits an argument by its values: number is the role of those that are plain numbers.
func (f *programFitter) argument(what string, t cst.Type, number role, at []*point, values []cst.Value,
	depth int, array bool) (*argument, *failure) {
	a := &argument{kind: t.Kind}
	add := func(what string, as role, of func(v cst.Value) int64) *failure {
		list := make([]int64, 0, len(values))
		for _, v := range values {
			list = append(list, of(v))
		}
		fitted, failed := f.form(what, at, list, depth, array, as)
		a.numbers = append(a.numbers, fitted)
		return failed
	}
	switch t.Kind {
	case cst.KindInt:
		return a, add(what, number, cst.Value.Int)
	case cst.KindRank:
		return a, add(what, roleRank, cst.Value.Int)
	case cst.KindTag, cst.KindHandle:
		switch {
		case t.Class == "request":
			return a, add(what, roleRequest, cst.Value.Int)
		case number == roleSite:
			return a, add(what, roleSite, cst.Value.Int)
		}
		return a, add(what, roleLabel, cst.Value.Int)
	case cst.KindPointer:
		for i, part := range []string{"segment of ", "displacement of ", "device of "} {
			failed := add(part+what, roleLabel, func(v cst.Value) int64 {
				p := v.Pointer()
				return [...]int64{p.Segment, p.Displacement, p.Device}[i]
			})
			if failed != nil {
				return nil, failed
			}
		}
		return a, nil
	case cst.KindStatus:
		for i, part := range []string{"source in ", "tag in ", "error in "} {
			failed := add(part+what, [...]role{roleRank, roleLabel, roleLabel}[i], func(v cst.Value) int64 {
				s := v.Status()
				return [...]int64{s.Source, s.Tag, s.Error}[i]
			})
			if failed != nil {
				return nil, failed
			}
		}
		return a, nil
	case cst.KindArray:
		if !array {
			return a, f.array(a, what, t, number, at, values, depth)
		}
	}
	for i, v := range values {
		if !v.Equal(values[0]) && f.lenient == ignored {
			a.constant = f.nearestValue(what, at, values)
			return a, nil
		}
		if !v.Equal(values[0]) {
			if t.Kind == cst.KindString {
				if a, failed := f.text(what, at, values, depth, array); a != nil || failed != nil {
					return a, failed
				}
			}
			return nil, f.fail(fmt.Sprintf("%s: %v on rank %d of %d and %v on rank %d of %d", what,
				short(values[0]), at[0].rank, at[0].ranks, short(v), at[i].rank, at[i].ranks))
		}
	}
	a.constant = values[0]
	return a, nil
}

func short(v cst.Value) string {
	const most = 40
	text := v.String()
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}

// maxElements is how long an array may be whose elements are fitted one by one.
const maxElements = 1024

// array fits an array: by one rule for its elements, or element by element.
func (f *programFitter) array(a *argument, what string, t cst.Type, number role, at []*point,
	values []cst.Value, depth int) (failed *failure) {
	lengths := make([]int64, 0, len(values))
	for _, v := range values {
		lengths = append(lengths, int64(v.Len()))
	}
	if a.length, failed = f.form("the length of "+what, at, lengths, depth, false, roleCount); failed != nil {
		return failed
	}
	if slices.Max(lengths) == 0 {
		return nil
	}
	if t.Elem.Kind == cst.KindString && f.lenient == ignored {
		a.constant = f.nearestValue(what, at, values)
		return nil
	}
	var elements []cst.Value
	var where []*point
	for i, v := range values {
		for k := range v.Len() {
			p := *at[i]
			p.index = int64(k)
			where, elements = append(where, &p), append(elements, v.Index(k))
		}
	}
	if a.rule, failed = f.argument("elements of "+what, *t.Elem, number, where, elements, depth, true); failed == nil {
		return nil
	}
	a.rule = nil
	if slices.Max(lengths) != slices.Min(lengths) || lengths[0] > maxElements {
		return failed
	}
	for k := range int(lengths[0]) {
		elements := elements[:0]
		for _, v := range values {
			elements = append(elements, v.Index(k))
		}
		e, failed := f.argument(fmt.Sprintf("element %d of %s", k, what), *t.Elem, number, at, elements, depth, true)
		if failed != nil {
			return failed
		}
		a.elements = append(a.elements, e)
	}
	return nil
}

package extrapolate

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A form is what a number is on other ranks.
type form struct {
	exprs []expr // of fewest terms; they must agree

	// It depends on the number of ranks, of which there are two: anything else of one coefficient would be another
	// line through two points.
	weak bool

	what string // that it is a number of
	role role

	lenient lenience // whether it must follow from the traces

	site  int64  // of the call that it is of, 0 if the traces have none
	depth int    // loops around
	array bool   // it is of an element
	open  string // why it is not decided, empty if it is
	most  string // which traces it does not fit, empty if it fits all

	positive bool // it is not negative in all traces
	inside   bool // it is less than the number of ranks in all traces

	at     []*point // where it is known, and what it is there
	values []int64
}

// nearest returns where a form is known that is next to a point: in the largest trace, on the rank that is
// next.
func (f *form) nearest(p *point) (at *point, value int64) {
	further := func(a, b *point) bool {
		if a.ranks != b.ranks {
			return a.ranks < b.ranks
		}
		if x, y := abs(a.rank-p.rank), abs(b.rank-p.rank); x != y {
			return x > y
		}
		for d := range p.rounds {
			if x, y := abs(a.rounds[d]-p.rounds[d]), abs(b.rounds[d]-p.rounds[d]); x != y {
				return x > y
			}
		}
		return abs(a.index-p.index) > abs(b.index-p.index)
	}
	for i, q := range f.at {
		if at == nil || further(at, q) {
			at, value = q, f.values[i]
		}
	}
	return at, value
}

// uses returns the loops that a form depends on.
func (f *form) uses() (uses uint) {
	for _, e := range f.exprs {
		uses |= e.uses
	}
	return uses
}

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
	list := make([]*point, 0, len(p.visits))
	for _, v := range p.visits {
		at := v.rank.point
		at.rounds = v.rounds
		list = append(list, &at)
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
		if isGrid(fn.Name, param.Name) {
			number = roleGrid
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
		if t.Class == "request" {
			return a, add(what, roleRequest, cst.Value.Int)
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

// form fits a number.
func (f *programFitter) form(what string, at []*point, values []int64, depth int, array bool, as role) (form,
	*failure) {
	r := form{what: what, role: as, site: f.site, depth: depth, array: array, at: at, values: values}
	scales := !as.is(roleRank, roleLabel, roleRequest) // it may grow with the number of ranks if it does not show it
	r.inside, r.positive = !scales, true
	for i, p := range at {
		r.inside = r.inside && values[i] < p.ranks
		r.positive = r.positive && values[i] >= 0
	}
	key := fmt.Sprint(f.site, depth, as, what)
	if f.learns() && !f.asks(key) {
		return r, nil
	}
	r.exprs = f.fit(at, values, depth, array, as)
	if len(r.exprs) == 0 && as == roleRequest {
		if at, values := f.apartNeighbours(at, values); byRanks(at, values) > 1 {
			r.exprs = f.fit(at, values, depth, array, as)
		}
	}
	single := !f.class.one && ofOneRun(at) && len(f.ranks) > 2 // ranks of other traces do not come there
	one := (f.class.one || single) && len(r.exprs) > 0 && r.exprs[0].ofOneRun(scales, values[0], single)
	if f.site != 0 {
		f.share(&r, key, at, values, one)
	}
	if r.lenient = f.lenient; f.lenient == perRanks && byRanks(at, values) < 2 {
		r.lenient = strict
	}
	if len(r.exprs) == 0 && f.solver.nearest && r.lenient == strict {
		r.exprs, r.most = f.fitMost(at, values, depth, array, as)
	}
	if len(r.exprs) == 0 && (f.solver.nearest || r.lenient != strict) {
		return r, nil
	}
	if len(r.exprs) == 0 {
		more := ""
		if byRanks(at, values) == 2 {
			more = ": a third number of ranks would decide"
		}
		return r, f.fail(fmt.Sprintf("%s has no expression: %s%s", what, some(at, values), more))
	}
	r.weak = !r.exprs[0].constant && byRanks(at, values) == 2
	switch e := &r.exprs[0]; {
	case !one || !e.ofOneRun(scales, values[0], single):
	case e.constant:
		r.open = fmt.Sprintf(" is %d in the only trace that has it: another trace would decide", values[0])
	default:
		r.open = fmt.Sprintf(" is %s in the only trace that has it: another trace would decide", e.text)
	}
	return r, nil
}

// maxOfOneRun is how long expressions are that are known of one number of ranks alone: neighbours, and what has no
// number that may depend on that.
const maxOfOneRun = 2

// ofOneRun reports whether an expression, of a first value, may be another one if only one number of ranks shows it:
// in a class that has others, also what is no constant.
func (e *expr) ofOneRun(scales bool, value int64, single bool) bool {
	if e.constant {
		return scales && abs(value) > 1
	}
	return single && e.bits > maxOfOneRun
}

// ofOneRun reports whether all points are of one number of ranks.
func ofOneRun(at []*point) bool {
	return !slices.ContainsFunc(at, func(p *point) bool { return p.ranks != at[0].ranks })
}

// fitMost returns the expressions of a number that fit the most traces, and which of them they do not fit.
func (f *programFitter) fitMost(at []*point, values []int64, depth int, array bool, as role) (best []expr, but string) {
	left := slices.Clone(f.ranks[:len(f.ranks)-1])
	for len(left) > 1 && len(best) == 0 {
		worst := 0
		for i := range left {
			without := slices.Delete(slices.Clone(left), i, i+1)
			var points []*point
			var of []int64
			for k, p := range at {
				if slices.Contains(without, p.ranks) {
					points, of = append(points, p), append(of, values[k])
				}
			}
			if len(points) == 0 {
				continue
			}
			exprs := f.fit(points, of, depth, array, as)
			if len(exprs) > 0 && (len(best) == 0 || exprs[0].bits < best[0].bits) {
				best, worst = exprs, i
			}
		}
		left = slices.Delete(left, worst, worst+1)
	}
	if len(best) == 0 {
		return nil, ""
	}
	return best[:1], fmt.Sprintf(" has no expression, and one that fits the traces of %v ranks", left)
}

// fit returns the expressions of fewest terms of a number in the grid that is tried.
func (f *solver) fit(at []*point, values []int64, depth int, array bool, as role) []expr {
	key := binary.AppendVarint(nil, int64(depth))
	for i, p := range at {
		for _, v := range []int64{values[i], p.ranks, p.rank, p.index} {
			key = binary.AppendVarint(key, v)
		}
		for _, v := range p.rounds[:depth] {
			key = binary.AppendVarint(key, v)
		}
	}
	if array {
		key = append(key, 0)
	}
	key = append(key, byte(as))
	exprs, ok := f.fitted[string(key)]
	if !ok {
		exprs = fit(f.grid, features(f.grid, depth, array), f.foreign, at, values, as)
		if len(exprs) > 0 && exprs[0].uses != 0 && as != roleGrid && !f.holdsByIteration(&exprs[0], at, values, as) {
			exprs = nil
		}
		f.fitted[string(key)] = exprs
	}
	return exprs
}

// maxSlices is of how many iterations, from the first on, numbers are looked at by themselves.
const maxSlices = 2

// holdsByIteration reports whether an expression in iterations is what a number is in the first of them, if it
// depends on nothing but the number of ranks there: the other iterations do not show how it grows with that.
func (f *solver) holdsByIteration(e *expr, at []*point, values []int64, as role) bool {
	type slice struct {
		at     []*point
		values []int64
	}
	bySlice, order := make(map[[maxDepth + 1]int64]*slice), [][maxDepth + 1]int64{}
	for i, p := range at {
		key := [maxDepth + 1]int64{maxDepth: p.index}
		copy(key[:], p.rounds[:])
		s := bySlice[key]
		if s == nil {
			if len(order) == maxSlices {
				continue
			}
			s = new(slice)
			bySlice[key], order = s, append(order, key)
		}
		s.at, s.values = append(s.at, p), append(s.values, values[i])
	}
	for _, key := range order {
		s := bySlice[key]
		if byRanks(s.at, s.values) < 2 || isConstant(s.values) {
			continue
		}
		alone := fit(f.grid, features(f.grid, 0, false), f.foreign, s.at, s.values, as)
		there := *s.at[0]
		there.ranks, there.rank = int64(f.o.Ranks), 0
		there.spot = f.grid.spot(there.ranks, 0)
		v, ok := e.at(&there)
		if len(alone) == 0 && e.edge {
			continue
		}
		if len(alone) == 0 || !ok {
			return false
		}
		if !slices.ContainsFunc(alone, func(a expr) bool { w, ok := a.at(&there); return ok && w == v }) {
			return false
		}
	}
	return true
}

func isConstant(values []int64) bool {
	return !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] })
}

// apartNeighbours returns the points of grids in which the neighbours of a rank on both sides are two, none
// if they are one on the ranks that are made: requests to one peer may have one number.
func (f *programFitter) apartNeighbours(at []*point, values []int64) (points []*point, of []int64) {
	two := func(ranks int64) bool {
		extents := f.grid.extents(ranks)
		return slices.Contains(extents[:], 2)
	}
	if two(int64(f.o.Ranks)) {
		return nil, nil
	}
	for i, p := range at {
		if !two(p.ranks) {
			points, of = append(points, p), append(of, values[i])
		}
	}
	return points, of
}

// byRanks returns of how many numbers of ranks values are if they are the same on all ranks of each, or else
// 0.
func byRanks(at []*point, values []int64) int {
	of := make(map[int64]int64)
	for i, p := range at {
		if v, ok := of[p.ranks]; ok && v != values[i] {
			return 0
		}
		of[p.ranks] = values[i]
	}
	return len(of)
}

// some returns some values as text.
func some(at []*point, values []int64) string {
	text, count := "", 0
	last := int64(-1)
	for i, p := range at {
		if i > 0 && values[i] == last {
			continue
		}
		last = values[i]
		if count++; count > 4 {
			return text + ", …"
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d on rank %d of %d", values[i], p.rank, p.ranks)
	}
	return text
}

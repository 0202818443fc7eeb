package extrapolate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// A form is what a number is on other ranks.
type form struct {
	exprs []expr // of fewest terms; they must agree

	// It depends on the number of ranks, and the traces have two numbers: every other rule of one coefficient is
	// another line through two points.
	weak bool

	forced bool // what is made does not follow from the traces

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

	rival struct { // what was told last
		expr *expr
		text string
	}
	said said
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

// form fits a number.
func (f *programFitter) form(what string, at []*point, values []int64, depth int, array bool, as role) (form,
	*failure) {
	r := form{what: what, role: as, site: f.site, depth: depth, array: array, at: at, values: values}
	// It may grow with the number of ranks if it does not show it.
	scales := !as.is(roleRank, roleLabel, roleRequest, roleSite)
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
	if len(r.exprs) == 0 && as == roleRank {
		if r.exprs = f.inGroup(at, values, depth, array); len(r.exprs) == 0 {
			r.exprs = f.inLayer(at, values, depth, array)
		}
	}
	single := !f.class.one && ofOneRun(at) && len(f.ranks) > 2 // ranks of other traces do not come there
	most := maxOfOneRun
	if f.merging && f.grid.dims > 1 { // whether ranks have neighbours is a condition there
		most = -1
	}
	one := (f.class.one || single) && len(r.exprs) > 0 && r.exprs[0].ofOneRun(scales, values[0], single, most)
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
	case !one || !e.ofOneRun(scales, values[0], single, most):
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
// in a class that has others, also what is no constant and longer than most.
func (e *expr) ofOneRun(scales bool, value int64, single bool, most int) bool {
	if e.constant {
		return scales && abs(value) > 1
	}
	return single && e.bits > most
}

// numbersOf returns of how many numbers of ranks points are.
func numbersOf(at []*point) int {
	known := make(map[int64]bool)
	for _, p := range at {
		known[p.ranks] = true
	}
	return len(known)
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
	digest := sha256.Sum256(append(key, byte(as)))
	exprs, ok := f.fitted[digest]
	if !ok {
		exprs = f.fitSome(at, values, depth, array, as)
		if len(exprs) > 0 && exprs[0].uses != 0 && as != roleGrid && !f.holdsByIteration(&exprs[0], at, values, as) {
			exprs = nil
		}
		f.fitted[digest] = exprs
	}
	return exprs
}

// maxPoints is at how many points a number is fitted at most, if it is checked at all others then.
const maxPoints = 1 << 13

// fitSome fits a number at some of its points, if there are many, and drops what does not hold at the others.
func (f *solver) fitSome(at []*point, values []int64, depth int, array bool, as role) []expr {
	whole := func() []expr {
		return fit(f.grid, features(f.grid, depth, array), f.foreign, at, values, as)
	}
	if len(at) <= maxPoints {
		return whole()
	}
	some, of := someOf(at, values)
	exprs := fit(f.grid, features(f.grid, depth, array), f.foreign, some, of, as)
	if len(exprs) == 0 && byRanks(some, of) > 0 {
		return whole()
	}
	held := slices.DeleteFunc(slices.Clone(exprs), func(e expr) bool { return !e.holds(at, values) })
	if len(held) == 0 && len(exprs) > 0 {
		return whole()
	}
	return held
}

// someOf returns some points of each number of ranks, far apart, and all where these are few.
func someOf(at []*point, values []int64) (some []*point, of []int64) {
	byRanks, order := make(map[int64][]int), []int64{}
	for i, p := range at {
		if byRanks[p.ranks] == nil {
			order = append(order, p.ranks)
		}
		byRanks[p.ranks] = append(byRanks[p.ranks], i)
	}
	for _, ranks := range order {
		list := byRanks[ranks]
		step := max(1, len(list)*len(order)/maxPoints) | 1
		for step > 1 && gcd(step, len(list)) != 1 {
			step += 2
		}
		for i := 0; i < len(list); i += step {
			some, of = append(some, at[list[i]]), append(of, values[list[i]])
		}
	}
	return some, of
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

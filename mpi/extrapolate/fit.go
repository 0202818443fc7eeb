package extrapolate

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// An expr is an expression in what points have.
type expr struct {
	text string
	at   func(p *point) (int64, bool) // false if there is no such number
	terms

	constant bool
	edge     bool // the first or the last have something else
	// An expression with coefficients is confirmed by points that differ in what these are of.
	coefficients int
	basis        func(p *point) [2]int64
}

// terms are what an expression is made of.
type terms struct {
	uses   uint // loops and arrays that it depends on: bit d for the loop at depth d, bit maxDepth for an index
	bits   int  // how long it is, about: likely ones are short
	binary bool // it depends on the binary digits of a number
	extent bool // it is an extent of a grid, and nothing else
	side   bool // it depends on an extent of a grid
}

func (t terms) and(u terms) terms {
	return terms{uses: t.uses | u.uses, bits: t.bits + u.bits + 1, binary: t.binary || u.binary, side: t.side || u.side}
}

func (t terms) longer(bits int) terms {
	return terms{t.uses, t.bits + bits, t.binary, t.extent && bits == 0, t.side}
}

// digits returns the terms of what depends on binary digits.
func (t terms) digits() terms { return terms{uses: t.uses, bits: t.bits, binary: true} }

// length returns that of a number that is added to an expression, or less one is a factor of it.
func length(a int64) int {
	if abs(a) <= 1 {
		return int(abs(a))
	}
	return 1 + bits.Len64(uint64(abs(a)))
}

// A role says what a number is in a call.
type role int

const (
	roleCount   role = iota // it may grow with the number of ranks: counts, trips, lengths
	roleGroup               // the size of a group
	roleGrid                // an extent of the grid
	roleRank                // a rank
	roleLabel               // a tag, a handle, a part of an address
	roleRequest             // a request, which calls to one peer may share
)

func (r role) is(list ...role) bool { return slices.Contains(list, r) }

// A fitter fits numbers by expressions.
type fitter struct {
	grid     *grid
	features []feature
	sieve
	extents []feature // of this grid and of others
	points  []*point
	values  []int64
	ranks   bool  // they may be ranks
	none    int64 // what stands for no rank where a peer is outside, 0 if all are ranks
	role    role
	found   []expr
	all     bool // that is found must agree, also what is much longer
}

// fit returns the expressions of fewest terms that have the values at all points, none if there are none.
// What depends on nothing but the number of ranks may be of extents of other grids, too, and so may steps to
// other ranks.
func fit(g *grid, fs, foreign []feature, points []*point, values []int64, as role) []expr {
	f := &fitter{grid: g, role: as, ranks: as.is(roleRank, roleLabel, roleRequest), points: points, values: values}
	if as == roleRank { // which is hardly a logarithm
		for i := range fs {
			if fs[i].binary && !strings.HasPrefix(fs[i].name, "lowest") && fs[i].uses == 0 {
				fs[i].terms = fs[i].longer(rankLog)
			}
		}
	}
	for _, x := range slices.Concat(fs, foreign) {
		if !x.odd && (x.extent || x.foreign) {
			f.extents = append(f.extents, x)
		}
	}
	if byRanks(points, values) > 0 {
		fs = slices.Concat(fs, foreign)
	}
	f.apart()
	f.outside()
	if f.isOfOneRun() {
		return nil
	}
	if role := as; role == roleGrid {
		if f.extentsInOrder(); len(f.found) > 0 {
			return f.found
		}
	}
	plain := slices.DeleteFunc(slices.Clone(fs), func(x feature) bool { return x.odd || x.far })
	evidence := f.evidence()
	if byRanks(points, values) > 0 && evidence >= 2 {
		f.scaling(fs, evidence)
	} else {
		f.stages(fs, plain, evidence)
	}
	f.rivals()
	f.weigh()
	return f.found
}

// How much longer a rival is at most, in bits: it is less likely by so many powers of two. Ranks are mostly
// neighbours.
const (
	maxLonger     = 3
	maxLongerRank = 2
)

// maxSideOrLog is how much longer a rival may be, too, if one of both is an extent of a grid, and the other a
// logarithm: on few numbers of ranks, these are often the same.
const maxSideOrLog = 8

// isLogarithmOf reports whether an expression has the logarithm of the number of ranks where the shortest has an
// extent of the grid: a multiple, and a number that is added.
func (f *fitter) isLogarithmOf(shortest, e *expr) bool {
	const root = 2 // how long one is on numbers that have it
	if !shortest.side || shortest.binary || !e.binary || strings.Contains(e.text, "/") {
		return false
	}
	if shortest.coefficients == 2 && e.coefficients == 2 { // two lines through three points
		return true
	}
	if f.grid.asked || f.grid.rootBits(2) == root || f.grid.rootBits(3) == root {
		return false // of squares, and in grids of MPI, programs have extents
	}
	return slices.ContainsFunc(slices.Concat(f.extents, sizes(f.grid)), func(x feature) bool {
		return x.side && !x.binary && strings.ReplaceAll(shortest.text, x.name, "log2(N)") == e.text ||
			x.side && !x.binary && strings.ReplaceAll(shortest.text, x.name, "log2(N), rounded up") == e.text
	})
}

// weigh drops what is found and is much longer than the shortest of it.
func (f *fitter) weigh() {
	if len(f.found) == 0 {
		return
	}
	if f.role == roleGrid && slices.ContainsFunc(f.found, func(e expr) bool { return e.extent }) {
		f.found = slices.DeleteFunc(f.found, func(e expr) bool { return !e.extent })
	}
	shortest := slices.MinFunc(f.found, func(a, b expr) int { return a.bits - b.bits })
	longest := shortest.bits + maxLonger
	if f.all && !slices.Contains([]string{"N", "N-1", "(N-1-rank)"}, shortest.text) {
		return
	}
	if f.ranks {
		longest += maxLongerRank - maxLonger
	}
	f.found = slices.DeleteFunc(f.found, func(e expr) bool {
		if shortest.binary && e.side && !e.binary && e.uses == 0 || f.isLogarithmOf(&shortest, &e) {
			return e.bits > longest+maxSideOrLog
		}
		return e.bits > longest
	})
	slices.SortStableFunc(f.found, func(a, b expr) int { return a.bits - b.bits }) // the shortest has the name
}

// stages tries expressions of more and more terms until one holds.
func (f *fitter) stages(fs, plain []feature, evidence int) {
	pairs := func() { f.products(); f.pairs() }
	for _, step := range []struct {
		try    func()
		odd    bool // with all features
		points int  // that must tell apart what is tried, which is more and more
	}{{f.constants, false, 1}, {f.truths, true, 8}, {f.children, true, 6}, {f.ranksNear, true, 2},
		{f.terms, false, 3}, {f.terms, true, 4},
		{pairs, false, 4}, {pairs, true, 5}, {f.conditions, true, 8}, {f.triples, false, 5},
		{f.triangles, false, 5}, {f.lines, false, 4}, {f.lines, true, 6}, {f.planes, false, 6}, {f.planes, true, 8},
		{f.strides, false, 8}} {
		if evidence < step.points {
			continue
		}
		if step.odd {
			f.sift(fs)
		} else {
			f.sift(plain)
		}
		if step.try(); len(f.found) > 0 {
			return
		}
	}
}

// scaling finds the expressions of what depends on nothing but the number of ranks, of all kinds together: the
// shortest counts, and those that are not much longer must agree.
func (f *fitter) scaling(fs []feature, evidence int) {
	f.constants()
	varying := slices.DeleteFunc(slices.Clone(fs), func(x feature) bool { // what is constant here tells nothing
		v := x.of(f.points[0])
		return !slices.ContainsFunc(f.points, func(p *point) bool { return x.of(p) != v })
	})
	// what is read first has the name
	slices.SortStableFunc(varying, func(a, b feature) int { return oddness(a) - oddness(b) })
	f.sift(varying)
	if len(f.found) > 0 {
		return
	}
	if byRanks(f.points, f.values) == 2 {
		f.twoNumbers()
		f.all = true
		return
	}
	if evidence == 2 {
		f.few()
		return
	}
	if f.exact(); slices.ContainsFunc(f.found, func(e expr) bool { return e.text == "N" }) {
		return
	}
	all := f.features
	near := slices.DeleteFunc(slices.Clone(all), func(x feature) bool { return x.far })
	plain := slices.DeleteFunc(slices.Clone(near), func(x feature) bool { return x.odd })
	f.ranksNear()
	f.terms()
	f.sift(near)
	f.products()
	f.sift(plain)
	f.pairs()
	f.factors()
	if evidence > 4 {
		f.triples()
	}
	if evidence > 5 {
		f.sift(near)
	}
	if evidence > 3 {
		f.lines()
	}
	for _, x := range plain {
		f.partPlus(x)
	}
	f.triangles()
	if f.sift(all); !f.ranks || evidence > 3 { // peers of a corner are hardly multiples
		f.line(f.simple())
	}
	if evidence > 5 && len(f.found) == 0 {
		f.planes()
	}
	f.confirm()
}

// minConfirmed is by how many bits the values are longer at least than the expression that they are of.
const minConfirmed = 3

// confirm drops expressions that are not shorter than the values that they are of: of few numbers, anything
// is an expression.
func (f *fitter) confirm() {
	known, data := make(map[int64]bool), 0
	for i, p := range f.points {
		if !known[p.ranks] {
			known[p.ranks] = true
			data += max(2, length(f.values[i])+1)
		}
	}
	f.found = slices.DeleteFunc(f.found, func(e expr) bool { return e.bits+minConfirmed > data })
}

// oddness orders features by how likely they are.
func oddness(x feature) int {
	if x.odd {
		return 1
	}
	return 0
}

// few finds what has two values on more numbers of ranks than two: multiples and parts of one feature, which
// all expressions of one feature, and all multiples and parts of two, must agree with.
func (f *fitter) few() {
	all := f.features
	f.sift(slices.DeleteFunc(slices.Clone(all), func(x feature) bool { return x.odd || x.far }))
	if f.exact(); len(f.found) == 0 {
		f.ranksNear()
	}
	if len(f.found) == 0 && !f.ranks {
		f.shares(false)
		if len(f.found) > 0 {
			f.shares(true)
			f.blocks()
		}
	}
	if len(f.found) == 0 && !f.ranks {
		f.factors()
		f.confirm()
	}
	if f.sift(all); len(f.found) > 0 {
		f.exact()
		f.ranksNear()
		f.terms()
	}
}

// shares tries multiples and parts of features and, with pairs, of products and quotients of two.
func (f *fitter) shares(pairs bool) {
	list := f.simple()
	if pairs {
		list = f.monomials()
	}
	for _, m := range list {
		f.scaled(m)
	}
}

// exact tries features as they are.
func (f *fitter) exact() {
	for i := range f.features {
		x := &f.features[i]
		if !f.same(&f.columns[i]) {
			continue
		}
		f.try(expr{text: x.name, terms: x.terms, at: func(p *point) (int64, bool) { return x.of(p), true }})
	}
}

// twoNumbers finds the number of ranks; of ranks, those near too, and of sizes of groups an extent of the
// grid. Two numbers of ranks show no more: too many expressions have two values. But for the number of ranks
// itself, all expressions of one feature must agree; of what is an extent in any case, those of all grids.
func (f *fitter) twoNumbers() {
	all := f.features
	only := func(is func(x feature) bool) {
		f.sift(slices.DeleteFunc(slices.Clone(all), func(x feature) bool { return !is(x) }))
	}
	only(func(x feature) bool { return x.name == "N" })
	if f.exact(); len(f.found) > 0 || f.role.is(roleCount, roleLabel, roleRequest) {
		return
	}
	if f.role == roleGrid {
		only(func(x feature) bool { return x.extent || x.foreign })
		f.exact()
		return
	}
	if f.role == roleGroup {
		only(func(x feature) bool { return x.extent })
	} else {
		only(func(x feature) bool { return !x.odd && !x.far })
	}
	f.exact()
	if f.role == roleRank && len(f.found) == 0 {
		f.ranksNear()
	}
	if f.sift(all); len(f.found) > 0 {
		f.exact()
		f.ranksNear()
		f.terms()
	}
}

// apart puts points first that differ much, so that most expressions fail soon.
func (f *fitter) apart() {
	n := len(f.points)
	if n < 8 {
		return
	}
	order := make([]int, 0, n)
	step := n*5/8 | 1
	for gcd(step, n) != 1 {
		step += 2
		if step >= n {
			step = 1
		}
	}
	for i, at := 0, n-1; i < n; i++ {
		order = append(order, at)
		at = (at + step) % n
	}
	points, values := make([]*point, n), make([]int64, n)
	for i, from := range order {
		points[i], values[i] = f.points[from], f.values[from]
	}
	f.points, f.values = points, values
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// holds reports whether an expression has the values at all points.
func (e *expr) holds(points []*point, values []int64) bool {
	for i, p := range points {
		if v, ok := e.at(p); !ok || v != values[i] {
			return false
		}
	}
	return true
}

// outside finds what stands for no rank, and puts a point first that has a rank.
func (f *fitter) outside() {
	if f.role != roleRank {
		return
	}
	first, none := -1, int64(0)
	for i, v := range f.values {
		switch {
		case v >= 0:
			if first < 0 {
				first = i
			}
		case none != 0 && none != v:
			return
		default:
			none = v
		}
	}
	if first < 0 || none == 0 {
		return
	}
	f.none = none
	f.points, f.values = slices.Clone(f.points), slices.Clone(f.values)
	f.points[0], f.points[first] = f.points[first], f.points[0]
	f.values[0], f.values[first] = f.values[first], f.values[0]
}

// isOfOneRun reports whether there are several numbers of ranks, and peers on one of them alone: how peers depend on
// the number of ranks is not known then.
func (f *fitter) isOfOneRun() bool {
	if f.none == 0 {
		return false
	}
	all, known := make(map[int64]bool), make(map[int64]bool)
	for i, p := range f.points {
		all[p.ranks] = true
		if f.values[i] != f.none {
			known[p.ranks] = true
		}
	}
	return len(all) > 1 && len(known) == 1
}

// orNone returns an expression that is no rank where another is outside.
func (f *fitter) orNone(e expr, inside func(p *point, v int64) bool) expr {
	of, none := e.at, f.none
	e.text, e.terms = e.text+" or none", e.terms.longer(1)
	e.at = func(p *point) (int64, bool) {
		v, ok := of(p)
		if ok && !inside(p, v) {
			return none, true
		}
		return v, ok
	}
	return e
}

func isRank(p *point, v int64) bool { return v >= 0 && v < p.ranks }

// try keeps an expression if it has the values at all points and is confirmed.
func (f *fitter) try(e expr) {
	if f.none != 0 && !e.constant && !strings.HasSuffix(e.text, " or none") {
		e = f.orNone(e, isRank)
	}
	if !e.holds(f.points, f.values) {
		return
	}
	if e.coefficients > 1 {
		var seen [][2]int64
		for _, p := range f.points {
			if b := e.basis(p); !slices.Contains(seen, b) {
				if seen = append(seen, b); len(seen) > e.coefficients {
					break
				}
			}
		}
		if len(seen) <= e.coefficients {
			return
		}
	}
	f.found = append(f.found, e)
}

func (f *fitter) constants() {
	v := f.values[0]
	f.try(expr{text: fmt.Sprint(v), constant: true, terms: terms{bits: length(v)}, at: func(*point) (int64, bool) {
		return v, true
	}})
}

// plus writes a number that is added to an expression.
func plus(text string, a int64) string {
	if a == 0 {
		return text
	}
	return fmt.Sprintf("%s%+d", text, a)
}

func times(p, q int64, text string) string {
	if p != 1 || q != 1 && strings.HasPrefix(text, "1/") {
		text = strings.TrimPrefix(fmt.Sprintf("%d*%s", p, text), "1*")
		text = strings.Replace(text, "*1/", "/", 1)
	}
	if q != 1 {
		text += fmt.Sprintf("/%d", q)
	}
	return text
}

// A monomial is a product or a quotient: numerator / denominator.
type monomial struct {
	text string
	of   func(p *point) (numerator, denominator int64, ok bool)
	terms
}

func (x feature) monomial() monomial {
	t := x.terms
	if x.binary && x.uses == 0 && !strings.Contains(x.name, "2^") { // hardly a multiple of a logarithm
		t = t.longer(3)
	}
	return monomial{x.name, func(p *point) (int64, int64, bool) { return x.of(p), 1, true }, t}
}

func (x feature) inverse() monomial {
	t := x.terms
	if x.binary { // hardly anything is divided by a logarithm
		t = t.longer(3)
	}
	return monomial{"1/" + x.name, func(p *point) (int64, int64, bool) { return 1, x.of(p), true }, t}
}

// scaled tries a/b times a monomial, of one coefficient.
func (f *fitter) scaled(m monomial) {
	for i, p := range f.points {
		n, d, ok := m.of(p)
		if !ok || d == 0 {
			return
		}
		if n == 0 {
			if f.values[i] != 0 {
				return
			}
			continue
		}
		a, ok := mul(f.values[i], d)
		if !ok {
			return
		}
		b := n
		if b < 0 {
			a, b = -a, -b
		}
		g := int64(gcd(int(abs(a)), int(b)))
		if a, b = a/g, b/g; b > 16 {
			return
		}
		f.try(expr{text: times(a, b, m.text), terms: m.terms.longer(length(a-1) + length(b-1)),
			at: func(p *point) (int64, bool) {
				n, d, ok := m.of(p)
				x, ok2 := mul(a, n)
				y, ok3 := mul(b, d)
				if !ok || !ok2 || !ok3 {
					return 0, false
				}
				return div(x, y)
			}})
		return
	}
}

func abs(a int64) int64 { return max(a, -a) }

// shifted tries an expression plus a number.
func (f *fitter) shifted(text string, t terms, of func(p *point) (int64, bool)) {
	v, ok := of(f.points[0])
	if !ok {
		return
	}
	a := f.values[0] - v
	f.try(expr{text: plus(text, a), terms: t.longer(length(a)), at: func(p *point) (int64, bool) {
		v, ok := of(p)
		return v + a, ok
	}})
}

// ranksNear tries ranks that are some steps away, and features as they are: two numbers of ranks confirm
// them.
func (f *fitter) ranksNear() {
	if f.ranks {
		for dims := range 3 {
			f.neighbours(dims + 1)
		}
		f.ring("", terms{}, func(*point) int64 { return 0 })
		f.steps()
		f.across()
	}
	for i := range f.features {
		x := &f.features[i]
		if !f.sieve.shifted(&f.columns[i]) || !f.ranks && abs(f.values[0]-x.of(f.points[0])) > 1 {
			continue
		}
		f.near(x)
	}
}

// near tries a feature and a number. A rank is hardly the lowest bit of another and a number.
func (f *fitter) near(x *feature) {
	t := x.terms
	if f.role == roleRank && x.binary && x.of(f.points[0]) != f.values[0] {
		t = t.longer(maxLongerRank)
	}
	f.shifted(x.name, t, func(p *point) (int64, bool) { return x.of(p), true })
}

// terms tries expressions of one feature.
func (f *fitter) terms() {
	for i := range f.features {
		x, c := &f.features[i], &f.columns[i]
		if f.sieve.shifted(c) {
			f.near(x)
		}
		if f.multiple(c, &ones) {
			f.scaled(x.monomial())
		}
		if f.multiple(&ones, c) {
			f.scaled(x.inverse())
		}
		f.divided(*x, false)
	}
	if a := f.values[0] ^ f.points[0].rank; a > 0 {
		f.try(expr{text: fmt.Sprintf("rank xor %d", a), terms: terms{bits: 2 + length(a), binary: true},
			at: func(p *point) (int64, bool) { return p.rank ^ a, true }})
	}
}

// rounding returns how long it is that a number is rounded: ranks are hardly parts of others.
func (f *fitter) rounding() int {
	if f.role == roleRank {
		return 3
	}
	return 2
}

// maxUsual is by how much numbers are divided usually.
const maxUsual = 4

// divided tries quotients that are rounded, down and up, with a number added or without.
func (f *fitter) divided(x feature, shifted bool) {
	for by := int64(2); by <= 8; by++ {
		for i, lead := range []int64{0, by - 1} {
			of := func(p *point) (int64, bool) { return (x.of(p) + lead) / by, x.of(p) >= 0 }
			if c := f.column(func(p *point) int64 { return (x.of(p) + lead) / by }); !f.sieve.shifted(&c) ||
				!shifted && !f.same(&c) {
				continue
			}
			t := x.terms.longer(length(by-1) + f.rounding())
			if by > maxUsual {
				t = t.longer(2)
			}
			name := fmt.Sprintf("%s/%d rounded %s", x.name, by, [...]string{"down", "up"}[i])
			if shifted {
				f.shifted(name, t, of)
			} else {
				f.try(expr{text: name, terms: t, at: of})
			}
		}
	}
}

// ring tries the rank plus something and a number, modulo the number of ranks.
func (f *fitter) ring(text string, t terms, of func(p *point) int64) {
	p := f.largest()
	a := mod(f.values[slices.Index(f.points, p)]-p.rank-of(p), p.ranks)
	fewest := slices.MinFunc(f.points, func(a, b *point) int { return cmp.Compare(a.ranks, b.ranks) }).ranks
	for _, a := range nearest(a, p.ranks) {
		if a == 0 && text == "" || abs(a) >= fewest { // further than around
			continue
		}
		f.try(expr{text: fmt.Sprintf("(rank%s) mod N", plus(text, a)), terms: t.longer(length(a)),
			at: func(p *point) (int64, bool) {
				return mod(p.rank+of(p)+a, p.ranks), true
			}})
	}
}

// steps tries the rank plus a multiple of an extent, modulo the number of ranks.
func (f *fitter) steps() {
	p := f.largest()
	by := f.values[slices.Index(f.points, p)] - p.rank
	for _, x := range f.extents {
		for _, by := range nearest(by, p.ranks) {
			k, ok := div(by, x.of(p))
			if !ok || k == 0 {
				continue
			}
			f.try(expr{text: fmt.Sprintf("(rank+%s) mod N", times(k, 1, x.name)),
				terms: x.terms.longer(1 + length(k-1)), at: func(p *point) (int64, bool) {
					return mod(p.rank+k*x.of(p), p.ranks), true
				}})
			f.try(expr{text: "rank" + plus("", k)[:1] + times(abs(k), 1, x.name),
				terms: x.terms.longer(1 + length(abs(k)-1)), at: func(p *point) (int64, bool) {
					return p.rank + k*x.of(p), true
				}})
		}
	}
}

// across tries the rank that is a part of the ranks away.
func (f *fitter) across() {
	for by := int64(2); by <= maxUsual; by++ {
		for i, text := range []string{"down", "up"} {
			f.try(expr{text: fmt.Sprintf("(rank+N/%d rounded %s) mod N", by, text),
				terms: terms{bits: length(by-1) + 3 + i}, at: func(p *point) (int64, bool) {
					return mod(p.rank+(p.ranks+int64(i)*(by-1))/by, p.ranks), true
				}})
		}
	}
}

// largest returns the first point of the largest number of ranks.
func (f *fitter) largest() *point {
	best := f.points[0]
	for i, p := range f.points {
		if p.ranks > best.ranks && (f.none == 0 || f.values[i] != f.none) {
			best = p
		}
	}
	return best
}

// nearest returns the least number that is a modulo n, two if there are two.
func nearest(a, n int64) []int64 {
	a = mod(a, n)
	switch {
	case 2*a < n:
		return []int64{a}
	case 2*a == n:
		return []int64{a, a - n}
	}
	return []int64{a - n}
}

// neighbours tries ranks that are some steps away in so many dimensions, with and without wrapping around.
func (f *fitter) neighbours(dims int) {
	if f.grid.dims < 2 {
		return
	}
	p := f.largest() // it tells most about steps
	v := f.values[slices.Index(f.points, p)]
	if v < 0 || v >= p.ranks {
		return
	}
	to, fewest := f.grid.spot(p.ranks, v), p.extent
	for _, p := range f.points {
		for d, e := range p.extent {
			fewest[d] = min(fewest[d], e)
		}
	}
	var steps [][3]int64
	var add func(d int, step [3]int64, moved int)
	add = func(d int, step [3]int64, moved int) {
		if d == f.grid.dims {
			if moved == dims {
				steps = append(steps, step)
			}
			return
		}
		by := to.at[d] - p.at[d]
		if by == 0 {
			add(d+1, step, moved)
			return
		}
		for _, by := range nearest(by, p.extent[d]) {
			if abs(by) >= fewest[d] { // further than around
				continue
			}
			step[d] = by
			add(d+1, step, moved+1)
		}
	}
	add(0, [3]int64{}, 0)
	for _, step := range steps {
		wrapped := ""
		plain := "rank"
		t := terms{bits: -1}
		for d, n := range names(f.grid.dims) {
			if step[d] != 0 {
				wrapped += fmt.Sprintf(" %s%+d", n.at, step[d])
				plain += fmt.Sprintf("%+d %s", step[d], n.at)
				t.bits += 1 + length(abs(step[d])-1)
			}
		}
		f.try(expr{text: "rank at" + wrapped, terms: t, at: func(p *point) (int64, bool) {
			v := p.rank
			for d, by := range step {
				v += (mod(p.at[d]+by, p.extent[d]) - p.at[d]) * p.stride[d]
			}
			return v, true
		}})
		e := expr{text: plain, terms: t, at: func(p *point) (int64, bool) {
			v := p.rank
			for d, by := range step {
				v += by * p.stride[d]
			}
			return v, true
		}}
		f.try(e)
		if f.none != 0 {
			f.try(f.orNone(e, func(p *point, _ int64) bool {
				for d, by := range step {
					if at := p.at[d] + by; at < 0 || at >= p.extent[d] {
						return false
					}
				}
				return true
			}))
		}
	}
}

package extrapolate

import (
	"fmt"
	"slices"
	"strings"
)

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
	if as == roleSite {
		f.constants()
		return f.found
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
		{f.offsets, false, 6}, {f.strides, false, 8}, {f.crossed, false, 8}} {
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
		return
	}
	f.asBefore()
	const some = 4 // numbers of ranks that confirm what is rounded
	if f.role != roleRank && byRanks(f.points, f.values) >= some {
		f.evenness()
	}
	if !f.ranks && byRanks(f.points, f.values) >= some {
		for _, x := range all {
			if !x.odd && !x.far {
				f.divided(x, true)
			}
		}
	}
	f.confirm()
}

// asBefore tries what is the same wherever an extent is the same, of the grid that the program asks for: on as many
// ranks as have an extent of the traces, it is what it is there.
func (f *fitter) asBefore() {
	if !f.grid.asked || f.role != roleCount || f.grid.dims < 2 {
		return
	}
	for d, n := range names(f.grid.dims) {
		known := make(map[int64]int64)
		same := true
		for i, p := range f.points {
			v, ok := known[p.extent[d]]
			same = same && (!ok || v == f.values[i])
			known[p.extent[d]] = f.values[i]
		}
		if !same {
			continue
		}
		f.try(expr{text: "the same for the same " + n.extent, terms: terms{bits: 4}, at: func(p *point) (int64, bool) {
			v, ok := known[p.extent[d]]
			return v, ok
		}})
	}
}

// evenness tries whether the number of ranks is even, or a power of two, of what is 0 and 1.
func (f *fitter) evenness() {
	if slices.ContainsFunc(f.values, func(v int64) bool { return v != 0 && v != 1 }) {
		return
	}
	f.remainder(ofN)
	for power := range int64(2) {
		f.try(expr{text: fmt.Sprintf("[N is a power of two] = %d", power),
			terms: terms{bits: 3 + int(power), binary: true}, at: func(p *point) (int64, bool) {
				if p.ranks&(p.ranks-1) == 0 {
					return power, true
				}
				return 1 - power, true
			}})
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

package extrapolate

import (
	"cmp"
	"fmt"
	"slices"
)

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

// ring tries the rank plus something and a number, modulo the number of ranks.
func (f *fitter) ring(text string, t terms, of func(p *point) int64) {
	p := f.largest()
	a := mod(f.values[slices.Index(f.points, p)]-p.rank-of(p), p.ranks)
	fewest := slices.MinFunc(f.points, func(a, b *point) int { return cmp.Compare(a.ranks, b.ranks) }).ranks
	for _, a := range nearest(a, p.ranks) {
		if a == 0 && text == "" || abs(a) > 1 && abs(a) >= fewest { // further than around
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

// exchanged tries partners in butterflies: whose rank, or coordinate, differs in a bit.
func (f *fitter) exchanged(x feature) {
	mask := func(text string, of func(p *point) int64) {
		f.try(expr{text: "rank xor " + text, terms: x.terms.longer(2).digits(), at: func(p *point) (int64, bool) {
			return p.rank ^ of(p), true
		}})
	}
	mask(x.name, x.of)
	mask("("+x.name+"+1)", func(p *point) int64 { return x.of(p) + 1 })
	mask("N/2^("+x.name+"+1)", func(p *point) int64 { return half(p.ranks, x.of(p)) })
	if f.grid.dims < 2 {
		return
	}
	for d, n := range names(f.grid.dims) {
		along := func(text string, of func(p *point) int64) {
			f.try(expr{text: fmt.Sprintf("rank at %s xor %s", n.at, text), terms: x.terms.longer(2).digits(),
				at: func(p *point) (int64, bool) {
					return p.rank + (p.at[d]^of(p)-p.at[d])*p.stride[d], true
				}})
		}
		along(x.name, x.of)
		along(n.extent+"/2^("+x.name+"+1)", func(p *point) int64 { return half(p.extent[d], x.of(p)) })
	}
}

func half(n, i int64) int64 {
	if i < 0 || i > 61 {
		return 0
	}
	return n >> (i + 1)
}

// along tries ranks that differ in a coordinate, which is a feature, or is so many steps away.
func (f *fitter) along(x feature) {
	if f.grid.dims < 2 {
		return
	}
	for d, n := range names(f.grid.dims) {
		f.try(expr{text: fmt.Sprintf("rank at %s %s", n.at, x.name), terms: x.terms.longer(2),
			at: func(p *point) (int64, bool) {
				return p.rank + (x.of(p)-p.at[d])*p.stride[d], true
			}})
		for _, sign := range []int64{1, -1} {
			f.try(expr{text: fmt.Sprintf("rank at %s%+d*%s", n.at, sign, x.name), terms: x.terms.longer(2),
				at: func(p *point) (int64, bool) {
					return p.rank + (mod(p.at[d]+sign*x.of(p), p.extent[d])-p.at[d])*p.stride[d], true
				}})
		}
	}
}

// inSquares returns the rank with two coordinates exchanged, of which one counts as many ranks of a row together
// as make the grid square.
func inSquares(e, d int) func(p *point) (int64, bool) {
	return func(p *point) (int64, bool) {
		q, ok := div(p.extent[e], p.extent[d])
		if !ok {
			return 0, false
		}
		x, rest, y := p.at[e]/q, p.at[e]%q, p.at[d]
		return p.rank + (y*q+rest-p.at[e])*p.stride[e] + (x-p.at[d])*p.stride[d], true
	}
}

// skewed tries the rank that is as many steps away in one dimension as its coordinate in another is.
func (f *fitter) skewed() {
	for d := range f.grid.dims {
		for e := range f.grid.dims {
			for _, sign := range []int64{1, -1} {
				if d == e {
					continue
				}
				f.try(expr{text: fmt.Sprintf("rank at %s%+d*%s", names(f.grid.dims)[d].at, sign,
					names(f.grid.dims)[e].at),
					terms: terms{bits: 3}, at: func(p *point) (int64, bool) {
						return p.rank + (mod(p.at[d]+sign*p.at[e], p.extent[d])-p.at[d])*p.stride[d], true
					}})
			}
		}
	}
}

// transposed tries the rank with two coordinates exchanged.
func (f *fitter) transposed() {
	for d := range f.grid.dims {
		for e := range d {
			f.try(expr{text: fmt.Sprintf("rank with %s and %s exchanged", names(f.grid.dims)[e].at,
				names(f.grid.dims)[d].at), terms: terms{bits: 2}, at: func(p *point) (int64, bool) {
				by := p.at[d] - p.at[e]
				return p.rank + by*p.stride[e] - by*p.stride[d], true
			}})
			f.try(expr{text: fmt.Sprintf("rank with %s and %s exchanged in squares", names(f.grid.dims)[e].at,
				names(f.grid.dims)[d].at), terms: terms{bits: 5}, at: inSquares(e, d)})
		}
	}
}

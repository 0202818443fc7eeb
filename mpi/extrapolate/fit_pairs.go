package extrapolate

import (
	"fmt"
	"math"
	"slices"
)

// products tries those of two features.
func (f *fitter) products() {
	for i, x := range f.features {
		for _, y := range f.features[i:] {
			f.scaled(monomial{x.name + "*" + y.name, func(p *point) (int64, int64, bool) {
				v, ok := mul(x.of(p), y.of(p))
				return v, 1, ok
			}, x.terms.and(y.terms)})
		}
	}
}

// pairs tries other expressions of two features, and those of the kinds that programs have.
func (f *fitter) pairs() {
	for i, x := range f.features {
		for j, y := range f.features {
			t := x.terms.and(y.terms)
			if i <= j {
				f.scaled(monomial{"1/" + x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
					v, ok := mul(x.of(p), y.of(p))
					return 1, v, ok
				}, t})
			}
			if i == j {
				continue
			}
			if i < j {
				f.shifted(x.name+"+"+y.name, t, func(p *point) (int64, bool) { return x.of(p) + y.of(p), true })
			}
			f.shifted(x.name+"-"+y.name, t, func(p *point) (int64, bool) { return x.of(p) - y.of(p), true })
			f.scaled(monomial{x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
				return x.of(p), y.of(p), true
			}, t})
		}
	}
	f.blocks()
	if f.ranks {
		f.neighbours(2)
		f.neighbours(3)
		f.transposed()
	}
	for _, x := range f.features {
		if x.uses == 0 {
			continue
		}
		f.ring("+"+x.name, x.terms, x.of)
		f.ring("-"+x.name, x.terms, func(p *point) int64 { return -x.of(p) })
		f.exchanged(x)
		f.try(expr{text: x.name + " but rank", terms: x.terms.longer(2), at: func(p *point) (int64, bool) {
			v := x.of(p)
			if v >= p.rank {
				v++
			}
			return v, true
		}})
		f.along(x)
	}
}

// exchanged tries partners in butterflies: whose rank, or coordinate, differs in a bit.
func (f *fitter) exchanged(x feature) {
	mask := func(text string, of func(p *point) int64) {
		f.try(expr{text: "rank xor " + text, terms: x.terms.longer(2), at: func(p *point) (int64, bool) {
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
			f.try(expr{text: fmt.Sprintf("rank at %s xor %s", n.at, text), terms: x.terms.longer(2),
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

// transposed tries the rank with two coordinates exchanged.
func (f *fitter) transposed() {
	for d := range f.grid.dims {
		for e := range d {
			f.try(expr{text: fmt.Sprintf("rank with %s and %s exchanged", names(f.grid.dims)[e].at,
				names(f.grid.dims)[d].at), terms: terms{bits: 2}, at: func(p *point) (int64, bool) {
				by := p.at[d] - p.at[e]
				return p.rank + by*p.stride[e] - by*p.stride[d], true
			}})
		}
	}
}

// blocks tries the parts of something that is divided with a remainder, by all ranks or along a dimension,
// and multiples of the parts: what the larger ones have more shows of what.
func (f *fitter) blocks() {
	multiple := max(1, f.spread())
	try := func(text string, divisor func(p *point) int64, lead func(p *point) int64) {
		low, high := int64(0), int64(math.MaxInt64)
		for i, p := range f.points { // (n + lead) / divisor = value
			e, c := divisor(p), lead(p)
			v, ok := div(f.values[i], multiple)
			v, ok2 := mul(v, e)
			if !ok || !ok2 || f.values[i] < 0 || e <= 0 {
				return
			}
			low, high = max(low, v-c), min(high, v-c+e-1)
		}
		if low > high || high-low > 1<<20 {
			return
		}
		for _, n := range slices.Compact([]int64{low, high}) { // all that are between lie between these
			text := fmt.Sprintf(text, n)
			if multiple > 1 {
				text = fmt.Sprintf("%d*(%s)", multiple, text)
			}
			f.try(expr{text: text, terms: terms{bits: 1 + length(n) + length(multiple-1)},
				at: func(p *point) (int64, bool) {
					return mul((n+lead(p))/divisor(p), multiple)
				}})
		}
	}
	dims := func(e, c func(p *point) int64, extent, at string) {
		try("%d/"+extent+", more for low "+at, e, func(p *point) int64 { return e(p) - 1 - c(p) })
		try("%d/"+extent+", more for high "+at, e, c)
		f.rests(multiple, e, c, extent, at)
		try("%d/"+extent+", rounded down", e, func(*point) int64 { return 0 })
		try("%d/"+extent+", rounded up", e, func(p *point) int64 { return e(p) - 1 })
	}
	dims(func(p *point) int64 { return p.ranks }, func(p *point) int64 { return p.rank }, "N", "ranks")
	if f.grid.dims > 1 {
		for d, n := range names(f.grid.dims) {
			dims(func(p *point) int64 { return p.extent[d] }, func(p *point) int64 {
				return p.at[d]
			}, n.extent, n.at+"s")
		}
	}
}

// rests tries parts of something of which the first or the last takes what the others, of equal size, leave.
func (f *fitter) rests(multiple int64, extent, at func(p *point) int64, extentName, atName string) {
	for _, last := range []bool{false, true} {
		takes := func(p *point) bool { return last && at(p) == extent(p)-1 || !last && at(p) == 0 }
		var part, rest int64
		var parts int64 // of a number of ranks of which there are both, that many
		known := make(map[int64][2]int64)
		for i, p := range f.points {
			k := 0
			if takes(p) {
				k = 1
			}
			of, ok := known[p.ranks]
			if !ok {
				of = [2]int64{-1, -1}
			}
			of[k] = f.values[i] / multiple
			known[p.ranks] = of
			if of[0] >= 0 && of[1] >= 0 {
				part, rest, parts = of[0], of[1], extent(p)
			}
		}
		whole, ok := mul(part, parts-1)
		if parts == 0 || !ok {
			continue
		}
		n := whole + rest
		for _, up := range []int64{0, 1} {
			place, rounded := "first", "down"
			if last {
				place = "last"
			}
			if up == 1 {
				rounded = "up"
			}
			f.try(expr{text: fmt.Sprintf("%d/%s, rounded %s, the rest for the %s of %s", n*multiple,
				extentName, rounded, place, atName), terms: terms{bits: 3 + length(n) + length(multiple-1)},
				at: func(p *point) (int64, bool) {
					e := extent(p)
					each := (n + up*(e-1)) / e
					if takes(p) {
						each = n - (e-1)*each
					}
					return mul(each, multiple)
				}})
		}
	}
}

// spread returns by how much values of one number of ranks differ at most.
func (f *fitter) spread() (most int64) {
	ends := make(map[int64][2]int64)
	for i, p := range f.points {
		v := f.values[i]
		e, ok := ends[p.ranks]
		if !ok {
			e = [2]int64{v, v}
		}
		e = [2]int64{min(e[0], v), max(e[1], v)}
		ends[p.ranks], most = e, max(most, e[1]-e[0])
	}
	return most
}

// triples tries a product or quotient of three features.
func (f *fitter) triples() {
	for _, x := range f.features {
		for j, y := range f.features {
			for _, z := range f.features[j:] {
				t := x.terms.and(y.terms).and(z.terms)
				f.scaled(monomial{x.name + "/" + y.name + "/" + z.name, func(p *point) (int64, int64, bool) {
					v, ok := mul(y.of(p), z.of(p))
					return x.of(p), v, ok
				}, t})
				f.scaled(monomial{y.name + "*" + z.name + "/" + x.name, func(p *point) (int64, int64, bool) {
					v, ok := mul(y.of(p), z.of(p))
					return v, x.of(p), ok
				}, t})
			}
		}
	}
}

// monomials returns products and quotients of features, with those of one feature first.
func (f *fitter) monomials(pairs bool) []monomial {
	var list []monomial
	for _, x := range f.features {
		list = append(list, x.monomial(), x.inverse())
	}
	if !pairs {
		return list
	}
	for i, x := range f.features {
		for j, y := range f.features {
			t := x.terms.and(y.terms)
			if i <= j {
				list = append(list, monomial{x.name + "*" + y.name, func(p *point) (int64, int64, bool) {
					v, ok := mul(x.of(p), y.of(p))
					return v, 1, ok
				}, t})
			}
			if i != j {
				list = append(list, monomial{x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
					return x.of(p), y.of(p), true
				}, t})
			}
		}
	}
	return list
}

// whole returns the value of a monomial that is an integer.
func (m *monomial) whole(p *point) (int64, bool) {
	n, d, ok := m.of(p)
	if !ok {
		return 0, false
	}
	return div(n, d)
}

// lines tries parts that are rounded and a number, and lines of monomials.
func (f *fitter) lines() {
	for _, x := range f.features {
		f.divided(x, true)
	}
	f.line(f.monomials(true))
}

// line tries a·m + b of monomials m.
func (f *fitter) line(list []monomial) {
	for _, m := range list {
		v, ok := m.whole(f.points[0])
		if !ok {
			continue
		}
		for i, p := range f.points {
			w, ok := m.whole(p)
			if !ok {
				break
			}
			if w == v {
				if f.values[i] != f.values[0] {
					break
				}
				continue
			}
			a, ok := div(f.values[i]-f.values[0], w-v)
			if !ok {
				break
			}
			b := f.values[0] - a*v
			f.try(expr{text: plus(times(a, 1, m.text), b), terms: m.terms.longer(length(a-1) + length(b)),
				coefficients: 2, at: func(p *point) (int64, bool) {
					v, ok := m.whole(p)
					x, ok2 := mul(a, v)
					return x + b, ok && ok2
				}, basis: func(p *point) [2]int64 {
					v, _ := m.whole(p)
					return [2]int64{v, 0}
				}})
			break
		}
	}
}

// planes tries a·x + b·y + c of features x and y.
func (f *fitter) planes() {
	list := f.monomials(false)
	for i, x := range list {
		for _, y := range list[i+1:] {
			f.plane(x, y)
		}
	}
}

// plane solves for the coefficients by three points that are in no line.
func (f *fitter) plane(x, y monomial) {
	type row struct{ x, y, v int64 }
	var rows []row
	for i, p := range f.points {
		a, ok := x.whole(p)
		b, ok2 := y.whole(p)
		if !ok || !ok2 || max(abs(a), abs(b), abs(f.values[i])) > 1<<29 {
			return
		}
		r := row{a, b, f.values[i]}
		switch len(rows) {
		case 0:
		case 1:
			if r.x == rows[0].x && r.y == rows[0].y {
				continue
			}
		case 2:
			dx, dy := rows[1].x-rows[0].x, rows[1].y-rows[0].y
			if dx*(r.y-rows[0].y) == dy*(r.x-rows[0].x) {
				continue
			}
		}
		if rows = append(rows, r); len(rows) == 3 {
			break
		}
	}
	if len(rows) < 3 {
		return
	}
	dx1, dy1, dv1 := rows[1].x-rows[0].x, rows[1].y-rows[0].y, rows[1].v-rows[0].v
	dx2, dy2, dv2 := rows[2].x-rows[0].x, rows[2].y-rows[0].y, rows[2].v-rows[0].v
	det := dx1*dy2 - dx2*dy1
	a, ok := div(dv1*dy2-dv2*dy1, det)
	b, ok2 := div(dx1*dv2-dx2*dv1, det)
	if !ok || !ok2 || a == 0 || b == 0 {
		return
	}
	c := rows[0].v - a*rows[0].x - b*rows[0].y
	second := times(b, 1, y.text)
	if b > 0 {
		second = "+" + second
	}
	f.try(expr{text: plus(times(a, 1, x.text)+second, c),
		terms: x.terms.and(y.terms).longer(length(a-1) + length(b-1) + length(c)), coefficients: 3,
		at: func(p *point) (int64, bool) {
			v, ok := x.whole(p)
			w, ok2 := y.whole(p)
			s, ok3 := mul(a, v)
			t, ok4 := mul(b, w)
			return s + t + c, ok && ok2 && ok3 && ok4
		}, basis: func(p *point) [2]int64 {
			v, _ := x.whole(p)
			w, _ := y.whole(p)
			return [2]int64{v, w}
		}})
}

package extrapolate

import (
	"fmt"
	"slices"
	gosort "sort"
)

// products tries those of two features.
func (f *fitter) products() {
	for i := range f.features {
		for j := i; j < len(f.features); j++ {
			if p := f.columns[i].times(&f.columns[j]); f.multiple(&p, &ones) {
				f.scaled(product(&f.features[i], &f.features[j]))
			}
		}
	}
}

// product returns x·y.
func product(x, y *feature) monomial {
	return monomial{x.name + "*" + y.name, func(p *point) (int64, int64, bool) {
		v, ok := mul(x.of(p), y.of(p))
		return v, 1, ok
	}, x.terms.and(y.terms)}
}

// quotient returns x/y.
func quotient(x, y *feature) monomial {
	return monomial{x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
		return x.of(p), y.of(p), true
	}, x.terms.and(y.terms)}
}

// pairs tries other expressions of two features, and those of the kinds that programs have.
func (f *fitter) pairs() {
	for i := range f.features {
		for j := range f.features {
			f.pair(i, j)
		}
	}
	f.blocks()
	if f.ranks {
		f.transposed()
		f.skewed()
	}
	f.rooted()
	f.paired()
	for _, x := range f.features {
		if x.uses == 0 {
			continue
		}
		f.ring("+"+x.name, x.terms, x.of)
		f.ring("-"+x.name, x.terms, func(p *point) int64 { return -x.of(p) })
		f.exchanged(x)
		f.alternating(x)
		f.doubling(x)
		f.branches(x)
		f.cyclic(x)
		f.try(expr{text: "rank+2^(levels below rank-1-" + x.name + ")", terms: x.terms.longer(3).digits(),
			at: func(p *point) (int64, bool) { return p.rank + power(levels(p)-1-x.of(p)), true }})
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

// together returns the terms of a sum: of two extents of one grid, the grid counts once.
func (x *feature) together(y *feature) terms {
	t := x.terms.and(y.terms)
	if x.foreign && x.grid == y.grid {
		t.bits -= min(x.bits, y.bits)
	}
	return t
}

// pair tries expressions of two features, by their numbers.
func (f *fitter) pair(i, j int) {
	x, y, c, d := &f.features[i], &f.features[j], &f.columns[i], &f.columns[j]
	if p := c.times(d); i <= j && f.multiple(&ones, &p) {
		f.scaled(monomial{"1/" + x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
			v, ok := mul(x.of(p), y.of(p))
			return 1, v, ok
		}, x.terms.and(y.terms)})
	}
	if i == j {
		return
	}
	if sum := c.plus(d); i < j && f.sieve.shifted(&sum) {
		f.shifted(x.name+"+"+y.name, x.together(y), func(p *point) (int64, bool) {
			return x.of(p) + y.of(p), true
		})
	}
	if rest := c.less(d); f.sieve.shifted(&rest) {
		f.shifted(x.name+"-"+y.name, x.terms.and(y.terms), func(p *point) (int64, bool) {
			return x.of(p) - y.of(p), true
		})
	}
	if f.multiple(c, d) {
		f.scaled(quotient(x, y))
	}
}

// cyclic tries what a rank has if things are dealt to ranks in turn, or to all but one.
func (f *fitter) cyclic(x feature) {
	for _, less := range []int64{0, 1} {
		dealt := f.column(func(p *point) int64 { return x.of(p) * (p.ranks - less) })
		for i := range f.features {
			z := &f.features[i]
			if sum := dealt.plus(&f.columns[i]); z.uses != 0 || z.odd || !f.sieve.shifted(&sum) {
				continue
			}
			f.shifted(fmt.Sprintf("%s*%s+%s", x.name, [...]string{"N", "(N-1)"}[less], z.name),
				x.terms.and(z.terms).longer(1+int(less)),
				func(p *point) (int64, bool) { return x.of(p)*(p.ranks-less) + z.of(p), true })
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

// A division is into parts, of which one is at a place.
type division struct {
	extent, at         func(p *point) int64
	extentName, atName string
	terms
}

// divisions are what programs divide by: all ranks, or the extents of a grid, and where a rank, an iteration or
// an element of an array has its part.
func (f *fitter) divisions() (list []division) {
	n := func(p *point) int64 { return p.ranks }
	list = append(list, division{extent: n, at: func(p *point) int64 {
		return p.rank
	}, extentName: "N", atName: "ranks"}, division{extent: func(p *point) int64 {
		return p.ranks - 1
	}, at: func(p *point) int64 { return p.rank - 1 }, extentName: "(N-1)", atName: "ranks", terms: terms{bits: 3}})
	if f.grid.dims > 1 {
		for d, n := range names(f.grid.dims) {
			list = append(list, division{extent: func(p *point) int64 { return p.extent[d] }, at: func(p *point) int64 {
				return p.at[d]
			}, extentName: n.extent, atName: n.at + "s", terms: terms{bits: 2}})
		}
	}
	for _, x := range f.features {
		if x.uses == 0 || x.binary || x.derived {
			continue
		}
		for more := range int64(2) {
			list = append(list, division{extent: n, at: func(p *point) int64 { return x.of(p) + more }, extentName: "N",
				atName: plus(x.name, more), terms: x.terms.longer(1 + length(more))})
		}
		list = append(list, division{extent: func(p *point) int64 { return p.ranks - 1 }, at: x.of,
			extentName: "(N-1)", atName: x.name, terms: x.terms.longer(4)})
		for less := range int64(2) {
			list = append(list, division{extent: n, at: func(p *point) int64 {
				return mod(p.rank-x.of(p)-less, p.ranks)
			}, extentName: "N", atName: fmt.Sprintf("(rank-%s%s) mod N", x.name, [...]string{"", "-1"}[less]),
				terms: x.terms.longer(3)})
		}
	}
	return list
}

// maxDivided bounds what is divided.
const maxDivided = 1 << 40

// blocks tries the parts of something that is divided with a remainder, by all ranks or along a dimension,
// where they begin, and multiples of them: what the larger ones have more shows of what.
func (f *fitter) blocks() {
	multiple := max(1, f.spread())
	for _, d := range f.divisions() {
		for _, times := range slices.Compact([]int64{multiple, 1}) {
			if f.role.is(roleRank, roleLabel, roleRequest) && times > 1 {
				continue
			}
			low := func(n, e, c int64) int64 { return (n + e - 1 - c) / e }
			f.divide(d, "%d/"+d.extentName+", rounded down", 0, times, func(n, e, c int64) int64 { return n / e })
			f.divide(d, "%d/"+d.extentName+", rounded up", 1, times, func(n, e, c int64) int64 {
				return (n + e - 1) / e
			})
			f.divide(d, "%d/"+d.extentName+", more for low "+d.atName, 1, times, low)
			f.divide(d, "%d/"+d.extentName+", more for high "+d.atName, 2, times, func(n, e, c int64) int64 {
				return (n + c) / e
			})
			f.divide(d, "beginning of %d/"+d.extentName+", more for low "+d.atName, 2, times,
				func(n, e, c int64) int64 {
					return c*(n/e) + min(c, n%e)
				})
			f.divide(d, "beginning of %d/"+d.extentName+", more for some "+d.atName, 3, times,
				func(n, e, c int64) int64 {
					return c * n / e
				})
		}
		f.rests(1, d)
		if multiple > 1 {
			f.rests(multiple, d)
		}
	}
}

// divide tries a multiple of a number that grows with what is divided: all that may be divided lie between two.
func (f *fitter) divide(d division, text string, more int, times int64, of func(n, e, c int64) int64) {
	var all interval
	for i, p := range f.points {
		e, c := d.extent(p), d.at(p)
		v, ok := div(f.values[i], times)
		if !ok || v < 0 || e <= 0 || c < 0 || c >= e || v > maxDivided/max(1, e) {
			return
		}
		high := (v + 2) * (e + 1) * 2
		first := func(v int64) int64 { // the least that gives v or more
			return int64(gosort.Search(int(high), func(n int) bool { return of(int64(n), e, c) >= v }))
		}
		low, next := first(v), first(v+1)
		if low == next {
			return
		}
		if next == high {
			next = maxDivided
		}
		if all.add(low, next-1); all.low > all.high {
			return
		}
	}
	if all.high-all.low > 1<<20 {
		return
	}
	for _, n := range all.ends() {
		text := fmt.Sprintf(text, n)
		if times > 1 {
			text = fmt.Sprintf("%d*(%s)", times, text)
		}
		f.try(expr{text: text, edge: more > 0, terms: d.terms.longer(more + length(n) + length(times-1)),
			at: func(p *point) (int64, bool) {
				e, c := d.extent(p), d.at(p)
				if e <= 0 || c < 0 || c >= e {
					return 0, false
				}
				return mul(of(n, e, c), times)
			}})
	}
}

// rests tries parts of something of which the first or the last takes what the others, of equal size, leave.
func (f *fitter) rests(multiple int64, d division) {
	extent, at, extentName, atName := d.extent, d.at, d.extentName, d.atName
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
			f.try(expr{edge: true, text: fmt.Sprintf("%d/%s, rounded %s, the rest for the %s of %s", n*multiple,
				extentName, rounded, place, atName), terms: d.terms.longer(5 + length(n) + length(multiple-1)),
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
	for i := range f.features {
		for j := range f.features {
			for k := j; k < len(f.features); k++ {
				yz := f.columns[j].times(&f.columns[k])
				x, y, z := &f.features[i], &f.features[j], &f.features[k]
				if f.multiple(&f.columns[i], &yz) {
					f.scaled(monomial{x.name + "/" + y.name + "/" + z.name, func(p *point) (int64, int64, bool) {
						v, ok := mul(y.of(p), z.of(p))
						return x.of(p), v, ok
					}, x.terms.and(y.terms).and(z.terms)})
				}
				if f.multiple(&yz, &f.columns[i]) {
					f.scaled(monomial{y.name + "*" + z.name + "/" + x.name, func(p *point) (int64, int64, bool) {
						v, ok := mul(y.of(p), z.of(p))
						return v, x.of(p), ok
					}, x.terms.and(y.terms).and(z.terms)})
				}
			}
		}
	}
}

// simple returns products and quotients of one feature.
func (f *fitter) simple() (list []monomial) {
	for i := range f.features {
		list = append(list, f.features[i].monomial(), f.features[i].inverse())
	}
	return list
}

// monomials returns products and quotients of one feature and of two that values may be a multiple of.
func (f *fitter) monomials() []monomial {
	list := f.simple()
	for i := range f.features {
		for j := range f.features {
			x, y, c, d := &f.features[i], &f.features[j], &f.columns[i], &f.columns[j]
			if p := c.times(d); i <= j && f.multiple(&p, &ones) {
				list = append(list, product(x, y))
			}
			if i != j && f.multiple(c, d) {
				list = append(list, quotient(x, y))
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
	f.line(f.simple())
	for i := range f.features {
		for j := range f.features {
			x, y, c, d := &f.features[i], &f.features[j], &f.columns[i], &f.columns[j]
			if p := c.times(d); i <= j && f.sieve.line(&p) {
				f.line([]monomial{product(x, y)})
			}
			if q, ok := c.over(d, len(f.sieve.points)); i != j && ok && f.sieve.line(&q) {
				f.line([]monomial{quotient(x, y)})
			}
		}
	}
}

// partPlus tries n/x + b, of two coefficients.
func (f *fitter) partPlus(x feature) {
	p, v := x.of(f.points[0]), f.values[0]
	for i, at := range f.points {
		q := x.of(at)
		if q == p || p == 0 || q == 0 {
			continue
		}
		all, ok := mul(v-f.values[i], p) // n/p - n/q = v - w
		all, ok2 := mul(all, q)
		n, ok3 := div(all, q-p)
		if !ok || !ok2 || !ok3 || n%p != 0 {
			return
		}
		b := v - n/p
		f.try(expr{text: plus(fmt.Sprintf("%d/%s", n, x.name), b), terms: x.terms.longer(length(n) + length(b)),
			at: func(p *point) (int64, bool) {
				v, ok := div(n, x.of(p))
				return v + b, ok
			}})
		return
	}
}

// logLine is how much longer a line of logarithms is.
const logLine = 4

// line tries a·m + b of monomials m, where a may be a half, a third or a quarter.
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
			a, by := f.values[i]-f.values[0], w-v
			if g := int64(gcd(int(abs(a)), int(abs(by)))); by < 0 {
				a, by = -a/g, -by/g
			} else {
				a, by = a/g, by/g
			}
			part, ok := mul(a, v)
			whole, ok2 := div(part, by)
			if !ok || !ok2 || by > maxUsual {
				break
			}
			b, t := f.values[0]-whole, m.terms
			if t.binary && t.uses == 0 { // of three logarithms, too many lines
				t = t.longer(logLine)
			}
			f.try(expr{text: plus(times(a, by, m.text), b), terms: t.longer(2 + length(a-1) + length(by-1) + length(b)),
				coefficients: 2, at: func(p *point) (int64, bool) {
					v, ok := m.whole(p)
					x, ok2 := mul(a, v)
					q, ok3 := div(x, by)
					return q + b, ok && ok2 && ok3
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
	list := f.simple()
	var columns []column
	for i := range list {
		whole := true
		columns = append(columns, f.column(func(p *point) int64 {
			v, ok := list[i].whole(p)
			whole = whole && ok
			return v
		}))
		if !whole {
			list[i].of = nil
		}
	}
	for i, x := range list {
		for j := i + 1; j < len(list); j++ {
			if x.of != nil && list[j].of != nil && f.sieve.plane(&columns[i], &columns[j]) {
				f.plane(x, list[j])
			}
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

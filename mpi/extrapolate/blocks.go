package extrapolate

import (
	"fmt"
	"slices"
	gosort "sort"
)

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
			f.divide(d, "%d less its part, %[1]d/"+d.extentName+", more for low "+d.atName, 3, times,
				func(n, e, c int64) int64 { return n - low(n, e, c) })
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

// rests tries parts of equal size, and a first or a last part that has the rest.
func (f *fitter) rests(multiple int64, d division) {
	extent, at, extentName, atName := d.extent, d.at, d.extentName, d.atName
	for _, last := range []bool{false, true} {
		takes := func(p *point) bool { return last && at(p) == extent(p)-1 || !last && at(p) == 0 }
		var part, rest int64
		var parts int64 // of all, at a number of ranks that shows both sizes
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
					if e <= 0 { // all ranks but one, of one rank
						return 0, false
					}
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

package extrapolate

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Programs have more expressions of few numbers than are found: two thirds of the ranks, n·n/2, the power of
// two that is not above n. On few numbers of ranks one of these seems to be another. So they are rivals: what
// is found must agree with all that hold, unless these are much longer.

// maxPart is the largest denominator of parts that are rivals, and maxParts that of several.
const (
	maxPart  = 8
	maxParts = 4
)

// rivals adds to what is found what programs may have instead: of the number of ranks alone, of the rank
// alone, and of the number of ranks that is added to the rank.
func (f *fitter) rivals() {
	if len(f.found) == 0 || f.found[0].constant || f.role.is(roleGroup, roleGrid) {
		return
	}
	r := &fitter{grid: f.grid, role: f.role, ranks: f.ranks, none: f.none, extents: f.extents,
		points: f.points, values: f.values}
	if byRanks(f.points, f.values) > 0 {
		r.rivalsIn(ofN)
		r.surfaces()
	} else {
		r.rivalsIn(ofRank)
		r.rivalsBesides()
		r.try(expr{text: "lowest bit of rank, N-rank at most", terms: terms{bits: 3}, at: func(p *point) (int64, bool) {
			return min(p.rank&-p.rank, p.ranks-p.rank), true
		}})
	}
	f.found = append(f.found, r.found...)
}

var (
	ofN    = feature{name: "N", of: func(p *point) int64 { return p.ranks }}
	ofRank = feature{name: "rank", of: func(p *point) int64 { return p.rank }}
)

// rivalsIn adds those that depend on nothing but x, if that is what the values do.
func (f *fitter) rivalsIn(x feature) {
	if !f.of(x) {
		return
	}
	add := func(m feature) {
		f.shifted(m.name, m.terms, func(p *point) (int64, bool) { return m.of(p), true })
	}
	for _, m := range shares {
		m.bits += m.roundings * f.rounding()
		add(m.in(x))
	}
	for _, m := range others {
		m := f.mapped(m, x)
		add(m)
		f.scaled(m.monomial())
		f.line([]monomial{m.monomial()})
	}
	for _, m := range others {
		f.quotients(f.mapped(m, x))
	}
}

// mapped returns the mapping of a feature.
func (f *fitter) mapped(m mapping, x feature) feature {
	mapped := m.in(x)
	if mapped.binary = strings.Contains(m.name, "log2") || strings.Contains(m.name, "s of "); mapped.binary {
		if !strings.Contains(m.name, "2^") {
			mapped.bits += f.grid.logBits() - 2
		}
		if f.role == roleRank {
			mapped.bits += rankLog
		}
	}
	if f.role == roleRank && strings.Contains(m.name, " mod ") {
		mapped.bits += 2
	}
	if power := rootIn(m.name); power > 0 {
		mapped.bits += f.grid.rootBits(power)
	}
	return mapped
}

// rankLog says how unlikely a rank is the logarithm of another.
const rankLog = 3

// rootIn returns of which power an expression has the root, 0 if of none.
func rootIn(name string) int {
	switch {
	case strings.HasPrefix(name, "cube"):
		return 3
	case strings.Contains(name, "square"):
		return 2
	}
	return 0
}

// of reports whether values depend on nothing but x.
func (f *fitter) of(x feature) bool {
	known := make(map[int64]int64)
	for i, p := range f.points {
		v, ok := known[x.of(p)]
		if ok && v != f.values[i] {
			return false
		}
		known[x.of(p)] = f.values[i]
	}
	return true
}

// quotients adds C/d and a number, rounded down and up, for the least and the greatest C.
func (f *fitter) quotients(d feature) {
	if d.binary { // hardly anything is divided by a logarithm
		d.terms = d.terms.longer(3)
	}
	for c := int64(-1); c <= 1; c++ {
		for i, round := range []string{"down", "up"} {
			lead := func(p *point) int64 { return int64(i) * (d.of(p) - 1) }
			var all interval
			for k, p := range f.points {
				by := d.of(p)
				v, ok := mul(f.values[k]-c, by)
				if by <= 0 || !ok || f.values[k] < c {
					return
				}
				all.add(v-lead(p), v-lead(p)+by-1)
			}
			for _, n := range all.ends() {
				f.try(expr{text: plus(fmt.Sprintf("%d/%s rounded %s", n, d.name, round), c),
					terms: d.terms.longer(f.rounding() + length(n) + 3*length(c)), at: func(p *point) (int64, bool) {
						by := d.of(p)
						if by <= 0 {
							return 0, false
						}
						return (n+lead(p))/by + c, true
					}})
			}
		}
	}
}

// An interval is what several have in common.
type interval struct {
	low, high int64
	some      bool
}

func (i *interval) add(low, high int64) {
	if !i.some {
		*i = interval{low, high, true}
		return
	}
	i.low, i.high = max(i.low, low), min(i.high, high)
}

// ends returns the least and the greatest, nothing if there are none.
func (i *interval) ends() []int64 {
	if i.low > i.high || i.high < 0 {
		return nil
	}
	return slices.Compact([]int64{max(0, i.low), i.high})
}

// surfaces adds sums of the extents of a grid of three dimensions, and of their products.
func (f *fitter) surfaces() {
	for i, x := range f.extents {
		for j, y := range f.extents[i:] {
			for _, z := range f.extents[i+j:] {
				if x.grid != y.grid || x.grid != z.grid {
					continue
				}
				f.try(expr{text: x.name + "+" + y.name + "+" + z.name, terms: terms{bits: 2 + x.bits},
					at: func(p *point) (int64, bool) {
						return x.of(p) + y.of(p) + z.of(p), true
					}})
				f.try(expr{text: fmt.Sprintf("%[1]s*%[2]s+%[2]s*%[3]s+%[1]s*%[3]s", x.name, y.name, z.name),
					terms: terms{bits: 3 + x.bits}, at: func(p *point) (int64, bool) {
						a, b, c := x.of(p), y.of(p), z.of(p)
						return a*b + b*c + a*c, true
					}})
			}
		}
	}
}

// rivalsBesides adds those of the number of ranks that is added to the rank, around the last rank or not.
func (f *fitter) rivalsBesides() {
	f.besides("rank+%s", false, func(p *point, v int64) int64 {
		return v - p.rank
	}, func(p *point, g int64) int64 { return p.rank + g })
	f.besides("%s-rank", false, func(p *point, v int64) int64 {
		return v + p.rank
	}, func(p *point, g int64) int64 { return g - p.rank })
	if f.ranks {
		f.besides("(rank+%s) mod N", true, func(p *point, v int64) int64 {
			return mod(v-p.rank, p.ranks)
		}, func(p *point, g int64) int64 { return mod(p.rank+g, p.ranks) })
	}
}

// besides adds what has the text, if what is left is of the number of ranks, and is no number that is added.
func (f *fitter) besides(text string, around bool, left, whole func(p *point, v int64) int64) {
	var values []int64
	up, down := true, true
	for i, p := range f.points {
		values = append(values, left(p, f.values[i]))
		up = up && values[i] == values[0]
		down = down && values[i]-p.ranks == values[0]-f.points[0].ranks
	}
	if up || down && around || byRanks(f.points, values) == 0 {
		return
	}
	g := &fitter{grid: f.grid, role: f.role, points: f.points, values: values}
	g.rivalsIn(ofN)
	longer := 1
	if byRanks(f.points, values) == 2 { // anything is an expression of two numbers
		longer += 3
	}
	for _, e := range g.found {
		f.try(expr{text: fmt.Sprintf(text, e.text), terms: e.terms.longer(longer), at: func(p *point) (int64, bool) {
			v, ok := e.at(p)
			return whole(p, v), ok
		}})
	}
}

// A mapping is of a number.
type mapping struct {
	name string // with %s for the number
	bits int
	of   func(n int64) int64

	roundings int
}

// in returns the mapping of a feature.
func (m mapping) in(x feature) feature {
	return feature{name: fmt.Sprintf(m.name, x.name), of: func(p *point) int64 {
		return m.of(x.of(p))
	}, terms: x.terms.longer(m.bits)}
}

// What shares there are of a number, and of its square.
var shares = func() (list []mapping) {
	add := func(name string, bits int, p, q int64, of func(n int64) int64) {
		if bits += length(p-1) + length(q-1); q > maxUsual {
			bits += 2
		}
		if q == 1 {
			list = append(list, mapping{times(p, q, name), bits, func(n int64) int64 { return p * of(n) }, 0})
			return
		}
		for i, round := range []string{"down", "up"} {
			lead := int64(i) * (q - 1)
			list = append(list, mapping{times(p, q, name) + " rounded " + round, bits,
				func(n int64) int64 { return (p*of(n) + lead) / q }, 1})
		}
	}
	for q := int64(1); q <= maxPart; q++ {
		for p := int64(1); p == 1 || p <= maxParts && q <= maxParts; p++ {
			if gcd(int(p), int(q)) == 1 {
				add("%s", 0, p, q, func(n int64) int64 { return n })
				add("%[1]s*%[1]s", 1, p, q, func(n int64) int64 { return n * n })
			}
		}
	}
	return list
}()

// What else there is of a number, and what programs divide by.
var others = []mapping{
	{name: "%s", bits: 0, of: func(n int64) int64 { return n }},
	{name: "(%s-1)", bits: 1, of: func(n int64) int64 { return n - 1 }},
	{name: "(%s+1)", bits: 1, of: func(n int64) int64 { return n + 1 }},
	{name: "log2(%s)", bits: 2, of: log2},
	{name: "log2(%s), rounded up", bits: 3, of: func(n int64) int64 { return log2(2*n - 1) }},
	{name: "log2(%s+1)", bits: 3, of: func(n int64) int64 { return log2(n + 1) }},
	{name: "log2(%s-1)", bits: 3, of: func(n int64) int64 { return log2(n - 1) }},
	{name: "log2(%s)/2", bits: 5, of: func(n int64) int64 { return log2(n) / 2 }},
	{name: "%[1]s*log2(%[1]s)", bits: 3, of: func(n int64) int64 { return n * log2(n) }},
	{name: "%[1]s*log2(%[1]s), rounded up", bits: 4, of: func(n int64) int64 { return n * log2(2*n-1) }},
	{name: "log2(%[1]s)*log2(%[1]s)", bits: 5, of: func(n int64) int64 { return log2(n) * log2(n) }},
	{name: "log2(log2(%s))", bits: 6, of: func(n int64) int64 { return log2(log2(n)) }},
	{name: "2^log2(%s)", bits: 3, of: func(n int64) int64 { return power(log2(n)) }},
	{name: "2^log2(%s), rounded up", bits: 3, of: func(n int64) int64 { return power(log2(2*n - 1)) }},
	{name: "%[1]s-2^log2(%[1]s)", bits: 4, of: func(n int64) int64 { return n - power(log2(n)) }},
	{name: "the square that is not above %s", bits: 1, of: func(n int64) int64 {
		return squareRoot(n) * squareRoot(n)
	}},
	{name: "ones of %s", bits: 3, of: func(n int64) int64 { return int64(bits.OnesCount64(uint64(n))) }},
	{name: "trailing zeros of %s", bits: 3, of: func(n int64) int64 { return int64(bits.TrailingZeros64(uint64(n))) }},
	{name: "square root of %s, rounded down", bits: 0, of: squareRoot},
	{name: "square root of %s, rounded up", bits: 1, of: func(n int64) int64 { return min(n, squareRoot(n-1)+1) }},
	{name: "cube root of %s, rounded down", bits: 0, of: cubeRoot},
	{name: "cube root of %s, rounded up", bits: 2, of: func(n int64) int64 { return min(n, cubeRoot(n-1)+1) }},
	{name: "%[1]s*%[1]s*%[1]s", bits: 2, of: func(n int64) int64 { return n * n * n }},
	{name: "%s mod 2", bits: 2, of: func(n int64) int64 { return n % 2 }},
	{name: "%s mod 3", bits: 3, of: func(n int64) int64 { return n % 3 }},
	{name: "%s mod 4", bits: 4, of: func(n int64) int64 { return n % 4 }},
}

// cubeRoot returns a cube root, rounded down.
func cubeRoot(n int64) (root int64) {
	for (root+1)*(root+1)*(root+1) <= n {
		root++
	}
	return root
}

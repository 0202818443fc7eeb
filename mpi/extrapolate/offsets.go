package extrapolate

import (
	"fmt"
	"slices"
)

// Where ranks have their parts of something that all share: a file, or a matrix.

// offsets tries where in something that is divided by the number of ranks the part of a rank begins, or that of a
// neighbour around the last rank.
func (f *fitter) offsets() {
	if f.ranks {
		return
	}
	for more := int64(-1); more <= 1; more++ {
		name := "rank"
		if more != 0 {
			name = fmt.Sprintf("((rank%+d) mod N)", more)
		}
		f.affine(monomial{name + "/N", func(p *point) (int64, int64, bool) {
			return mod(p.rank+more, p.ranks), p.ranks, true
		}, terms{bits: 1 + 2*int(abs(more))}})
	}
}

// crossed tries what parts of a rank and of another have in common if both sides of a matrix are divided, with a
// remainder: what of its rows each other rank takes if a matrix is transposed.
func (f *fitter) crossed() {
	if f.ranks || !slices.ContainsFunc(f.points, func(p *point) bool { return p.index > 0 }) {
		return
	}
	rows, values, columns := f.rows()
	if len(rows) == 0 {
		return
	}
	g := &fitter{grid: f.grid, role: f.role, points: rows, values: values}
	g.blocks()
	for _, e := range g.found {
		for high, text := range []string{"low", "high"} {
			f.try(expr{text: fmt.Sprintf("(%s)*(%d/N, more for %s indices)", e.text, columns, text), edge: true,
				terms: e.terms.longer(3 + high + length(columns)), at: func(p *point) (int64, bool) {
					lead := p.ranks - 1 - p.index
					if high > 0 {
						lead = p.index
					}
					rows, ok := e.at(p)
					v, ok2 := mul(rows, (columns+lead)/p.ranks)
					return v, ok && ok2 && p.index < p.ranks
				}})
		}
	}
}

// rows returns what parts all elements of an array on one rank are multiples of, if there are as many in all as
// columns on any rank; nothing if they have none.
func (f *fitter) rows() (at []*point, values []int64, columns int64) {
	type row struct {
		first            *point
		sum, divisor     int64
		elements, values int64
	}
	type key struct {
		ranks, rank int64
		rounds      [maxDepth]int64
	}
	known, order := make(map[key]*row), []*row{}
	for i, p := range f.points {
		k := key{p.ranks, p.rank, p.rounds}
		r := known[k]
		if r == nil {
			r = &row{first: p}
			known[k], order = r, append(order, r)
		}
		v := f.values[i]
		if v <= 0 || v > maxDivided {
			return nil, nil, 0
		}
		if r.divisor != v {
			r.values++
		}
		r.sum, r.divisor = r.sum+v, int64(gcd(int(r.divisor), int(v)))
		r.elements++
	}
	for _, r := range order {
		if r.elements != r.first.ranks {
			return nil, nil, 0
		}
		if r.values > 1 { // some have one column more than others
			if n := r.sum / r.divisor; columns == 0 || columns == n {
				columns = n
			} else {
				return nil, nil, 0
			}
		}
	}
	for _, r := range order {
		v, ok := div(r.sum, max(1, columns))
		if !ok || columns == 0 {
			return nil, nil, 0
		}
		p := *r.first
		p.index = 0
		at, values = append(at, &p), append(values, v)
	}
	return at, values, columns
}

// strides tries multiples of an iteration and a part of something: as in files to which all ranks write.
func (f *fitter) strides() {
	fixed := slices.DeleteFunc(slices.Clone(f.features), func(x feature) bool { return x.uses != 0 || x.binary })
	for _, x := range f.features {
		by, ok := f.stride(&x)
		if x.uses == 0 || x.derived || !ok {
			continue
		}
		g := &fitter{grid: f.grid, role: f.role, points: f.points}
		for i, p := range f.points {
			g.values = append(g.values, f.values[i]-by*x.of(p))
		}
		g.sift(fixed)
		g.products()
		for i := range fixed {
			for j := range fixed {
				m := quotient(&fixed[i], &fixed[j])
				if i != j && g.multiple(&g.columns[i], &g.columns[j]) {
					g.scaled(m)
				}
				if i != j && len(g.found) == 0 {
					g.affine(m)
				}
			}
		}
		for _, e := range g.found {
			f.try(expr{text: times(by, 1, x.name) + "+" + e.text, terms: x.terms.and(e.terms).longer(length(by - 1)),
				at: func(p *point) (int64, bool) {
					v, ok := e.at(p)
					return v + by*x.of(p), ok
				}})
		}
	}
}

// stride returns by how much values of one rank of one run grow with a feature, and whether there are two.
func (f *fitter) stride(x *feature) (by int64, ok bool) {
	p := f.points[0]
	for i, q := range f.points {
		if q.ranks == p.ranks && q.rank == p.rank && x.of(q) != x.of(p) {
			return div(f.values[i]-f.values[0], x.of(q)-x.of(p))
		}
	}
	return 0, false
}

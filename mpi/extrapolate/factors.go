package extrapolate

import "fmt"

// extentsInOrder tries the extents of the grid that ranks are in, the first of the coordinate that varies least,
// as MPI has them, and those of MPI_Dims_create.
func (f *fitter) extentsInOrder() {
	if isConstant(f.values) {
		return
	}
	dims, descending := int64(0), true // as MPI_Dims_create has them
	for i, p := range f.points {
		dims = max(dims, p.index+1)
		for k, q := range f.points {
			if q.ranks == p.ranks && q.rank == p.rank && q.index == p.index+1 && f.values[k] > f.values[i] {
				descending = false
			}
		}
	}
	if int64(f.grid.dims) == dims {
		f.try(expr{text: "extents", terms: terms{uses: usesIndex, extent: true}, at: func(p *point) (int64, bool) {
			e := p.extent[dims-1-p.index]
			return e, !descending || p.index == 0 || p.extent[dims-p.index] >= e
		}})
	}
	if len(f.found) > 0 || dims < 2 || dims > 3 {
		return
	}
	known := make(map[int64][]int64)
	f.try(expr{text: "extents of MPI_Dims_create", terms: terms{uses: usesIndex, extent: true},
		at: func(p *point) (int64, bool) {
			if known[p.ranks] == nil {
				known[p.ranks] = balanced(p.ranks, int(dims))
			}
			return known[p.ranks][p.index], true
		}})
}

// maxFactor bounds what is taken apart into two factors.
const maxFactor = 1 << 24

// factors tries products of two quotients that are rounded down, with the same number added to both: what is
// at the surface of a part of something, or all of it.
func (f *fitter) factors() {
	var extents []feature
	for _, x := range f.features {
		if x.extent || x.foreign || x.name == ofN.name {
			extents = append(extents, x)
		}
	}
	for i, x := range extents {
		for _, y := range extents[i:] {
			f.scaled(monomial{"(" + x.name + "+" + y.name + ")", func(p *point) (int64, int64, bool) {
				return x.of(p) + y.of(p), 1, true
			}, x.together(&y)})
			f.divide(division{extent: func(p *point) int64 {
				return x.of(p) * y.of(p)
			}, at: func(*point) int64 { return 0 },
				extentName: x.name + "/" + y.name, terms: x.terms.and(y.terms)},
				"%d/"+x.name+"/"+y.name+", rounded down", 2, 1,
				func(n, e, _ int64) int64 { return n / e })
			for added := range int64(5) {
				f.factorsOf(x, y, added)
			}
		}
	}
}

// factorsOf tries (a/x + c)·(b/y + c).
func (f *fitter) factorsOf(x, y feature, c int64) {
	p, v := f.points[0], f.values[0]
	if v <= 0 || v > maxFactor {
		return
	}
	for _, d := range factors(v) {
		a, b := interval{}, interval{}
		if !a.addQuotient(d-c, x.of(p)) || !b.addQuotient(v/d-c, y.of(p)) || !f.narrow(x, y, c, &a, &b) {
			continue
		}
		for _, a := range a.ends() {
			for _, b := range b.ends() {
				f.tryFactors(x, y, a, b, c)
			}
		}
	}
}

// addQuotient adds what has a quotient, rounded down, and reports whether something is left.
func (i *interval) addQuotient(v, by int64) bool {
	if v <= 0 || by <= 0 {
		return false
	}
	i.add(v*by, v*by+by-1)
	return i.low <= i.high
}

// narrow makes intervals of a and b those of all points, and reports whether something is left. Of several ways
// to take a value apart, the first counts.
func (f *fitter) narrow(x, y feature, c int64, a, b *interval) bool {
	for i, p := range f.points {
		by, found := max(1, x.of(p)), false
		for q := a.low / by; q <= a.high/by; q++ {
			other, ok := div(f.values[i], q+c)
			na, nb := *a, *b
			if ok && na.addQuotient(q, by) && nb.addQuotient(other-c, y.of(p)) {
				*a, *b, found = na, nb, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// tryFactors tries (a/x + c)·(b/y + c), and a multiple of it with the same number divided.
func (f *fitter) tryFactors(x, y feature, a, b, c int64) {
	if x.name == y.name && a != b {
		return
	}
	f.tryMultiple(x, y, 1, a, b, c)
	if whole := int64(gcd(int(a), int(b))); a != b && whole > 0 {
		// A square is a factor of both.
		if k, ok := mul(a/whole, b/whole); ok && k <= maxDivided/whole && squareRoot(k)*squareRoot(k) != k {
			f.tryMultiple(x, y, k, whole, whole, c)
		}
	}
}

// tryMultiple tries k·(a/x + c)·(b/y + c).
func (f *fitter) tryMultiple(x, y feature, k, a, b, c int64) {
	const rounded = 2
	bits := length(a) + length(c) + 2*rounded + length(k-1)
	if a != b {
		bits += length(b)
	}
	text := func(a int64, x feature) string {
		if c == 0 {
			return fmt.Sprintf("(%d/%s, rounded down)", a, x.name)
		}
		return fmt.Sprintf("(%d/%s, rounded down, %+d)", a, x.name, c)
	}
	f.try(expr{text: times(k, 1, text(a, x)+"*"+text(b, y)), terms: x.terms.and(y.terms).longer(bits),
		at: func(p *point) (int64, bool) {
			d, e := x.of(p), y.of(p)
			if d <= 0 || e <= 0 {
				return 0, false
			}
			v, ok := mul(a/d+c, b/e+c)
			if !ok {
				return 0, false
			}
			return mul(k, v)
		}})
}

package rankenc

import (
	"fmt"
	"slices"
)

// cellsFamily is factor·(S − w((a·x + b·y + c) mod k)·w((a'·x + b'·y + c') mod k)), of coordinates x and y in
// a grid of k columns: how many points the faces of the k cells of a rank have in all, but for the one at the
// rim. S is the sum of w(i)·w(j) of all i, with j = (i + a"·x + b"·y) mod k, or (a"·x + b"·y − i) mod k,
// where cells are counted against each other. Factors and widths w are those of blocksFamily. The parameters
// are k, the factors as digits of a number, c, c', the number of points and the factor.
var cellsFamily = family{
	form:    "sum of faces of cells",
	params:  6,
	extents: 1,
	fit:     func(s *sample, try func(params)) { s.fitCells(try) },
	eval: func(p params, rank, _ int64) int64 {
		k, n, f := p[0], p[4], cellFactorsOf(p[1])
		y := floorDiv(rank, k)
		x := rank - y*k
		first := blockSize(n, k, floorMod(f.rim[0].of(x, y)+p[2], k))
		second := blockSize(n, k, floorMod(f.rim[1].of(x, y)+p[3], k))
		return p[5] * (facesOfCells(n, k, floorMod(f.all.of(x, y), k), f.against) - first*second)
	},
	text: func(p params) string {
		f := cellFactorsOf(p[1])
		with := "i+" + f.all.text(0)
		if f.against {
			with = f.all.text(0) + "-i"
		}
		return fmt.Sprintf("%d·(Σ block(i)·block(%s) - block(%s)·block(%s)) of %d in %d blocks", p[5], with,
			f.rim[0].text(p[2]), f.rim[1].text(p[3]), p[4], p[0])
	},
}

// cellFactors are those of the cells of a rank, and of the one at the rim.
type cellFactors struct {
	rim     [2]factors
	all     factors
	against bool // the cells are counted against each other
}

// cellFactorsOf returns the factors that a number has as digits.
func cellFactorsOf(number int64) cellFactors {
	rest := floorDiv(number, 81)
	all := factorsOf(rest)
	return cellFactors{factorsOf(number), all[0], floorMod(floorDiv(rest, 9), 2) > 0}
}

// number is the inverse of cellFactorsOf.
func (f cellFactors) number() int64 {
	n := f.all.x + 1 + 3*(f.all.y+1)
	if f.against {
		n += 9
	}
	return numberOf(f.rim) + 81*n
}

// facesOfCells returns the sum of w(i)·w(j) of all i, where w are the sizes of k blocks of n points, and j is
// i + d or, against, d − i, modulo k, 0 ≤ d < k.
func facesOfCells(n, k, d int64, against bool) int64 {
	size := floorDiv(n, k)
	large := n - size*k // blocks
	both := max(0, large-d) + max(0, large-(k-d))
	if against { // of i and j below large, those whose sum is d or k+d
		both = 0
		for _, t := range []int64{d, k + d} {
			both += max(0, min(t+1, 2*large-1-t))
		}
	}
	return k*size*size + 2*size*large + both
}

// fitCells calls try with parameters, if s has all ranks of a square grid.
func (s *sample) fitCells(try func(params)) {
	const least = 3 // columns
	k := squareRoot(s.size)
	if k < least || int64(len(s.ranks)) != s.size {
		return
	}
	total, low, high := int64(0), s.values[0], s.values[0]
	for _, v := range s.values {
		total, low, high = total+v, min(low, v), max(high, v)
	}
	if low <= 0 || high == low || high/4 > low { // blocks differ by a point, of one at least, and faces by twice that
		return
	}
	var rims []rim
	for _, f := range blockDirections {
		if r, ok := rimOf(residueSums(s.values, f, k), total); ok {
			r.f = f
			rims = append(rims, r)
		}
	}
	for i, first := range rims {
		for _, second := range rims[i+1:] {
			if first.n != second.n || first.factor != second.factor {
				continue
			}
			f := cellFactors{rim: [2]factors{first.f, second.f}}
			for _, f.all = range blockDirections {
				for _, f.against = range []bool{false, true} {
					try(params{k, f.number(), first.c, second.c, first.n, first.factor})
				}
				f.all = factors{-f.all.x, -f.all.y}
				try(params{k, f.number(), first.c, second.c, first.n, first.factor})
			}
		}
	}
}

// A rim says which coordinate the cell at the rim has, the number of points, and the factor.
type rim struct {
	f            factors
	c, n, factor int64
}

// rimOf returns the rim whose sizes are missing in sums by residue, which add up to total.
func rimOf(sums []int64, total int64) (r rim, ok bool) {
	k, low, high := int64(len(sums)), slices.Min(sums), slices.Max(sums)
	if slices.ContainsFunc(sums, func(v int64) bool { return v != low && v != high }) {
		return rim{}, false
	}
	step := high - low // the factor times the points
	if step <= 0 || total <= 0 || step > total || total/step%(k-1) != 0 {
		return rim{}, false
	}
	r.n = total / step / (k - 1)
	r.factor = step / r.n
	c, large, ok := oneRun(sums, func(v int64) bool { return v == low })
	r.c = c
	return r, ok && floorMod(r.n, k) == large && r.factor*r.n == step
}

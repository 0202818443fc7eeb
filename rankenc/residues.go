package rankenc

import "fmt"

// residuesFamily is ((a·x + b·y + c) mod k) + k·((a'·x + b'·y + c') mod k) + base, of coordinates x and y in
// a grid of k columns, with factors of −1, 0 or 1: where a cell of a multipartition lies, which some programs
// have for a tag. The parameters are k, the factors as digits of a number, c, c' and base.
var residuesFamily = family{
	form:    "sum of 2 residues",
	params:  5,
	extents: 1,
	fit: func(s *sample, try func(params)) {
		for _, k := range s.periods() {
			s.fitResidues(k, try)
		}
	},
	eval: func(p params, rank, _ int64) int64 { return residues(p, rank) + p[4] },
	text: func(p params) string {
		f := factorsOf(p[1])
		return plus(fmt.Sprintf("(%s) mod %d + %[2]d·((%[3]s) mod %[2]d)", f[0].text(p[2]), p[0],
			f[1].text(p[3])), p[4])
	},
}

// residues returns the value without base.
func residues(p params, rank int64) int64 {
	k, f := p[0], factorsOf(p[1])
	y := floorDiv(rank, k)
	x := rank - y*k
	return floorMod(f[0].of(x, y)+p[2], k) + k*floorMod(f[1].of(x, y)+p[3], k)
}

// Factors are those of the two coordinates, −1, 0 or 1.
type factors struct{ x, y int64 }

func (f factors) of(x, y int64) int64 { return f.x*x + f.y*y }

func (f factors) text(c int64) string { return sum([]int64{f.x, f.y}, []string{"column", "row"}, c) }

// factorsOf returns the factors of both residues, which a number has as digits to the base of 3.
func factorsOf(number int64) (f [2]factors) {
	for _, to := range []*int64{&f[0].x, &f[0].y, &f[1].x, &f[1].y} {
		rest := floorDiv(number, 3)
		*to = number - 3*rest - 1
		number = rest
	}
	return f
}

// numberOf is the inverse of factorsOf.
func numberOf(f [2]factors) int64 {
	return f[0].x + 1 + 3*(f[0].y+1) + 9*(f[1].x+1) + 27*(f[1].y+1)
}

// A step is from one position to another one that is so far in a grid.
type step struct{ from, to int }

// steps calls yield with positions of neighbours in a row of k, or in a column, until it returns false.
func (s *sample) steps(k int64, inRow bool, yield func(step) bool) {
	lag := k
	if inRow {
		lag = 1
	}
	for i, j := 0, 0; i < len(s.ranks); i++ {
		for s.ranks[j] < s.ranks[i]-lag {
			j++
		}
		if s.ranks[j] == s.ranks[i]-lag && !(inRow && floorMod(s.ranks[i], k) == 0) && !yield(step{j, i}) {
			return
		}
	}
}

// maxSteps is how many steps must agree before all values are looked at.
const maxSteps = 32

// A rise is what a step adds to the value: a to the first residue, b to the second.
type rise struct{ a, b int64 }

// of reports whether a step of values may be this one in residues of k, and which of them then wraps around.
func (r rise) of(d, k int64) (ok bool, wraps [2]bool) {
	for n := range 4 {
		first, second := n&1 > 0, n&2 > 0
		want := r.a + k*r.b
		if first {
			want -= r.a * k
		}
		if second {
			want -= r.b * k * k
		}
		if d == want && !(first && r.a == 0) && !(second && r.b == 0) {
			return true, [2]bool{first, second}
		}
	}
	return false, wraps
}

// rises returns those that the first steps may be.
func (s *sample) rises(k int64, inRow bool) []rise {
	list := make([]rise, 0, 9)
	for a := int64(-1); a <= 1; a++ {
		for b := int64(-1); b <= 1; b++ {
			list = append(list, rise{a, b})
		}
	}
	n := 0
	s.steps(k, inRow, func(t step) bool {
		d := s.values[t.to] - s.values[t.from]
		kept := list[:0]
		for _, r := range list {
			if ok, _ := r.of(d, k); ok {
				kept = append(kept, r)
			}
		}
		list = kept
		n++
		return len(list) > 0 && n < maxSteps
	})
	if n == 0 {
		return nil
	}
	return list
}

// fitResidues calls try with parameters for a grid of k columns.
func (s *sample) fitResidues(k int64, try func(params)) {
	const least = 4 // columns: in smaller grids, much is a sum of residues by chance
	if k < least {
		return
	}
	inRow := s.rises(k, true)
	if len(inRow) == 0 {
		return
	}
	for _, y := range s.rises(k, false) {
		for _, x := range inRow {
			f := [2]factors{{x.a, y.a}, {x.b, y.b}}
			if f[0] == (factors{}) || f[1] == (factors{}) {
				continue // one residue is that of a grid
			}
			c := [2]int64{s.offset(k, 0, x, y), s.offset(k, 1, x, y)}
			p := params{k, numberOf(f), c[0], c[1], 0}
			p[4] = s.values[0] - residues(p, s.ranks[0])
			try(p)
		}
	}
}

// offset returns the constant in a residue: it is 0, or k−1 if it falls, where it wraps around. Where it
// never does in a step, it is so at the beginning of rows and columns.
func (s *sample) offset(k int64, residue int, x, y rise) (c int64) {
	f := [2]factors{{x.a, y.a}, {x.b, y.b}}[residue]
	if f.x < 0 || f.x == 0 && f.y < 0 {
		c = k - 1
	}
	for _, inRow := range []bool{true, false} {
		r, factor := x, f.x
		if !inRow {
			r, factor = y, f.y
		}
		found := false
		if factor != 0 {
			s.steps(k, inRow, func(t step) bool {
				_, wraps := r.of(s.values[t.to]-s.values[t.from], k)
				if found = wraps[residue]; found {
					row := floorDiv(s.ranks[t.to], k)
					after := int64(0)
					if factor < 0 {
						after = k - 1
					}
					c = floorMod(after-f.of(s.ranks[t.to]-row*k, row), k)
				}
				return !found
			})
		}
		if found {
			break
		}
	}
	return c
}

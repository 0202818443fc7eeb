package rankenc

import "fmt"

// torusFamily is the process d columns and e rows further, with wrap, in a grid
// of k columns and as many rows as hold the group.
var torusFamily = family{
	params:  3,
	extents: 1,
	fit: func(s *sample, try func(params)) {
		for _, k := range s.periods() {
			x, y := s.displacement(0, k)
			try(params{k, center(x, k), center(y, s.rows(k))})
		}
	},
	eval: func(p params, rank, size int64) int64 {
		k := p[0]
		row := floorDiv(rank, k)
		x := floorMod(rank-row*k+p[1], k)
		return floorMod(row+p[2], rowsOf(size, k))*k + x
	},
	text: func(p params) string {
		return fmt.Sprintf("torus %d: %s, %s", p[0], plus("column", p[1]), plus("row", p[2]))
	},
}

// torus3Family is the process d columns, e rows and f planes further, with wrap,
// in a grid of k columns, m rows and as many planes as hold the group.
var torus3Family = family{
	params:  5,
	extents: 2,
	fit: func(s *sample, try func(params)) {
		for _, k := range s.periods() {
			for _, m := range s.planes(k, s.sameDisplacement) {
				x, rest := s.displacement(0, k)
				y, z := splitRows(s.ranks[0], rest, k, m)
				try(params{k, m, center(x, k), center(y, m), center(z, s.rows(k*m))})
			}
		}
	},
	eval: func(p params, rank, size int64) int64 {
		k, m := p[0], p[1]
		row := floorDiv(rank, k)
		plane := floorDiv(row, m)
		x := floorMod(rank-row*k+p[2], k)
		y := floorMod(row-plane*m+p[3], m)
		return (floorMod(plane+p[4], rowsOf(size, k*m))*m+y)*k + x
	},
	text: func(p params) string {
		return fmt.Sprintf("torus %d×%d: %s, %s, %s", p[0], p[1], plus("column", p[2]), plus("row", p[3]), plus("plane", p[4]))
	},
}

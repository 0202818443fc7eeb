package rankenc

import "fmt"

// gridFamily is the process d columns and e rows further in a grid of k columns,
// or the value rim if there is none.
var gridFamily = family{
	params:  4,
	extents: 1,
	rim:     true,
	fit: func(s *sample, try func(params)) {
		if s.regular < 0 || s.negative >= 0 {
			return
		}
		for _, k := range s.periods() {
			x, y := s.displacement(s.regular, k)
			try(params{k, x, y, s.negative})
		}
	},
	eval: func(p params, rank, size int64) int64 {
		k := p[0]
		row := floorDiv(rank, k)
		x, y := rank-row*k+p[1], row+p[2]
		if v := y*k + x; x >= 0 && x < k && y >= 0 && v >= 0 && v < size {
			return v
		}
		return p[3]
	},
	text: func(p params) string {
		return fmt.Sprintf("grid %d: %s, %s or %d", p[0], plus("column", p[1]), plus("row", p[2]), p[3])
	},
}

// grid3Family is the process d columns, e rows and f planes further in a grid of
// k columns and m rows, or the value rim if there is none.
var grid3Family = family{
	params:  6,
	extents: 2,
	rim:     true,
	fit: func(s *sample, try func(params)) {
		if s.regular < 0 || s.negative >= 0 {
			return
		}
		for _, k := range s.periods() {
			for _, m := range s.planes(k, s.sameDisplacement) {
				x, rest := s.displacement(s.regular, k)
				y, z := splitRows(s.ranks[s.regular], rest, k, m)
				try(params{k, m, x, y, z, s.negative})
			}
		}
	},
	eval: func(p params, rank, size int64) int64 {
		k, m := p[0], p[1]
		row := floorDiv(rank, k)
		plane := floorDiv(row, m)
		x, y, z := rank-row*k+p[2], row-plane*m+p[3], plane+p[4]
		if v := (z*m+y)*k + x; x >= 0 && x < k && y >= 0 && y < m && z >= 0 && v >= 0 && v < size {
			return v
		}
		return p[5]
	},
	text: func(p params) string {
		return fmt.Sprintf("grid %d×%d: %s, %s, %s or %d", p[0], p[1], plus("column", p[2]), plus("row", p[3]), plus("plane", p[4]), p[5])
	},
}

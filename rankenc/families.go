package rankenc

import (
	"fmt"
)

// constantFamily is the same value for every rank.
var constantFamily = family{
	form:   "constant",
	params: 1,
	fit:    func(s *sample, try func(params)) { try(params{s.values[0]}) },
	eval:   func(p params, _, _ int64) int64 { return p[0] },
	text:   func(p params) string { return fmt.Sprint(p[0]) },
}

// shiftFamily is rank + c.
var shiftFamily = family{
	form:   "rank+c",
	params: 1,
	fit:    func(s *sample, try func(params)) { try(params{s.values[0] - s.ranks[0]}) },
	eval:   func(p params, rank, _ int64) int64 { return rank + p[0] },
	text:   func(p params) string { return plus("rank", p[0]) },
}

// ringFamily is (rank + c) mod N.
var ringFamily = family{
	form:   "(rank+c) mod N",
	params: 1,
	fit: func(s *sample, try func(params)) {
		if s.size > 0 {
			try(params{center(s.values[0]-s.ranks[0], s.size)})
		}
	},
	eval: func(p params, rank, size int64) int64 { return floorMod(rank+p[0], max(size, 1)) },
	text: func(p params) string { return "(" + plus("rank", p[0]) + ") mod N" },
}

// lineFamily is rank + c, or the value rim if the group has no such rank.
var lineFamily = family{
	form:   "rank+c or rim",
	params: 2,
	rim:    true,
	fit: func(s *sample, try func(params)) {
		if i := s.regular; i >= 0 && s.negative < 0 {
			try(params{s.values[i] - s.ranks[i], s.negative})
		}
	},
	eval: func(p params, rank, size int64) int64 {
		if v := rank + p[0]; v >= 0 && v < size {
			return v
		}
		return p[1]
	},
	text: func(p params) string { return fmt.Sprintf("%s or %d", plus("rank", p[0]), p[1]) },
}

// linearFamily is a·rank + b.
var linearFamily = family{
	form:   "a·rank+b",
	params: 2,
	fit: func(s *sample, try func(params)) {
		if len(s.ranks) < 2 {
			return
		}
		run, rise := s.ranks[1]-s.ranks[0], s.values[1]-s.values[0]
		if a := rise / run; rise%run == 0 {
			try(params{a, s.values[0] - a*s.ranks[0]})
		}
	},
	eval: func(p params, rank, _ int64) int64 { return p[0]*rank + p[1] },
	text: func(p params) string { return plus(times(p[0], "rank"), p[1]) },
}

// xorFamily is rank xor c, the partner in a butterfly or a hypercube.
var xorFamily = family{
	form:   "rank xor c",
	params: 1,
	fit:    func(s *sample, try func(params)) { try(params{s.values[0] ^ s.ranks[0]}) },
	eval:   func(p params, rank, _ int64) int64 { return rank ^ p[0] },
	text:   func(p params) string { return fmt.Sprintf("rank xor %d", p[0]) },
}

// digitsFamily is a·(rank div k) + b·(rank mod k) + c: blocks, the row or the
// column in a grid of k columns, and the partner in a transposition of it.
var digitsFamily = family{
	form:    "sum of 2 digits",
	params:  4,
	extents: 1,
	fit: func(s *sample, try func(params)) {
		for _, k := range s.periods() {
			if c, ok := s.solve([]int64{k}); ok {
				try(params{k, c[1], c[0], c[3]})
			}
		}
	},
	eval: func(p params, rank, _ int64) int64 {
		row := floorDiv(rank, p[0])
		return p[1]*row + p[2]*(rank-row*p[0]) + p[3]
	},
	text: func(p params) string {
		row, column := fmt.Sprintf("(rank div %d)", p[0]), fmt.Sprintf("(rank mod %d)", p[0])
		return sum([]int64{p[1], p[2]}, []string{row, column}, p[3])
	},
}

// threeDigitsFamily is a·z + b·y + d·x + c, where x, y and z are the coordinates
// of rank in a grid of k × m × … processes, x varying fastest.
var threeDigitsFamily = family{
	form:    "sum of 3 digits",
	params:  6,
	extents: 2,
	fit: func(s *sample, try func(params)) {
		for _, k := range s.periods() {
			for _, m := range s.planes(k, s.sameStep()) {
				if c, ok := s.solve([]int64{k, m}); ok {
					try(params{k, m, c[2], c[1], c[0], c[3]})
				}
			}
		}
	},
	eval: func(p params, rank, _ int64) int64 {
		row := floorDiv(rank, p[0])
		plane := floorDiv(row, p[1])
		return p[2]*plane + p[3]*(row-plane*p[1]) + p[4]*(rank-row*p[0]) + p[5]
	},
	text: func(p params) string {
		plane := fmt.Sprintf("(rank div %d)", p[0]*p[1])
		row := fmt.Sprintf("(rank div %d mod %d)", p[0], p[1])
		column := fmt.Sprintf("(rank mod %d)", p[0])
		return sum(p[2:5], []string{plane, row, column}, p[5])
	},
}

// torusFamily is the process d columns and e rows further, with wrap, in a grid
// of k columns and as many rows as hold the group.
var torusFamily = family{
	form:    "torus neighbour",
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
	form:    "3D torus neighbour",
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
		return fmt.Sprintf("torus %d×%d: %s, %s, %s", p[0], p[1], plus("column", p[2]), plus("row", p[3]),
			plus("plane", p[4]))
	},
}

// gridFamily is the process d columns and e rows further in a grid of k columns,
// or the value rim if there is none.
var gridFamily = family{
	form:    "grid neighbour",
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
	form:    "3D grid neighbour",
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
		return fmt.Sprintf("grid %d×%d: %s, %s, %s or %d", p[0], p[1], plus("column", p[2]),
			plus("row", p[3]), plus("plane", p[4]), p[5])
	},
}

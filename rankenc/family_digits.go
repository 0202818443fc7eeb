package rankenc

import "fmt"

// digitsFamily is a·(rank div k) + b·(rank mod k) + c: blocks, the row or the
// column in a grid of k columns, and the partner in a transposition of it.
var digitsFamily = family{
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

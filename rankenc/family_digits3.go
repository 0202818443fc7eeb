package rankenc

import "fmt"

// threeDigitsFamily is a·z + b·y + d·x + c, where x, y and z are the coordinates
// of rank in a grid of k × m × … processes, x varying fastest.
var threeDigitsFamily = family{
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

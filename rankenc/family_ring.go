package rankenc

// ringFamily is (rank + c) mod N.
var ringFamily = family{
	params: 1,
	fit: func(s *sample, try func(params)) {
		if s.size > 0 {
			try(params{center(s.values[0]-s.ranks[0], s.size)})
		}
	},
	eval: func(p params, rank, size int64) int64 { return floorMod(rank+p[0], max(size, 1)) },
	text: func(p params) string { return "(" + plus("rank", p[0]) + ") mod N" },
}

package rankenc

// linearFamily is a·rank + b.
var linearFamily = family{
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

package rankenc

import "fmt"

// lineFamily is rank + c, or the value rim if the group has no such rank.
var lineFamily = family{
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

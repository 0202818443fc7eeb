package rankenc

import "fmt"

// constantFamily is the same value for every rank.
var constantFamily = family{
	params: 1,
	fit:    func(s *sample, try func(params)) { try(params{s.values[0]}) },
	eval:   func(p params, _, _ int64) int64 { return p[0] },
	text:   func(p params) string { return fmt.Sprint(p[0]) },
}

package rankenc

import "fmt"

// xorFamily is rank xor c, the partner in a butterfly or a hypercube.
var xorFamily = family{
	params: 1,
	fit:    func(s *sample, try func(params)) { try(params{s.values[0] ^ s.ranks[0]}) },
	eval:   func(p params, rank, _ int64) int64 { return rank ^ p[0] },
	text:   func(p params) string { return fmt.Sprintf("rank xor %d", p[0]) },
}

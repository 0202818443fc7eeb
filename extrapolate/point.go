package extrapolate

import (
	"math"
	"math/bits"
)

// A point is where a number is: what expressions are in.
type point struct {
	spot
	ranks, rank int64
	rounds      [maxDepth]int64
	index       int64 // in an array
}

// A feature is a number that a point has.
type feature struct {
	name string
	of   func(p *point) int64
	odd  bool // less likely than others, which come first
	uses uint // loops and arrays that it depends on: bit d for the loop at depth d, bit maxDepth for an index
}

const usesIndex = 1 << maxDepth

// features returns those of a grid, in so many loops.
func features(g *grid, depth int, array bool) []feature {
	list := []feature{
		{"N", func(p *point) int64 { return p.ranks }, false, 0},
		{"rank", func(p *point) int64 { return p.rank }, false, 0},
		{"(N-1-rank)", func(p *point) int64 { return p.ranks - 1 - p.rank }, false, 0},
		{"log2(N)", func(p *point) int64 { return log2(p.ranks) }, true, 0},
	}
	if g.dims > 1 {
		for d, n := range names(g.dims) {
			list = append(list,
				feature{n.extent, func(p *point) int64 { return p.extent[d] }, false, 0},
				feature{n.at, func(p *point) int64 { return p.at[d] }, false, 0},
				feature{"(" + n.extent + "-1-" + n.at + ")", func(p *point) int64 { return p.extent[d] - 1 - p.at[d] }, false, 0},
				feature{"log2(" + n.extent + ")", func(p *point) int64 { return log2(p.extent[d]) }, true, 0})
		}
	}
	for d := range depth {
		i := string(rune('i' + d))
		list = append(list,
			feature{i, func(p *point) int64 { return p.rounds[d] }, false, 1 << d},
			feature{"2^" + i, func(p *point) int64 { return power(p.rounds[d]) }, true, 1 << d})
	}
	if array {
		list = append(list,
			feature{"index", func(p *point) int64 { return p.index }, false, usesIndex},
			feature{"2^index", func(p *point) int64 { return power(p.index) }, true, usesIndex})
	}
	return append(list,
		feature{"lowest bit of rank", func(p *point) int64 { return p.rank & -p.rank }, true, 0},
		feature{"trailing zeros of rank", func(p *point) int64 { return int64(bits.TrailingZeros64(uint64(p.rank | math.MinInt64))) }, true, 0})
}

// log2 returns the logarithm of a power of two, −1 of another number.
func log2(n int64) int64 {
	if n <= 0 || n&(n-1) != 0 {
		return -1
	}
	return int64(bits.TrailingZeros64(uint64(n)))
}

func power(i int64) int64 {
	if i < 0 || i > 61 {
		return 0
	}
	return 1 << i
}

// mul returns a product, and whether there is one.
func mul(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	return c, c/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

// div returns an exact quotient, and whether there is one.
func div(a, b int64) (int64, bool) {
	if b == 0 || a%b != 0 {
		return 0, false
	}
	return a / b, true
}

func mod(a, b int64) int64 { return (a%b + b) % b }

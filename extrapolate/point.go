package extrapolate

import (
	"math"
	"math/bits"
	"slices"
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
	far  bool // less likely in products: of a grid of three dimensions in one of less
	uses uint // loops and arrays that it depends on: bit d for the loop at depth d, bit maxDepth for an index
}

const (
	usesIndex = 1 << maxDepth
	usesPower = 1 << (maxDepth + 1) // of two, which is no number beyond 2⁶¹
)

// defined reports whether the features with such uses are numbers.
func (p *point) defined(uses uint) bool {
	if uses&usesPower == 0 {
		return true
	}
	for d, round := range p.rounds {
		if uses&(1<<d) != 0 && round > maxPower {
			return false
		}
	}
	return uses&usesIndex == 0 || p.index <= maxPower
}

// add appends what depends on an extent.
func addExtent(list []feature, name string, far bool, of func(p *point) int64) []feature {
	return append(list,
		feature{name, of, false, far, 0},
		feature{"log2(" + name + ")", func(p *point) int64 { return log2(of(p)) }, true, far, 0},
		feature{"log2(" + name + "), rounded up", func(p *point) int64 { return log2(2*of(p) - 1) }, true, far, 0})
}

// foreign returns the extents of grids of so many dimensions at most that differ from those of a grid: what depends on nothing but
// the number of ranks may be of these.
func foreign(own *grid, most int, numbers []int64) (list []feature) {
	var known [][]int64
	of := func(g *grid, d int) (extents []int64) {
		for _, n := range numbers {
			extents = append(extents, g.extents(n)[d])
		}
		return extents
	}
	for d := range own.dims {
		known = append(known, of(own, d))
	}
	for dims := 2; dims <= most; dims++ {
		for _, g := range grids(dims, numbers) {
			for d, n := range names(dims) {
				extents := of(g, d)
				if g.fixed || slices.ContainsFunc(known, func(k []int64) bool { return slices.Equal(k, extents) }) {
					continue
				}
				known = append(known, extents)
				list = addExtent(list, n.extent+" ("+g.name+")", dims > max(2, own.dims), func(p *point) int64 { return g.extents(p.ranks)[d] })
			}
		}
	}
	return list
}

// features returns those of a grid, in so many loops.
func features(g *grid, depth int, array bool) []feature {
	list := []feature{
		{"rank", func(p *point) int64 { return p.rank }, false, false, 0},
		{"(N-1-rank)", func(p *point) int64 { return p.ranks - 1 - p.rank }, false, false, 0},
	}
	list = addExtent(list, "N", false, func(p *point) int64 { return p.ranks })
	list = append(list,
		feature{"square root of N, rounded down", func(p *point) int64 { return squareRoot(p.ranks) }, true, true, 0},
		feature{"square root of N, rounded up", func(p *point) int64 { return squareRoot(p.ranks-1) + 1 }, true, true, 0})
	if g.dims > 1 {
		for d, n := range names(g.dims) {
			list = addExtent(list, n.extent, false, func(p *point) int64 { return p.extent[d] })
			list = append(list,
				feature{n.at, func(p *point) int64 { return p.at[d] }, false, false, 0},
				feature{"(" + n.extent + "-1-" + n.at + ")", func(p *point) int64 { return p.extent[d] - 1 - p.at[d] }, false, false, 0})
		}
	}
	for d := range depth {
		i := string(rune('i' + d))
		list = append(list,
			feature{i, func(p *point) int64 { return p.rounds[d] }, false, false, 1 << d},
			feature{"2^" + i, func(p *point) int64 { return power(p.rounds[d]) }, true, false, 1<<d | usesPower})
	}
	if array {
		list = append(list,
			feature{"index", func(p *point) int64 { return p.index }, false, false, usesIndex},
			feature{"2^index", func(p *point) int64 { return power(p.index) }, true, false, usesIndex | usesPower})
	}
	return append(list,
		feature{"lowest bit of rank", func(p *point) int64 { return p.rank & -p.rank }, true, false, 0},
		feature{"trailing zeros of rank", func(p *point) int64 { return int64(bits.TrailingZeros64(uint64(p.rank | math.MinInt64))) }, true, false, 0})
}

// log2 returns a logarithm, rounded down.
func log2(n int64) int64 { return int64(bits.Len64(uint64(n))) - 1 }

// squareRoot returns a square root, rounded down.
func squareRoot(n int64) int64 { return int64(math.Sqrt(float64(n))) } // exact for numbers of ranks

const maxPower = 61

func power(i int64) int64 {
	if i < 0 || i > maxPower {
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

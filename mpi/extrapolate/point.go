package extrapolate

import (
	"fmt"
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

	own, size int64 // the rank in the communicator of a call, and the size of that; 0 if the program did not ask
}

// A feature is a number that a point has.
type feature struct {
	name    string
	of      func(p *point) int64
	odd     bool  // less likely than others, which come first
	far     bool  // less likely in products: of a grid of three dimensions in one of less
	extent  bool  // of the grid that ranks are in
	foreign bool  // of another
	grid    *grid // that it is an extent of
	derived bool  // of an iteration, and of something else
	// how many parts of the ranks it counts, or what these leave: 1 for what the power of two below leaves
	part int64
	terms
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

// addExtent appends an extent, and what depends on it.
func addExtent(list []feature, x feature, logBits int) []feature {
	return append(list, x,
		feature{name: "log2(" + x.name + ")", of: func(p *point) int64 {
			return log2(x.of(p))
		}, odd: true, far: x.far, terms: x.terms.longer(logBits).digits()},
		feature{name: "log2(" + x.name + "), rounded up", of: func(p *point) int64 {
			return log2(2*x.of(p) - 1)
		}, odd: true, far: x.far, terms: x.terms.longer(logBits + 1).digits()})
}

// How long extents of a grid are that the ranks are not in: of one that the program asks MPI for, and of others.
const (
	knownBits   = 3
	foreignBits = 8
)

// foreign returns the extents of grids of so many dimensions at most that differ from those of a grid: what
// depends on nothing but the number of ranks may be of these.
func foreign(own *grid, most int, numbers []int64, asked map[int]bool) (list []feature) {
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
			bits := foreignBits
			if asked[dims] && g.created() {
				bits = knownBits
			}
			for d, n := range names(dims) {
				extents := of(g, d)
				if g.fixed || isConstant(extents[:len(numbers)-1]) ||
					slices.ContainsFunc(known, func(k []int64) bool { return slices.Equal(k, extents) }) {
					continue
				}
				known = append(known, extents)
				list = addExtent(list, feature{name: n.extent + " (" + g.name + ")", foreign: true, grid: g,
					far: dims > max(2, own.dims), terms: terms{bits: bits, extent: true, side: true},
					of: func(p *point) int64 {
						return g.extents(p.ranks)[d]
					}}, own.logBits())
			}
		}
	}
	return list
}

// sizes returns the features that are the same on all ranks.
func sizes(g *grid) []feature {
	list := addExtent(nil, feature{name: "N", of: func(p *point) int64 { return p.ranks }}, g.logBits())
	list = append(list,
		feature{name: "square root of N, rounded down", of: func(p *point) int64 {
			return squareRoot(p.ranks)
		}, odd: true, far: true, terms: terms{bits: g.rootBits(2), side: true}},
		feature{name: "square root of N, rounded up", of: func(p *point) int64 {
			return squareRoot(p.ranks-1) + 1
		}, odd: true, far: true, terms: terms{bits: g.rootBits(2) + 1, side: true}},
		feature{name: "cube root of N, rounded down", of: func(p *point) int64 {
			return cubeRoot(p.ranks)
		}, odd: true, far: true, terms: terms{bits: g.rootBits(3), side: true}})
	if g.dims > 1 {
		for d, n := range names(g.dims) {
			list = addExtent(list, feature{name: n.extent, extent: !g.fixed, grid: g,
				terms: terms{bits: 2, extent: true, side: true}, of: func(p *point) int64 {
					return p.extent[d]
				}}, g.logBits())
		}
	}
	return list
}

// remainders returns what of the number of ranks the traces must show, too: what depends on one that is the
// same in all of them is not seen.
func remainders() []feature {
	list := []feature{{name: "N less the power of two that is not above it", odd: true, part: 1,
		of: func(p *point) int64 { return p.ranks - power(log2(p.ranks)) }}}
	for by := int64(2); by <= 4; by++ {
		list = append(list,
			feature{name: fmt.Sprintf("N/%d rounded down", by), odd: true, part: by, of: func(p *point) int64 {
				return p.ranks / by
			}},
			feature{name: fmt.Sprintf("N/%d rounded up", by), odd: true, part: by, of: func(p *point) int64 {
				return (p.ranks + by - 1) / by
			}},
			feature{name: fmt.Sprintf("the remainder of N by %d", by), odd: true, part: by, of: func(p *point) int64 {
				return p.ranks % by
			}})
	}
	return list
}

// features returns those of a grid, in so many loops.
func features(g *grid, depth int, array bool) []feature {
	list := []feature{
		{name: "rank", of: func(p *point) int64 { return p.rank }},
		{name: "(N-1-rank)", of: func(p *point) int64 { return p.ranks - 1 - p.rank }, terms: terms{bits: 1}},
	}
	list = append(list, sizes(g)...)
	if g.dims > 1 {
		for d, n := range names(g.dims) {
			list = append(list,
				feature{name: n.at, of: func(p *point) int64 { return p.at[d] }},
				feature{name: "(" + n.extent + "-1-" + n.at + ")", of: func(p *point) int64 {
					return p.extent[d] - 1 - p.at[d]
				}, terms: terms{bits: 1}})
		}
	}
	if g.layered() {
		list = append(list, feature{name: "rank in the layer", of: func(p *point) int64 {
			return p.rank % p.stride[2]
		}, terms: terms{bits: 1}})
	}
	for d := range depth {
		i := string(rune('i' + d))
		list = append(list,
			feature{name: i, of: func(p *point) int64 { return p.rounds[d] }, terms: terms{uses: 1 << d}},
			feature{name: "2^" + i, of: func(p *point) int64 {
				return power(p.rounds[d])
			}, odd: true, derived: true, terms: terms{uses: 1<<d | usesPower, bits: 2, binary: true}})
	}
	for d := range depth {
		i := string(rune('i' + d))
		list = append(list,
			feature{name: i + " mod N", of: func(p *point) int64 {
				return p.rounds[d] % p.ranks
			}, odd: true, derived: true, terms: terms{uses: 1 << d, bits: 2}},
			feature{name: i + " mod (N-1)", of: func(p *point) int64 {
				return p.rounds[d] % max(1, p.ranks-1)
			}, odd: true, derived: true, terms: terms{uses: 1 << d, bits: 4}})
	}
	if array {
		list = append(list,
			feature{name: "index", of: func(p *point) int64 { return p.index }, terms: terms{uses: usesIndex}},
			feature{name: "2^index", of: func(p *point) int64 {
				return power(p.index)
			}, odd: true, derived: true, terms: terms{uses: usesIndex | usesPower, bits: 2, binary: true}})
	}
	return append(list,
		feature{name: "lowest bit of rank", of: func(p *point) int64 {
			return p.rank & -p.rank
		}, odd: true, terms: terms{bits: 2, binary: true}},
		feature{name: "trailing zeros of rank", of: zeros, odd: true, terms: terms{bits: 2, binary: true}},
		feature{name: "levels below rank", of: levels, odd: true, terms: terms{bits: 3, binary: true}})
}

// levels returns how many levels a binomial tree has below a rank.
func levels(p *point) int64 {
	below := p.ranks - p.rank
	if p.rank > 0 {
		below = min(below, p.rank&-p.rank)
	}
	return log2(2*below - 1)
}

// A trait is a feature that all ranks of a class have in common: what depends on it is not seen.
type trait struct {
	feature
	value int64
}

// traits returns those of ranks by whose bits programs tell ranks apart.
func traits(g *grid, ranks [][]*rank) (list []trait) {
	all := []feature{
		{name: "remainder of rank by 2", of: func(p *point) int64 { return p.rank % 2 }},
		{name: "trailing zeros of rank", of: zeros},
	}
	if g.dims > 1 {
		for d, n := range names(g.dims) {
			all = append(all, feature{name: "remainder of " + n.at + " by 2", of: func(p *point) int64 {
				return p.at[d] % 2
			}})
		}
	}
	for _, x := range all {
		t, same, none := trait{feature: x}, true, true
		for _, trace := range ranks {
			for _, r := range trace {
				if v := x.of(&r.point); none {
					t.value, none = v, false
				} else if v != t.value {
					same = false
				}
			}
		}
		if same && !none {
			list = append(list, t)
		}
	}
	return list
}

// zeros returns how many zeros a rank ends with.
func zeros(p *point) int64 { return int64(bits.TrailingZeros64(uint64(p.rank | math.MinInt64))) }

// log2 returns a logarithm, rounded down.
func log2(n int64) int64 { return int64(bits.Len64(uint64(n))) - 1 }

// squareRoot returns a square root, rounded down; 0 of what has none.
func squareRoot(n int64) int64 { return int64(math.Sqrt(float64(max(n, 0)))) } // exact for numbers of ranks

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

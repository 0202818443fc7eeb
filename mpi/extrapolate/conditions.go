package extrapolate

import (
	"fmt"
	"math"
	"slices"
)

// truths tries conditions of what is no rank: a rank that is 0 or 1 is hardly one.
func (f *fitter) truths() {
	if f.role != roleRank {
		f.conditions()
	}
}

// conditions tries what is 1 where a difference of two numbers is below a third, and 0 elsewhere, or the other way
// around: as rank > 0, 2*rank+1 < N, rank+2^i < N.
func (f *fitter) conditions() {
	for _, v := range f.values {
		if v != 0 && v != 1 {
			return
		}
	}
	left, right := f.compared()
	for _, x := range left {
		for _, y := range right {
			f.compare(x, y)
		}
		f.remainder(x)
	}
	f.equality(ofRank, right)
	if f.grid.dims > 1 {
		for d, n := range names(f.grid.dims) {
			x := feature{name: n.at, of: func(p *point) int64 { return p.at[d] }, terms: terms{bits: 1}}
			for e, m := range names(f.grid.dims)[:d] {
				f.equality(x, []feature{{name: m.at, of: func(p *point) int64 { return p.at[e] }}})
			}
		}
	}
	f.paired()
	f.rooted()
}

// equality tries x = y + c, and x ≠ y + c.
func (f *fitter) equality(x feature, right []feature) {
	for _, y := range right {
		for same, sign := range []string{"≠", "="} {
			first := slices.Index(f.values, int64(same))
			if first < 0 {
				continue
			}
			c := x.of(f.points[first]) - y.of(f.points[first])
			f.try(expr{text: fmt.Sprintf("[%s %s %s]", x.name, sign, plus(y.name, c)),
				terms: x.terms.and(y.terms).longer(length(c)), at: func(p *point) (int64, bool) {
					if x.of(p)-y.of(p) == c {
						return int64(same), true
					}
					return 1 - int64(same), true
				}})
		}
	}
}

// maxChildren is how many children ranks of trees have at most.
const maxChildren = 4

// children tries how many children a rank has in a tree whose ranks have so many, and what its parent is.
func (f *fitter) children() {
	for k := int64(2); k <= maxChildren; k++ {
		if f.role == roleRank {
			f.try(expr{text: fmt.Sprintf("parent of rank in a tree of %d", k), terms: terms{bits: 3 + length(k-1)},
				at: func(p *point) (int64, bool) { return (p.rank - 1) / k, p.rank > 0 }})
		}
		f.try(expr{text: fmt.Sprintf("children of rank in a tree of %d", k), terms: terms{bits: 3 + length(k-1)},
			at: func(p *point) (int64, bool) { return min(k, max(0, p.ranks-1-k*p.rank)), true }})
	}
}

// compared returns what conditions compare: numbers of a rank, and of all ranks.
func (f *fitter) compared() (left, right []feature) {
	left = []feature{ofRank, {name: "rank xor 1", of: func(p *point) int64 { return p.rank ^ 1 },
		terms: terms{bits: 2, binary: true}}, {name: "2*rank", of: func(p *point) int64 {
		return 2 * p.rank
	}, terms: terms{bits: 2}}}
	zero := feature{name: "0", of: func(*point) int64 { return 0 }}
	right = []feature{zero, ofN,
		{name: "N/2", of: func(p *point) int64 { return p.ranks / 2 }, terms: terms{bits: 2}},
		{name: "N/2, rounded up", of: func(p *point) int64 { return (p.ranks + 1) / 2 }, terms: terms{bits: 3}},
		{name: "N/3", of: func(p *point) int64 { return p.ranks / 3 }, terms: terms{bits: 5}},
		{name: "N/4", of: func(p *point) int64 { return p.ranks / 4 }, terms: terms{bits: 5}},
		{name: "2^log2(N)", of: func(p *point) int64 {
			return power(log2(p.ranks))
		}, terms: terms{bits: 3, binary: true}},
		{name: "N-2^log2(N)", of: func(p *point) int64 { return p.ranks - power(log2(p.ranks)) },
			terms: terms{bits: 4, binary: true}}}
	if f.grid.dims > 1 {
		for d, n := range names(f.grid.dims) {
			left = append(left, feature{name: n.at, of: func(p *point) int64 { return p.at[d] }},
				feature{name: n.at + "-" + n.extent, of: func(p *point) int64 { return p.at[d] - p.extent[d] },
					terms: terms{bits: 1}})
		}
	}
	for _, x := range f.features {
		if x.uses == 0 || x.uses&usesIndex != 0 {
			continue
		}
		left = append(left, x, feature{name: "rank+" + x.name, of: func(p *point) int64 { return p.rank + x.of(p) },
			terms: x.terms.longer(1)},
			feature{name: "rank-" + x.name, of: func(p *point) int64 { return p.rank - x.of(p) },
				terms: x.terms.longer(1)})
		if x.binary {
			left = append(left, feature{name: "rank xor " + x.name, of: func(p *point) int64 {
				return p.rank ^ x.of(p)
			},
				terms: x.terms.longer(1)}, feature{name: "rank mod 2*" + x.name, of: func(p *point) int64 {
				return mod(p.rank, max(1, 2*x.of(p)))
			}, terms: x.terms.longer(2)})
		}
	}
	return left, right
}

// compare tries x < y + c, and x ≥ y + c, for the least and the greatest c.
func (f *fitter) compare(x, y feature) {
	for _, below := range []int64{1, 0} {
		low, high := int64(math.MinInt64), int64(math.MaxInt64) // low < c ≤ high of differences
		for i, p := range f.points {
			d := x.of(p) - y.of(p)
			if f.values[i] == below {
				low = max(low, d)
			} else {
				high = min(high, d)
			}
		}
		if low >= high || low == math.MinInt64 || high == math.MaxInt64 {
			continue
		}
		for _, c := range []int64{low + 1, high} {
			sign := "<"
			if below == 0 {
				sign = "≥"
			}
			f.try(expr{text: fmt.Sprintf("[%s %s %s]", x.name, sign, plus(y.name, c)),
				terms: x.terms.and(y.terms).longer(length(c)), at: func(p *point) (int64, bool) {
					if x.of(p)-y.of(p) < c {
						return below, true
					}
					return 1 - below, true
				}})
			if low+1 == high {
				break
			}
		}
	}
}

// remainder tries whether a number is even, or odd.
func (f *fitter) remainder(x feature) {
	for odd := range int64(2) {
		f.try(expr{text: fmt.Sprintf("[%s mod 2 = %d]", x.name, odd), terms: x.terms.longer(2 + int(odd)).digits(),
			at: func(p *point) (int64, bool) {
				if mod(x.of(p), 2) == odd {
					return 1, true
				}
				return 0, true
			}})
	}
}

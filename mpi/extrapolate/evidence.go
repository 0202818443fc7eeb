package extrapolate

import (
	"maps"
	"math"
	"slices"
)

// evidence returns at how many points values are known: on how many numbers of ranks, if they depend on
// nothing else, which have different values. Of what does not depend on the number of ranks, more of these
// tell no more; and a point tells a bit at most of what has two values.
func (f *fitter) evidence() int {
	distinct := slices.Clone(f.values)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if n := byRanks(f.points, f.values); n > 0 {
		return min(n, max(2, len(distinct)))
	}
	known, apart := make(map[[4]int64]bool), make(map[[3]int64]bool)
	for i, p := range f.points {
		known[[4]int64{p.ranks, p.rank, p.index, f.values[i]}] = true
		apart[[3]int64{p.rank, p.index, f.values[i]}] = true
	}
	n := len(known)
	if !f.scales() {
		n = len(apart)
	}
	return max(1, min(n, int(float64(n)*math.Log2(float64(len(distinct))))))
}

// scales reports whether a value of a rank is known to depend on the number of ranks.
func (f *fitter) scales() bool {
	type place struct{ rank, index int64 }
	known := make(map[place]map[int64]map[int64]bool)
	for i, p := range f.points {
		at := place{p.rank, p.index}
		if known[at] == nil {
			known[at] = make(map[int64]map[int64]bool)
		}
		if known[at][p.ranks] == nil {
			known[at][p.ranks] = make(map[int64]bool)
		}
		known[at][p.ranks][f.values[i]] = true
	}
	for _, of := range known {
		var first map[int64]bool
		for _, values := range of {
			if first == nil {
				first = values
			} else if !maps.Equal(first, values) {
				return true
			}
		}
	}
	return false
}

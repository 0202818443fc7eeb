package rankenc

import (
	"math"
	"slices"
)

// Where a grid of processes is behind values, these change their step at the
// end of a row. The functions of this file find the few lengths that a row can
// then have; whether one of them is right, and which, shows when the expression
// is evaluated for all ranks.

// maxBreaks is how many changes of step are looked at.
const maxBreaks = 6

// periods returns candidates for the length of a row, without duplicates, in an
// order that depends on s alone.
func (s *sample) periods() []int64 {
	if s.candidates != nil {
		return s.candidates
	}
	var steps, gaps, offsets []int64
	for i := 2; i < len(s.ranks) && len(steps) < maxBreaks; i++ {
		run, rise := s.ranks[i]-s.ranks[i-1], s.values[i]-s.values[i-1]
		runBefore, riseBefore := s.ranks[i-1]-s.ranks[i-2], s.values[i-1]-s.values[i-2]
		if rise*runBefore != riseBefore*run {
			steps = append(steps, s.ranks[i])
		}
		if run != runBefore && len(gaps) < maxBreaks {
			gaps = append(gaps, s.ranks[i])
		}
	}
	for i := 0; i < len(s.ranks) && len(offsets) < maxBreaks; i++ {
		if d := s.values[i] - s.ranks[i]; s.values[i] >= 0 && !slices.Contains(offsets, d) {
			offsets = append(offsets, d)
		}
	}
	c := candidates{limit: s.size, list: make([]int64, 0, 16)}
	c.addDifferences(steps)
	c.addDifferences(gaps)
	c.addDifferences(offsets)
	c.add(squareRoot(s.size))
	for _, k := range c.list {
		if k%2 == 0 {
			c.add(k / 2) // rows of which every other one looks the same
		}
	}
	s.candidates = c.list
	return c.list
}

// planes returns candidates for the number of rows of length k in a plane: rows
// at which the values stop following from those one row before, or two where
// every other process of a row is missing, which is what same reports of two
// positions.
func (s *sample) planes(k int64, same func(i, j int) bool) []int64 {
	c := candidates{limit: s.size / k, list: make([]int64, 0, 16)}
	for lag := k; lag <= 2*k && c.limit >= 2; lag += k {
		var rows []int64
		i, _ := slices.BinarySearch(s.ranks, s.ranks[0]+lag)
		for j := 0; i < len(s.ranks) && len(rows) < maxBreaks; i++ {
			for s.ranks[j] < s.ranks[i]-lag {
				j++
			}
			row := floorDiv(s.ranks[i], k)
			if s.ranks[j] == s.ranks[i]-lag && (len(rows) == 0 || rows[len(rows)-1] != row) && !same(i, j) {
				rows = append(rows, row)
			}
		}
		c.addDifferences(rows)
		for _, row := range rows {
			c.add(s.rows(k) - row)
		}
	}
	return c.list
}

// candidates are lengths from 2 to limit.
type candidates struct {
	limit int64
	list  []int64
}

func (c *candidates) add(k int64) {
	if k >= 2 && k <= c.limit && k <= maxExtent && !slices.Contains(c.list, k) {
		c.list = append(c.list, k)
	}
}

// addDifferences adds the magnitudes of v and of the differences in it.
func (c *candidates) addDifferences(v []int64) {
	for i := range v {
		c.add(max(v[i], -v[i]))
		for _, w := range v[:i] {
			c.add(max(v[i]-w, w-v[i]))
		}
	}
}

// squareRoot returns the root of n if n is a square, and 0 otherwise.
func squareRoot(n int64) int64 {
	if n <= 0 || n > maxExtent {
		return 0
	}
	if r := int64(math.Sqrt(float64(n))); r*r == n {
		return r
	}
	return 0
}

// sameDisplacement reports whether the values at i and j are as far from their
// ranks, or are the same negative value.
func (s *sample) sameDisplacement(i, j int) bool {
	v, w := s.values[i], s.values[j]
	if v < 0 || w < 0 {
		return v == w
	}
	return v-s.ranks[i] == w-s.ranks[j]
}

// sameStep returns a function that reports whether the values at i and j are as
// far apart as those of the first call.
func (s *sample) sameStep() func(i, j int) bool {
	var (
		step  int64
		known bool
	)
	return func(i, j int) bool {
		d := s.values[i] - s.values[j]
		if !known {
			step, known = d, true
		}
		return d == step
	}
}

// rows returns the number of rows of length k in the group.
func (s *sample) rows(k int64) int64 { return rowsOf(s.size, k) }

// displacement returns how many columns and rows of length k lie between the
// i-th rank and its value.
func (s *sample) displacement(i int, k int64) (columns, rows int64) {
	from, to := s.ranks[i], s.values[i]
	return floorMod(to, k) - floorMod(from, k), floorDiv(to, k) - floorDiv(from, k)
}

// solve returns c such that the values are c[0]·x + c[1]·y + c[2]·z + c[3] for
// the coordinates of ranks in a grid with those extents, if it is determined by
// neighbours in s: a step in x, then one in y, then one in z. A coordinate in
// which there is no step gets the factor 0. It gives up at the first step that
// contradicts those before, so that a wrong extent costs little.
func (s *sample) solve(extents []int64) (c [4]int64, ok bool) {
	next := 0 // lowest coordinate whose factor is not known
	for i := 1; i < len(s.ranks) && next <= len(extents); i++ {
		from, to := coordinates(s.ranks[i-1], extents), coordinates(s.ranks[i], extents)
		top := 2
		for top > 0 && from[top] == to[top] {
			top--
		}
		rise, run := s.values[i]-s.values[i-1], to[top]-from[top]
		for k := range top {
			rise -= c[k] * (to[k] - from[k])
		}
		switch {
		case top >= next && rise%run == 0:
			c[top], next = rise/run, top+1
		case rise != c[top]*run:
			return c, false
		}
	}
	c[3] = s.values[0]
	for k, x := range coordinates(s.ranks[0], extents) {
		c[3] -= c[k] * x
	}
	return c, true
}

// coordinates returns those of rank in a grid with the given extents, of which
// there are one or two, the first varying fastest.
func coordinates(rank int64, extents []int64) (x [3]int64) {
	for i, k := range extents {
		q := floorDiv(rank, k)
		x[i], rank = rank-q*k, q
	}
	x[len(extents)] = rank
	return x
}

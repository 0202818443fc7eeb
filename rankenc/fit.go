package rankenc

import (
	"cmp"
	"math"
	"slices"
)

// Options says what the values to fit are. The zero Options is for numbers.
type Options struct {
	// Ranks says that the values are ranks, and the negative ones special values
	// that stand for none. Then no expression yields a negative value by
	// arithmetic: only a constant is one, or the value at the rim of a grid.
	Ranks bool
}

// Fit returns the expression of fewest bytes that yields values[i] for ranks[i] in a group of
// size processes, and whether it found one. The expression is exact, and depends on nothing but
// the arguments. That none was found does not prove that there is none: a grid is looked for
// where the values show its rows.
//
// Fit takes time in proportion to the number of values, plus sorting if ranks do
// not ascend: each family looks at a bounded number of candidates, and gives up
// each at the first value that contradicts it. There must be as many values as ranks, or it panics.
func Fit(ranks, values []int64, size int64, o Options) (Expr, bool) {
	if len(ranks) != len(values) {
		panic("rankenc: not as many values as ranks")
	}
	if len(values) == 0 {
		return Expr{}, true
	}
	s, ok := newSample(ranks, values, size)
	if !ok {
		return Expr{}, false
	}
	return s.fit(o, s.matches)
}

// FitGroups is [Fit] for values that refer to different groups: values[i] is that
// of a process with rank ranks[i] in a group of sizes[i] processes. It looks for
// expressions where the group is largest, and takes one that holds in all. The
// slices must be of one length, or it panics.
func FitGroups(ranks, sizes, values []int64, o Options) (Expr, bool) {
	if len(ranks) != len(values) || len(sizes) != len(values) {
		panic("rankenc: not as many values as ranks, or sizes of groups")
	}
	if len(values) == 0 {
		return Expr{}, true
	}
	size := slices.Max(sizes)
	var of, at []int64
	for i, n := range sizes {
		if n == size {
			of, at = append(of, ranks[i]), append(at, values[i])
		}
	}
	s, ok := newSample(of, at, size)
	if !ok {
		return Expr{}, false
	}
	s.negative = min(s.negative, slices.Min(values))
	return s.fit(o, func(e Expr) bool {
		if !s.matches(e) {
			return false
		}
		for i, r := range ranks {
			if e.Eval(r, sizes[i]) != values[i] {
				return false
			}
		}
		return true
	})
}

// fit returns the expression of fewest bytes among those that s suggests and
// matches accepts.
func (s *sample) fit(o Options, matches func(Expr) bool) (Expr, bool) {
	var (
		best  Expr
		least = math.MaxInt
		buf   [maxExprLen]byte
	)
	for number := range families {
		f := &families[number]
		if f.leastLen(number) >= least || o.Ranks && s.negative < 0 && !f.rim && number != constantNumber {
			continue
		}
		f.fit(s, func(p params) {
			e := Expr{uint8(number), p}
			if n := len(e.append(buf[:0])); n < least && matches(e) {
				best, least = e, n
			}
		})
	}
	return best, least < math.MaxInt
}

// maxExprLen is no less than the length of any encoded expression.
const maxExprLen = 1 + 10*len(params{})

// leastLen returns the length of the shortest encoding of an expression of the
// family with that number.
func (f *family) leastLen(number int) int {
	if number == constantNumber || number == shiftNumber {
		return 1
	}
	return 1 + f.params
}

// A sample is what an expression is fitted to: values for ranks, which ascend.
type sample struct {
	ranks, values []int64 // equally many, at least 1
	size          int64
	negative      int64   // the first negative value, 0 if there is none
	regular       int     // index of the first other value, −1 if there is none
	candidates    []int64 // what periods returns, once it was called
}

// newSample returns the sample of values for ranks in any order. It fails if a
// rank has two values.
func newSample(ranks, values []int64, size int64) (*sample, bool) {
	s := &sample{ranks: ranks, values: values, size: size, regular: -1}
	for i := 1; i < len(ranks); i++ {
		if ranks[i] <= ranks[i-1] {
			if !s.sort() {
				return nil, false
			}
			break
		}
	}
	for i, v := range s.values {
		switch {
		case v < 0 && s.negative == 0:
			s.negative = v
		case v >= 0 && s.regular < 0:
			s.regular = i
		}
	}
	return s, true
}

// sort replaces ranks and values by ones with each rank once, in ascending
// order, and reports whether no rank had two values.
func (s *sample) sort() bool {
	type pair struct{ rank, value int64 }
	pairs := make([]pair, len(s.ranks))
	for i, r := range s.ranks {
		pairs[i] = pair{r, s.values[i]}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.rank, b.rank) })
	s.ranks, s.values = make([]int64, 0, len(pairs)), make([]int64, 0, len(pairs))
	for i, p := range pairs {
		switch {
		case i == 0 || p.rank != pairs[i-1].rank:
			s.ranks, s.values = append(s.ranks, p.rank), append(s.values, p.value)
		case p.value != pairs[i-1].value:
			return false
		}
	}
	return true
}

// matches reports whether e yields every value of s.
func (s *sample) matches(e Expr) bool {
	f := &families[e.family]
	for _, v := range e.params[:f.extents] {
		if v < 1 || v > maxExtent {
			return false
		}
	}
	for i, r := range s.ranks {
		if f.eval(e.params, r, s.size) != s.values[i] {
			return false
		}
	}
	return true
}

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
			if s.ranks[j] != s.ranks[i]-lag || same(i, j) {
				continue
			}
			if row := floorDiv(s.ranks[i], k); len(rows) == 0 || rows[len(rows)-1] != row {
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

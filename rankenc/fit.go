package rankenc

import (
	"math"
	"slices"
)

// Ranks lists the processes that have the values of a column: at each position,
// the rank of one. A [Set] is one.
type Ranks interface {
	Len() int
	At(i int) int
}

// A Domain says where a column has values: one at each position of Ranks, in a
// group of Size processes. The zero Domain is empty.
type Domain struct {
	Ranks Ranks
	Size  int
}

// Over returns the domain of the ranks of s in a group of size processes.
func Over(s Set, size int) Domain { return Domain{s, size} }

// Len returns the number of positions.
func (d Domain) Len() int {
	if d.Ranks == nil {
		return 0
	}
	return d.Ranks.Len()
}

// list returns the ranks.
func (d Domain) list() []int64 {
	ranks := make([]int64, d.Len())
	if s, ok := d.Ranks.(Set); ok {
		for i, r := range s.All() {
			ranks[i] = int64(r)
		}
		return ranks
	}
	for i := range ranks {
		ranks[i] = int64(d.Ranks.At(i))
	}
	return ranks
}

// Options says what the values to fit are. The zero Options is for numbers.
type Options struct {
	// Ranks says that the values are ranks, and the negative ones special values
	// that stand for none. Then no expression yields a negative value by
	// arithmetic: only a constant is one, or the value at the rim of a grid.
	Ranks bool

	// Plain says that a column is not to be an expression, nor pieces or relative,
	// see [Column.Plain]. To find out whether it can be one takes most of the time
	// of making a column.
	Plain bool
}

// Fit returns the expression of fewest bytes that yields values[i] for the i-th
// rank of d, and whether it found one. The expression is exact, and depends on
// nothing but the arguments. That none was found does not prove that there is
// none: a grid is looked for where the values show its rows.
//
// Fit takes time in proportion to the number of values, plus sorting if ranks do
// not ascend: each family looks at a bounded number of candidates, and gives up
// each at the first value that contradicts it. The values must be as many as the
// positions of d, or it panics.
func Fit(d Domain, values []int64, o Options) (Expr, bool) {
	if d.Len() != len(values) {
		panic("rankenc: not as many values as ranks")
	}
	return fitValues(d.list(), values, int64(d.Size), o)
}

func fitValues(ranks, values []int64, size int64, o Options) (Expr, bool) {
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
	slices.SortFunc(pairs, func(a, b pair) int {
		switch {
		case a.rank < b.rank:
			return -1
		case a.rank > b.rank:
			return 1
		}
		return 0
	})
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

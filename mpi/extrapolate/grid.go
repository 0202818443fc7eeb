package extrapolate

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// A grid says in what grid the ranks of a run are, whatever their number.
type grid struct {
	dims    int
	extents func(ranks int64) [3]int64 // the first for coordinates that vary fastest, 1 beyond dims
	name    string
	numbers []int64        // of ranks: of the traces, and that is made
	fixed   bool           // an extent is the same on any number of ranks
	asked   bool           // the program has it of MPI
	hidden  map[int64]bool // see hides
	thin    bool           // an extent is 1 in some traces, so that ranks are at places that others do not have
}

// A spot is the place of a rank in a grid.
type spot struct{ at, extent, stride [3]int64 }

func (g *grid) spot(ranks, rank int64) spot {
	s := spot{extent: g.extents(ranks)}
	stride := int64(1)
	for d, e := range s.extent {
		s.at[d], s.stride[d] = rank/stride%e, stride
		stride *= e
	}
	return s
}

// grids returns the grids of so many dimensions of these numbers of ranks, those that are equal for all of
// them once.
func grids(dims int, numbers []int64) []*grid {
	var list []*grid
	var known [][][3]int64
	add := func(name string, fixed bool, of func(ranks int64) []int64) {
		for i, order := range orders(dims) {
			if i > 0 && fixed && dims == 3 { // layers come one after the other
				break
			}
			var all [][3]int64
			for _, n := range numbers {
				e := [3]int64{1, 1, 1}
				sizes := of(n)
				for d := range dims {
					e[d] = sizes[order[d]]
				}
				if e[0]*e[1]*e[2] != n {
					return
				}
				all = append(all, e)
			}
			extents := func(ranks int64) [3]int64 { return all[slices.Index(numbers, ranks)] }
			alike := all                    // with which a grid is not tried again
			if dims == 3 && order[1] != 1 { // mixed
				alike = all[:len(all)-1]
			}
			if slices.ContainsFunc(known, func(k [][3]int64) bool { return slices.Equal(k[:len(alike)], alike) }) {
				continue
			}
			known = append(known, all)
			last := all[len(all)-1]
			thin := dims > 1 && slices.ContainsFunc(all, func(e [3]int64) bool { return slices.Contains(e[:dims], 1) })
			list = append(list,
				&grid{dims: dims, extents: extents, name: fmt.Sprintf("%s, %d ranks as %v", name, numbers[len(numbers)-1],
					last[:dims]), numbers: numbers, fixed: fixed, thin: thin})
		}
	}
	add(dimsCreate, false, func(ranks int64) []int64 { return balanced(ranks, dims) })
	add("powers of two", false, func(ranks int64) []int64 { return halved(ranks, dims) })
	if dims == 3 {
		for layers := int64(2); layers <= maxLayers; layers++ {
			add(fmt.Sprintf("%d layers of squares", layers), true, func(ranks int64) []int64 {
				side := squareRoot(ranks / layers)
				return []int64{side, side, layers}
			})
		}
	}
	if dims == 2 {
		for extent := int64(2); extent <= numbers[0]; extent++ {
			add(fmt.Sprintf("%d in one dimension", extent), true, func(ranks int64) []int64 {
				return []int64{extent, ranks / extent}
			})
		}
	}
	return list
}

// maxLayers is how many layers of squares there are at most.
const maxLayers = 4

// layered reports whether ranks are in squares, one layer after the other.
func (g *grid) layered() bool { return g.dims == 3 && g.fixed }

// hides reports whether remainders of ranks by a number may be those by an extent of any grid, which is another one on
// the ranks that are made.
func (g *grid) hides(number int64) bool {
	if hidden, ok := g.hidden[number]; ok {
		return hidden
	}
	if g.hidden == nil {
		g.hidden = make(map[int64]bool)
	}
	last := len(g.numbers) - 1
	for dims := 2; dims <= 3; dims++ {
		for _, other := range grids(dims, g.numbers) {
			for d := range dims {
				if other.extents(g.numbers[last])[d] == number {
					continue
				}
				told := slices.ContainsFunc(g.numbers[:last], func(n int64) bool {
					e := other.extents(n)[d]
					return e != number && (n > number || e < n)
				})
				g.hidden[number] = g.hidden[number] || !told
			}
		}
	}
	if _, ok := g.hidden[number]; !ok {
		g.hidden[number] = false
	}
	return g.hidden[number]
}

// like reports whether a grid is one of the same kind as another, of these numbers of ranks and of more.
func (g *grid) like(other *grid, numbers []int64) bool {
	for _, n := range g.numbers {
		if !slices.Contains(numbers, n) || other.extents(n) != g.extents(n) {
			return false
		}
	}
	return true
}

// created reports whether a grid is that of MPI_Dims_create.
func (g *grid) created() bool { return strings.HasPrefix(g.name, dimsCreate) }

const dimsCreate = "MPI_Dims_create"

// coarse reports whether ranks of a grid are told apart by its ends alone: of more classes, traces have too few.
func (g *grid) coarse() bool { return g.dims == 3 || g.fixed }

// rootBits says how long a root is: programs have those of squares and of cubes, hardly of other numbers.
func (g *grid) rootBits(power int) int {
	for _, n := range g.numbers {
		if root := squareRoot(n); power == 2 && root*root != n {
			return 7
		}
		if root := cubeRoot(n); power == 3 && root*root*root != n {
			return 8
		}
	}
	return 2
}

// logBits says how long a logarithm is: programs have those of powers of two, and rounded up those of others.
func (g *grid) logBits() int {
	if slices.ContainsFunc(g.numbers, func(n int64) bool { return n&(n-1) != 0 }) {
		return 6
	}
	return 2
}

// orders returns the orders in which extents may vary, those first that are not mixed: a mixed one counts only if
// traces tell it from these.
func orders(dims int) [][]int {
	switch dims {
	case 1:
		return [][]int{{0}}
	case 2:
		return [][]int{{0, 1}, {1, 0}}
	}
	return [][]int{{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}}
}

// balanced returns the factors of n that are as close to each other as MPI_Dims_create has them, in
// descending order.
func balanced(n int64, dims int) []int64 {
	best := []int64{n}
	for len(best) < dims {
		best = append(best, 1)
	}
	list, all := make([]int64, dims), factors(n)
	var try func(d int, rest, most int64)
	try = func(d int, rest, most int64) {
		if d == dims-1 {
			if rest <= most {
				list[d] = rest
				if slices.Compare(list, best) < 0 {
					best = slices.Clone(list)
				}
			}
			return
		}
		for _, f := range all {
			if f <= most && rest%f == 0 {
				list[d] = f
				try(d+1, rest/f, f)
			}
		}
	}
	if dims > 1 {
		try(0, n, n)
	}
	return best
}

// factors returns the factors of n, ascending.
func factors(n int64) []int64 {
	var low, high []int64
	for f := int64(1); f*f <= n; f++ {
		if n%f == 0 {
			low = append(low, f)
			if f*f < n {
				high = append(high, n/f)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}

// halved returns the powers of two that make up n if the first gets the first factor of 2, and so on; 0 if n
// is none.
func halved(n int64, dims int) []int64 {
	list := make([]int64, dims)
	if n <= 0 || n&(n-1) != 0 {
		return list
	}
	for d := range list {
		list[d] = 1
	}
	for i := range bits.TrailingZeros64(uint64(n)) {
		list[i%dims] *= 2
	}
	return list
}

// A split is how classes are told apart.
type split int

const (
	whole    split = iota
	root           // rank 0 and others
	ends           // first, last and between in each dimension
	parity         // these, and even and odd
	nextEnds       // second and last but one, too
	allSplits
)

// class returns the class of a rank among those of a split.
func (s split) class(rank int64, at spot, dims int) string {
	switch s {
	case whole:
		return "all ranks"
	case root:
		if rank == 0 {
			return "rank 0"
		}
		return "ranks but 0"
	}
	text := ""
	for d := range dims {
		c, last := at.at[d], at.extent[d]-1
		word := "between"
		switch {
		case last == 0:
			word = "only"
		case c == 0:
			word = "first"
		case c == last:
			word = "last"
		case s >= nextEnds && c == 1:
			word = "second"
		case s >= nextEnds && c == last-1:
			word = "last but one"
		}
		if s >= parity {
			word += [...]string{" even", " odd"}[c%2]
		}
		if d > 0 {
			text += ", "
		}
		text += word + " " + names(dims)[d].at
	}
	return text
}

// A dimension has the words for a coordinate and its extent.
type dimension struct{ at, extent string }

func names(dims int) []dimension {
	if dims == 1 {
		return []dimension{{"rank", "N"}}
	}
	return []dimension{{"column", "columns"}, {"row", "rows"}, {"plane", "planes"}}[:dims]
}

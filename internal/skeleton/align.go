package skeleton

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxCells is how many pairs of nodes an alignment compares at most, if it is to be done
// for longer bodies: those in a band around the diagonal.
const maxCells = 1 << 20

// An aligner aligns bodies of loops, or of programs.
type aligner struct {
	*work
	compare func(a, b sequitur.Symbol) Likeness
	within  bool     // bodies of one program, in which other ranks are other calls
	tables  []*table // that are not in use
}

// A table has weights for the pairs of nodes of two bodies.
type table struct{ best, weights [][]int32 }

// row makes row i, of so many pairs.
func (t *table) row(i, n int) {
	t.best[i], t.weights[i] = slices.Grow(t.best[i][:0], n)[:n], slices.Grow(t.weights[i][:0], n)[:n]
	clear(t.weights[i])
}

// table returns a table of so many rows; free takes it back.
func (a *aligner) table(rows int) *table {
	t := new(table)
	if last := len(a.tables) - 1; last >= 0 {
		t, a.tables = a.tables[last], a.tables[:last]
	}
	for len(t.best) < rows {
		t.best, t.weights = append(t.best, nil), append(t.weights, nil)
	}
	return t
}

// maxKept is how many rows a table has at most that is kept.
const maxKept = 1 << 10

func (a *aligner) free(t *table) {
	if len(t.best) <= maxKept {
		a.tables = append(a.tables, t)
	}
}

// An alignment is pairs of nodes of two bodies that are alike, in order.
type alignment struct {
	pairs  []pair
	weight int // sum of how much they are alike
	shared int // calls in them
}

type pair struct {
	x, y   int
	inside alignment // of loops
}

// leaves returns how many calls are in a body.
func leaves(body []*Node) int {
	sum := 0
	for _, n := range body {
		sum += n.leaves()
	}
	return sum
}

func (n *Node) leaves() int {
	if n.IsLoop() {
		return leaves(n.Body)
	}
	return 1
}

// iterations returns how many iterations of what is around n have it, in all programs.
func (n *Node) iterations() (sum uint64) {
	for _, t := range n.Times {
		sum = wire.AddSat(sum, t.In)
	}
	return sum
}

// usual returns how many calls in a body come in at least half of its iterations.
func usual(body []*Node) int {
	sum := 0
	for i, often := range usualNodes(body) {
		switch n := body[i]; {
		case !often:
		case n.IsLoop():
			sum += usual(n.Body)
		default:
			sum++
		}
	}
	return sum
}

// usualNodes tells which nodes come in at least half of the iterations of a body.
func usualNodes(body []*Node) []bool {
	list, most := make([]bool, len(body)), uint64(0)
	for _, n := range body {
		most = max(most, n.iterations())
	}
	for i, n := range body {
		list[i] = n.iterations() >= most/2
	}
	return list
}

// alike reports whether what is aligned has half of its calls in common.
func (a alignment) alike(x, y []*Node) bool {
	return a.shared > 0 && 2*a.shared >= max(usual(x), usual(y))
}

// weigh returns the weight of a call that is matched with one that is so much like it.
func weigh(like Likeness, n *Node) int {
	if like == Different {
		return 0
	}
	return int(like)*(maxSteady+1) + n.steady
}

// match tells how much two nodes are alike, 0 if they are not, and the alignment of loops.
func (a *aligner) match(x, y *Node) (weight int, inside alignment) {
	if x.IsLoop() != y.IsLoop() {
		return 0, alignment{}
	}
	if x.IsLoop() {
		if inside = a.align(x.Body, y.Body); inside.alike(x.Body, y.Body) {
			weight = 1 + inside.weight
		}
		return weight, inside
	}
	const most = 8 // calls to look at
	to := y.Calls[0].Call
	if x.kind == y.kind {
		return weigh(Same, x), alignment{}
	}
	for _, c := range x.Calls[:min(len(x.Calls), most)] {
		if c.Call == to {
			return weigh(Same, x), alignment{}
		}
	}
	if a.compare == nil {
		return 0, alignment{}
	}
	like := a.compare(x.Calls[0].Call, to)
	if a.within && like == Peers {
		like = Different
	}
	return weigh(like, x), alignment{}
}

// align returns the alignment of two bodies of the largest weight, or of what of it lies in
// a band.
func (a *aligner) align(x, y []*Node) alignment {
	var all alignment
	add := func(i, j, weight int, inside alignment) {
		all.pairs = append(all.pairs, pair{i, j, inside})
		all.weight += weight
		if x[i].IsLoop() {
			all.shared += inside.shared
		} else {
			all.shared++
		}
	}
	same := func(n, m *Node) bool { return !n.IsLoop() && !m.IsLoop() && n.kind == m.kind }
	begin := 0
	for begin < min(len(x), len(y)) && same(x[begin], y[begin]) {
		add(begin, begin, weigh(Same, x[begin]), alignment{})
		begin++
	}
	end := 0
	for end < min(len(x), len(y))-begin && same(x[len(x)-1-end], y[len(y)-1-end]) {
		end++
	}
	if !a.do(begin + end + 1) {
		return alignment{}
	}
	for _, p := range a.between(x[begin:len(x)-end], y[begin:len(y)-end]) {
		add(begin+p.x, begin+p.y, p.weight, p.inside)
	}
	for i := end; i > 0; i-- {
		add(len(x)-i, len(y)-i, weigh(Same, x[len(x)-i]), alignment{})
	}
	return all
}

type weighedPair struct {
	pair
	weight int
}

// between aligns two bodies by the table of the best weights of what begins at each pair.
func (a *aligner) between(x, y []*Node) []weighedPair {
	if len(x) == 0 || len(y) == 0 {
		return nil
	}
	lean := len(y) - len(x) // how far the end is off the diagonal
	band := len(y)
	if len(x) > maxCells/len(y) {
		band = max(16, maxCells/len(x)/2)
	}
	low := func(i int) int { return min(len(y), max(0, i+min(0, lean)-band)) }
	high := func(i int) int { return min(len(y), max(0, i+max(0, lean)+band)) } // excluded
	t := a.table(len(x))
	defer a.free(t)
	best, weights := t.best, t.weights
	var insides map[[2]int]alignment // of loops
	inMost, alsoInMost := usualNodes(x), usualNodes(y)
	at := func(i, j int) int32 {
		switch {
		case i >= len(x) || j >= high(i):
			return 0
		case j < low(i):
			j = low(i)
		}
		return best[i][j-low(i)]
	}
	for i := len(x) - 1; i >= 0; i-- {
		t.row(i, high(i)-low(i))
		if !a.do(len(best[i])) {
			return nil
		}
		for j := high(i) - 1; j >= low(i); j-- {
			most := max(at(i+1, j), at(i, j+1))
			if weight, inside := a.match(x[i], y[j]); weight > 0 {
				if inMost[i] == alsoInMost[j] {
					weight += maxSteady + 1
				}
				weights[i][j-low(i)] = int32(weight)
				if x[i].IsLoop() {
					if insides == nil {
						insides = make(map[[2]int]alignment)
					}
					insides[[2]int{i, j}] = inside
				}
				most = max(most, int32(weight)+at(i+1, j+1))
			}
			best[i][j-low(i)] = most
		}
	}
	var list []weighedPair
	for i, j := 0, 0; i < len(x) && j < len(y); {
		weight := int32(0)
		if low(i) <= j && j < high(i) {
			weight = weights[i][j-low(i)]
		}
		switch here := at(i, j); {
		case j < low(i):
			j++
		case weight > 0 && here == weight+at(i+1, j+1):
			list = append(list, weighedPair{pair{i, j, insides[[2]int{i, j}]}, int(weight)})
			i, j = i+1, j+1
		case here == at(i+1, j):
			i++
		default:
			j++
		}
	}
	return list
}

// merge puts y into x, as they are aligned, and returns that. Where both have something
// the other does not, that of x comes first.
func (a *aligner) merge(x, y []*Node, as alignment) []*Node {
	list := make([]*Node, 0, len(x)+len(y)-len(as.pairs))
	i, j := 0, 0
	for _, p := range as.pairs {
		list = append(append(list, x[i:p.x]...), y[j:p.y]...)
		i, j = p.x+1, p.y+1
		to, from := x[p.x], y[p.y]
		to.add(from)
		if to.IsLoop() {
			to.Body = a.merge(to.Body, from.Body, p.inside)
		}
		list = append(list, to)
	}
	return append(append(list, x[i:]...), y[j:]...)
}

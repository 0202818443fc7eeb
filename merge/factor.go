package merge

import (
	"context"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// factor unites shapes whose sequences differ in nothing but values, where that
// makes the trace smaller, as encodedSize says: it tells terminals apart in all of
// them if they are apart in one, so that a signature may stand for several
// terminals of a rank. The shapes stand in ascending order of their first ranks,
// before and after. Fewer are united if ctx is done.
func factor(ctx context.Context, shapes []*shape, encodedSize func([]*shape) int) []*shape {
	var (
		groups = make(map[skeleton][]*shape)
		order  []skeleton
		forms  formNumbers
	)
	for _, s := range shapes {
		k := forms.skeleton(s)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	least := -1  // the size of shapes, once it is needed
	weighed := 0 // terminals that were encoded to know sizes
	for _, k := range order {
		group := groups[k]
		if len(group) == 1 || ctx.Err() != nil {
			continue
		}
		united, ok := unite(group)
		if !ok {
			continue
		}
		with := replaceShapes(shapes, group, united)
		if terminalsOf(group) > maxWeighed || weighed > maxWeighedInAll {
			if united.size() < sizeApart(group) {
				shapes = with
			}
			continue
		}
		if least < 0 {
			least = encodedSize(shapes)
		}
		weighed += terminalsOf(shapes)
		if n := encodedSize(with); n < least {
			shapes, least = with, n
		}
	}
	return shapes
}

// maxWeighed is how many terminals shapes have that are encoded to see whether
// uniting them makes the trace smaller, and how many terminals of all shapes are
// encoded to see that again and again. Beyond that, an estimate decides.
const (
	maxWeighed      = 1 << 15
	maxWeighedInAll = 1 << 20
)

// terminalsOf returns the number of terminals of all shapes.
func terminalsOf(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += len(s.forms)
	}
	return n
}

// replaceShapes returns shapes with another one in place of a group of them.
func replaceShapes(shapes, group []*shape, by *shape) []*shape {
	gone := make(map[*shape]bool)
	for _, s := range group {
		gone[s] = true
	}
	replaced := append(slices.DeleteFunc(slices.Clone(shapes), func(s *shape) bool { return gone[s] }), by)
	sortShapes(replaced)
	return replaced
}

func sortShapes(shapes []*shape) {
	slices.SortFunc(shapes, func(s, t *shape) int { return int(s.ranks[0].first) - int(t.ranks[0].first) })
}

// sizeApart returns about as many bytes as the shapes take in a file.
func sizeApart(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += s.size()
	}
	return n
}

// size returns about as many bytes as the shape takes in a file.
func (s *shape) size() int {
	enc, _ := s.grammar.AppendBinary(nil)
	n := len(enc)
	var r columnReader
	for k := range len(s.columns) + len(s.values) {
		n += r.column(s, k).size()
	}
	return n
}

// size returns about as many bytes as the column takes in a file.
func (c column) size() int {
	n := 0
	var last int64
	for _, r := range c {
		n += 1 + bits.Len64(uint64((r.first-last)<<1^(r.first-last)>>63))/8
		last = r.first
	}
	return n
}

// unite returns one shape of the ranks of all shapes, which is possible if their
// sequences are of one length and have signatures of equal forms at equal
// positions. It refuses if it would have more terminals than all of them
// together, and does not change the shapes.
func unite(shapes []*shape) (*shape, bool) {
	j := joint{grammar: shapes[0].grammar, forms: shapes[0].forms, most: terminalsOf(shapes)}
	for _, s := range shapes[1:] {
		if !j.add(s) {
			return nil, false
		}
	}
	return mergeViews(shapes, j.terminals(), j.grammar), true
}

// mergeViews returns the shape of the ranks of all shapes with a grammar over
// other terminals, of which to says which of each shape they are.
func mergeViews(shapes []*shape, to [][]uint32, g *sequitur.Grammar) *shape {
	n := len(shapes)
	if n == 1 {
		return shapes[0].view(g, to[0])
	}
	return mergeViews(shapes[:n/2], to[:n/2], g).merge(mergeViews(shapes[n/2:], to[n/2:], g))
}

// A joint grammar is that of the tuples of terminals that several shapes have
// at the same positions. Equal tuples are one terminal; these are numbered in
// the order of their first use.
type joint struct {
	grammar *sequitur.Grammar
	forms   []form   // of the terminals
	most    int      // terminals
	steps   [][]pair // for each shape added, what its terminals are: those before, and its own
}

// Bounds of the work of joining two grammars.
const (
	maxSteps  = 1 << 26 // runs that are looked at
	maxPeriod = 1 << 16 // symbols of a loop that is looked at once
)

// add adds a shape to those joined, and reports whether its signatures have the
// same forms in the same order. Where the grammars of both are in a loop, it
// looks at one period.
func (j *joint) add(s *shape) bool {
	p := newPairing(j.grammar, s.grammar)
	p.most = j.most
	p.equal = func(x, y sequitur.Symbol) bool { return j.forms[x].equal(s.forms[y]) }
	g, ok := p.join()
	if !ok {
		return false
	}
	forms := make([]form, len(p.pairs))
	for n, k := range p.pairs {
		forms[n] = j.forms[k.x]
	}
	j.grammar, j.forms, j.steps = g, forms, append(j.steps, p.pairs)
	return true
}

// terminals returns which of its terminals the joint ones are, for each shape.
func (j *joint) terminals() [][]uint32 {
	of := make([][]uint32, len(j.steps)+1)
	before := make([]uint32, len(j.forms)) // the terminals before a step
	for n := range before {
		before[n] = uint32(n)
	}
	for i := len(j.steps); i > 0; i-- {
		of[i] = make([]uint32, len(j.forms))
		for n, k := range before {
			of[i][n], before[n] = j.steps[i-1][k].y, j.steps[i-1][k].x
		}
	}
	of[0] = before
	return of
}

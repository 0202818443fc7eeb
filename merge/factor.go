package merge

import (
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// factor unites shapes whose sequences differ in nothing but values, where that
// makes them smaller: it tells terminals apart in all of them if they are apart
// in one, so that a signature may stand for several terminals of a rank. The
// shapes stand in ascending order of their first ranks, before and after.
func factor(shapes []*shape) []*shape {
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
	var factored []*shape
	for _, k := range order {
		factored = append(factored, uniteSmaller(groups[k])...)
	}
	sortShapes(factored)
	return factored
}

func sortShapes(shapes []*shape) {
	slices.SortFunc(shapes, func(s, t *shape) int { return int(s.ranks[0].first) - int(t.ranks[0].first) })
}

// uniteSmaller returns the shapes of one skeleton united, if they can be and it
// makes them smaller, or as they are.
func uniteSmaller(shapes []*shape) []*shape {
	if len(shapes) == 1 {
		return shapes
	}
	united, ok := unite(shapes)
	if !ok {
		return shapes
	}
	apart := 0
	for _, s := range shapes {
		apart += s.size()
	}
	if united.size() >= apart {
		return shapes
	}
	return []*shape{united}
}

// size returns about as many bytes as the shape takes in a file.
func (s *shape) size() int {
	enc, _ := s.grammar.AppendBinary(nil)
	n := len(enc)
	for _, c := range s.columns {
		n += c.size()
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
// positions. It may change the shapes in a way that does not matter to others.
func unite(shapes []*shape) (*shape, bool) {
	joint := joint{grammar: shapes[0].grammar, terminals: make([][]uint32, 1)}
	for t := range shapes[0].forms {
		joint.terminals[0] = append(joint.terminals[0], uint32(t))
	}
	for _, s := range shapes[1:] {
		if !joint.add(shapes[0], s) {
			return nil, false
		}
	}
	views := make([]*shape, len(shapes))
	for i, s := range shapes {
		views[i] = s.view(joint.grammar, joint.terminals[i])
	}
	for len(views) > 1 {
		var merged []*shape
		for i := 0; i+1 < len(views); i += 2 {
			merged = append(merged, views[i].merge(views[i+1]))
		}
		if len(views)%2 == 1 {
			merged = append(merged, views[len(views)-1])
		}
		views = merged
	}
	return views[0], true
}

// A joint grammar is that of the tuples of terminals that several shapes have
// at the same positions. Equal tuples are one terminal; these are numbered in
// the order of their first use.
type joint struct {
	grammar   *sequitur.Grammar
	terminals [][]uint32 // for each shape, its terminals by the joint terminal
}

// Bounds of the work of joining two grammars.
const (
	maxSteps  = 1 << 26 // runs that are looked at
	maxPeriod = 1 << 16 // symbols of a loop that is looked at once
)

// add adds a shape to those joined, of which first is one, and reports whether
// its signatures have the same forms in the same order. Where the grammars of
// both are in a loop, it looks at one period.
func (j *joint) add(first, s *shape) bool {
	p := newPairing(j.grammar, s.grammar)
	p.equal = func(x, y sequitur.Symbol) bool { return first.forms[j.terminals[0][x]].equal(s.forms[y]) }
	g, ok := p.join()
	if !ok {
		return false
	}
	j.grammar = g
	for i, old := range j.terminals {
		j.terminals[i] = make([]uint32, len(p.pairs))
		for n, pair := range p.pairs {
			j.terminals[i][n] = old[pair.x]
		}
	}
	own := make([]uint32, len(p.pairs))
	for n, pair := range p.pairs {
		own[n] = uint32(pair.y)
	}
	j.terminals = append(j.terminals, own)
	return true
}

package query

import (
	"slices"
	"sync"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/sequitur"
)

// ShapeTimes are the times of the ranks of a shape, as far as they are those of all.
type shapeTimes struct {
	grammar   *sequitur.Grammar           // over signatures of the trace
	signature func(n sequitur.Symbol) int // the one that has the times of a signature
	source    Source                      // of the summaries
	estimate  func() (*estimate, error)
}

// The shapes of which the times are kept have at most so many symbols together, unless
// it is one.
const maxSymbols = 1 << 20

// shapeOf returns the times of the shape of a rank that has calls.
func (t *Times) shapeOf(r *reprise.Rank) (*shapeTimes, error) {
	number, _ := t.trace.ShapeOf(r.Call(0).Rank)
	return t.shape(number)
}

// shape returns the times of a shape.
func (t *Times) shape(number int) (*shapeTimes, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.shapes[number]; s != nil {
		return s, nil
	}
	shape, err := t.trace.Shape(number)
	if err != nil {
		return nil, err
	}
	timed, err := t.timedSignatures(shape.Grammar, int(shape.Ranks.At(0)))
	if err != nil {
		return nil, err
	}
	s := &shapeTimes{grammar: shape.Grammar}
	s.signature = func(n sequitur.Symbol) int {
		if first, ok := timed[n]; ok {
			return first
		}
		return int(n)
	}
	for n := range shape.Grammar.Occurrences() {
		s.source = max(s.source, t.source(s.signature(n)))
	}
	s.estimate = sync.OnceValues(func() (*estimate, error) { return t.newEstimate(s) })
	if t.size += shape.Grammar.Symbols(); t.size > maxSymbols || t.shapes == nil {
		t.shapes, t.size = make(map[int]*shapeTimes), shape.Grammar.Symbols()
	}
	t.shapes[number] = s
	return s, nil
}

// timedSignatures returns, for signatures of a shape that have no times, those that have
// them on one of its ranks: of equal calls of a rank, the first has the times of all.
func (t *Times) timedSignatures(g *sequitur.Grammar, rank int) (map[sequitur.Symbol]int, error) {
	timed := make(map[sequitur.Symbol]int)
	if t.summaries[durations].IsZero() && t.summaries[gaps].IsZero() {
		return timed, nil
	}
	var r *reprise.Rank
	for s, position := range firstPositions(g) {
		if t.source(int(s)) != None {
			continue
		}
		if r == nil {
			var err error
			if r, err = t.trace.Rank(rank); err != nil {
				return nil, err
			}
		}
		timed[s] = r.Signature(r.Walk(position).Next().Symbol)
	}
	return timed, nil
}

// firstPositions returns where each symbol of a sequence occurs first.
func firstPositions(g *sequitur.Grammar) map[sequitur.Symbol]uint64 {
	found := make(map[sequitur.Symbol]uint64)
	if g.Rules() == 0 {
		return found
	}
	type place struct {
		body     []sequitur.Term
		position uint64
	}
	seen := make([]bool, g.Rules())
	enter := func(rule int, position uint64) place {
		seen[rule] = true
		return place{slices.Collect(g.Body(rule)), position}
	}
	for stack := []place{enter(g.Rules()-1, 0)}; len(stack) > 0; {
		p := &stack[len(stack)-1]
		if len(p.body) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		s, position := p.body[0], p.position
		p.body = p.body[1:]
		if s.Rule < 0 {
			p.position += s.Count
			if _, ok := found[s.Symbol]; !ok {
				found[s.Symbol] = position
			}
			continue
		}
		p.position += s.Count * g.RuleLen(s.Rule)
		if !seen[s.Rule] {
			stack = append(stack, enter(s.Rule, position))
		}
	}
	return found
}

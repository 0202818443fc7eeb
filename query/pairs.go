package query

import (
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A pair is a terminal and the one before it, which is none for the first.
type pair struct {
	before   int64
	terminal uint32
}

// none is no terminal.
const none = -1

// An ends is how a part of a sequence begins and ends; its zero value is that of no symbols.
type ends struct {
	first, last uint32
	some        bool
}

// Unit, Then and Times make costs a monoid, whose values are the ends of parts of a
// sequence, and which weighs the pairs of neighbours.
func (c *costs) Unit() ends { return ends{} }

func (c *costs) Then(a, b ends) (ends, uint64) {
	switch {
	case !a.some:
		return b, 0
	case !b.some:
		return a, 0
	}
	return ends{a.first, b.last, true}, c.of(pair{int64(a.last), b.first}).weight()
}

func (c *costs) Times(a ends, _ uint64) ends { return a }

// Pairs sum up the costs of the pairs of neighbours in the sequence of a grammar. The weight
// of a position is that of the pair of its terminal and the one before.
type pairs struct {
	grammar *sequitur.Grammar
	sum     *sums.Sum[ends]
	first   uint64 // the weight of the first position, which has no neighbour before it
}

// newPairs returns the sums of a grammar that has calls.
func newPairs(g *sequitur.Grammar, c *costs) *pairs {
	return &pairs{
		grammar: g, first: c.of(pair{none, g.At(0)}).weight(),
		sum: sums.New(sums.Of(g), c, func(s sequitur.Symbol) sums.Weighed[ends] {
			return sums.Weighed[ends]{Value: ends{s, s, true}}
		}),
	}
}

// total returns the sum of the weights of all positions.
func (p *pairs) total() uint64 { return wire.AddSat(p.first, p.sum.Total().Weight) }

// at returns the pair at a position, below the length of the sequence, and the sum of
// the weights of the positions before it.
func (p *pairs) at(position uint64) (at pair, sum uint64) {
	before := p.sum.Before(position)
	at = pair{none, p.grammar.At(position)}
	if before.Value.some {
		at.before, sum = int64(before.Value.last), wire.AddSat(p.first, before.Weight)
	}
	return at, sum
}

// before returns the sum of the weights of the positions before one, which is at most the length of the sequence.
func (p *pairs) before(position uint64) (sum uint64) {
	switch position {
	case 0:
		return 0
	case p.grammar.Len():
		return p.total()
	}
	_, sum = p.at(position)
	return sum
}

// find returns the first position at whose end the sum of the weights exceeds a sum,
// which must be below the total, its pair, and the sum before it.
func (p *pairs) find(sum uint64) (position uint64, at pair, before uint64) {
	if sum < p.first {
		return 0, pair{none, p.grammar.At(0)}, 0
	}
	position, symbol, w := p.sum.Find(sum - p.first)
	return position, pair{int64(w.Value.last), symbol}, wire.AddSat(p.first, w.Weight)
}

// ruleEnds returns how what each rule of a grammar generates begins and ends.
func ruleEnds(g *sequitur.Grammar) []ends {
	list := make([]ends, g.Rules())
	for r := range list { // rules refer to those below them
		for t := range g.Body(r) {
			e := endsOf(list, t)
			if list[r].some {
				e.first = list[r].first
			}
			list[r] = e
		}
	}
	return list
}

// endsOf returns how a term begins and ends, given the rules below it.
func endsOf(rules []ends, t sequitur.Term) ends {
	if t.Rule >= 0 {
		return rules[t.Rule]
	}
	return ends{t.Symbol, t.Symbol, true}
}

// countPairs returns how often each pair stands before a position. It takes as long as
// reading the grammar.
func countPairs(g *sequitur.Grammar, position uint64) map[pair]uint64 {
	found := make(map[pair]uint64)
	rules := ruleEnds(g)
	uses := make([]uint64, g.Rules()) // how often each rule is expanded as a whole
	// inner counts the pairs between n times so many repetitions of a term.
	inner := func(t sequitur.Term, e ends, repetitions, n uint64) {
		if repetitions > 1 {
			found[pair{int64(e.last), e.first}] += n * (repetitions - 1)
		}
		if t.Rule >= 0 {
			uses[t.Rule] += n * repetitions
		}
	}
	before := int64(none)
	for path, whole := range g.Prefix(position) {
		t := path[len(path)-1]
		e := endsOf(rules, t)
		found[pair{before, e.first}]++
		inner(t, e, whole, 1)
		before = int64(e.last)
	}
	for r := len(uses) - 1; r >= 0; r-- { // rules refer to those below them
		if uses[r] == 0 {
			continue
		}
		before = none
		for t := range g.Body(r) {
			e := endsOf(rules, t)
			if before != none {
				found[pair{before, e.first}] += uses[r]
			}
			inner(t, e, t.Count, uses[r])
			before = int64(e.last)
		}
	}
	return found
}

package query

import (
	"sort"

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

// Pairs sum weights of the pairs of neighbours in the sequence of a grammar, without
// expanding it, as a [sequitur.Measure] does of terminals. The weight of a position is
// that of the pair of its terminal and the one before.
type pairs struct {
	grammar *sequitur.Grammar
	begins  []int // of the right-hand side of each rule in terms, and their end
	terms   []pairTerm
	weight  func(pair) uint64
}

// A pairTerm is a symbol of a right-hand side. Every repetition of it but the first
// comes after its last terminal.
type pairTerm struct {
	rule        int // −1 for a terminal
	count       uint64
	length, end uint64 // of a repetition, and of the right-hand side up to here
	first, last uint32 // terminals of a repetition

	inner uint64 // the weights of a repetition, without that of its first position
	turn  uint64 // the weights of a repetition that comes after another
	sum   uint64 // of the right-hand side up to here, without that of its first position
}

// newPairs returns the pairs of a grammar, before they have weights.
func newPairs(g *sequitur.Grammar) *pairs {
	p := &pairs{grammar: g, begins: make([]int, 1, g.Rules()+1), terms: make([]pairTerm, 0, g.Symbols())}
	for r := range g.Rules() { // rules refer to those below them
		end := uint64(0)
		for s := range g.Body(r) {
			t := pairTerm{rule: s.Rule, count: s.Count, length: 1, first: s.Symbol, last: s.Symbol}
			if s.Rule >= 0 {
				body := p.body(s.Rule)
				t.length, t.first, t.last = g.RuleLen(s.Rule), body[0].first, body[len(body)-1].last
			}
			end += t.count * t.length
			t.end = end
			p.terms = append(p.terms, t)
		}
		p.begins = append(p.begins, len(p.terms))
	}
	return p
}

// body returns the right-hand side of a rule.
func (p *pairs) body(rule int) []pairTerm { return p.terms[p.begins[rule]:p.begins[rule+1]] }

// weigh gives the pairs weights.
func (p *pairs) weigh(weight func(pair) uint64) {
	p.weight = weight
	for r := range p.grammar.Rules() {
		body := p.body(r)
		sum := uint64(0)
		for i := range body {
			t := &body[i]
			if t.inner = 0; t.rule >= 0 {
				inner := p.body(t.rule)
				t.inner = inner[len(inner)-1].sum
			}
			if i > 0 {
				sum = wire.AddSat(sum, weight(pair{int64(body[i-1].last), t.first}))
			}
			t.turn = t.inner
			if t.count > 1 {
				t.turn = wire.AddSat(t.turn, weight(pair{int64(t.last), t.first}))
			}
			sum = wire.AddSat(sum, wire.AddSat(t.inner, wire.MulSat(t.count-1, t.turn)))
			t.sum = sum
		}
	}
}

// total returns the sum of the weights of all positions.
func (p *pairs) total() uint64 {
	if len(p.terms) == 0 {
		return 0
	}
	body := p.body(p.grammar.Rules() - 1)
	return wire.AddSat(p.weight(pair{none, body[0].first}), body[len(body)-1].sum)
}

// at returns the pair at a position, below the length of the sequence, and the sum of
// the weights of the positions before it. It takes O(depth · log symbols of a rule)
// steps.
func (p *pairs) at(position uint64) (at pair, sum uint64) {
	before := int64(none)
	for r := p.grammar.Rules() - 1; ; {
		body := p.body(r)
		k := sort.Search(len(body), func(k int) bool { return body[k].end > position })
		if k > 0 {
			sum = wire.AddSat(sum, wire.AddSat(p.weight(pair{before, body[0].first}), body[k-1].sum))
			position -= body[k-1].end
			before = int64(body[k-1].last)
		}
		t := &body[k]
		if n := position / t.length; n > 0 {
			sum = wire.AddSat(sum, wire.AddSat(p.weight(pair{before, t.first}), wire.AddSat(t.inner, wire.MulSat(n-1, t.turn))))
			position -= n * t.length
			before = int64(t.last)
		}
		if t.rule < 0 {
			return pair{before, t.first}, sum
		}
		r = t.rule
	}
}

// find returns the first position at whose end the sum of the weights exceeds a sum,
// which must be below the total, its pair, and the sum before it. It takes as many
// steps as at.
func (p *pairs) find(sum uint64) (position uint64, at pair, before uint64) {
	last := int64(none)
	for r := p.grammar.Rules() - 1; ; {
		body := p.body(r)
		entry := p.weight(pair{last, body[0].first})
		k := sort.Search(len(body), func(k int) bool { return wire.AddSat(entry, body[k].sum) > sum-before })
		if k > 0 {
			before += entry + body[k-1].sum
			position += body[k-1].end
			last = int64(body[k-1].last)
		}
		t := &body[k]
		if one := wire.AddSat(p.weight(pair{last, t.first}), t.inner); sum-before >= one {
			n := (sum - before - one) / t.turn
			before += one + n*t.turn
			position += (n + 1) * t.length
			last = int64(t.last)
		}
		if t.rule < 0 {
			return position, pair{last, t.first}, before
		}
		r = t.rule
	}
}

// countBefore returns how often each pair stands before a position. It takes as long as
// reading the grammar.
func (p *pairs) countBefore(position uint64) map[pair]uint64 {
	found := make(map[pair]uint64)
	uses := make([]uint64, p.grammar.Rules()) // how often each rule is expanded as a whole
	// repeat counts n ≥ 1 repetitions of a symbol, after a terminal.
	repeat := func(t *pairTerm, before int64, n uint64) {
		found[pair{before, t.first}]++
		if n > 1 {
			found[pair{int64(t.last), t.first}] += n - 1
		}
		if t.rule >= 0 {
			uses[t.rule] += n
		}
	}
	before := int64(none)
	for r := p.grammar.Rules() - 1; r >= 0; { // down to the position, through the rules it lies in
		body := p.body(r)
		r = -1
		for i := range body {
			t := &body[i]
			n := min(t.count, position/t.length)
			if n > 0 {
				repeat(t, before, n)
				before = int64(t.last)
			}
			if position -= n * t.length; n < t.count {
				r = t.rule
				break
			}
		}
	}
	for r := len(uses) - 1; r >= 0; r-- { // rules refer to those below them
		if uses[r] > 0 {
			p.countInner(r, uses[r], found, uses)
		}
	}
	return found
}

// countInner counts the pairs within a rule that is used so often.
func (p *pairs) countInner(r int, n uint64, found map[pair]uint64, uses []uint64) {
	body := p.body(r)
	for i := range body {
		t := &body[i]
		if i > 0 {
			found[pair{int64(body[i-1].last), t.first}] += n
		}
		if t.count > 1 {
			found[pair{int64(t.last), t.first}] += n * (t.count - 1)
		}
		if t.rule >= 0 {
			uses[t.rule] += n * t.count
		}
	}
}

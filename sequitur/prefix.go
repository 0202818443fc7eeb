package sequitur

import (
	"sort"

	"github.com/reprise-trace/reprise/internal/fingerprint"
)

// CommonPrefix returns how many symbols the sequences of g and h have in common from
// the beginning, before the first in which they differ or one of them ends. Symbols of h
// are compared as what to makes of them, which is called once for each terminal on a
// right-hand side; nil leaves them as they are.
//
// Rules are compared by fingerprints, so that it takes time in proportion to the two
// grammars, whatever they generate, and O(log length · depth · log symbols of a rule)
// steps more if they differ. What is equal is found equal. Two sequences of n symbols
// that are not are taken for equal with a probability below n²/2¹²⁰, whoever chose them:
// the fingerprints are drawn anew for each program that runs.
func (g *Grammar) CommonPrefix(h *Grammar, to func(Symbol) Symbol) uint64 {
	same := func(s Symbol) Symbol { return s }
	if to == nil {
		to = same
	}
	p, q := newPrints(g, same), newPrints(h, to)
	n := min(g.Len(), h.Len())
	if p.before(n) == q.before(n) {
		return n
	}
	low, high := uint64(0), n-1 // the prefix has at least low symbols, and at most high
	for low < high {
		middle := low + (high-low+1)/2
		if p.before(middle) == q.before(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// Prints are the fingerprints of what a grammar generates.
type prints struct {
	grammar *Grammar
	each    []fingerprint.Print // by place in grammar.symbols: of what the symbol generates once
	upTo    []fingerprint.Print // likewise, of the right-hand side up to the end of the symbol
}

func newPrints(g *Grammar, to func(Symbol) Symbol) *prints {
	p := &prints{grammar: g, each: make([]fingerprint.Print, len(g.symbols)), upTo: make([]fingerprint.Print, len(g.symbols))}
	begin := uint32(0)
	for _, end := range g.ends { // rules refer to those below them
		all := fingerprint.Empty
		for at := begin; at < end; at++ {
			s := &g.symbols[at]
			if s.ref.isRule() {
				p.each[at] = p.upTo[g.ends[s.ref.rule()]-1]
			} else {
				p.each[at] = fingerprint.Of(uint64(to(s.ref.terminal())))
			}
			all = all.Then(p.each[at].Times(s.count))
			p.upTo[at] = all
		}
		begin = end
	}
	return p
}

// before returns the print of what stands before a position, at most the length of the
// sequence.
func (p *prints) before(position uint64) fingerprint.Print {
	g := p.grammar
	all := fingerprint.Empty
	if position == 0 {
		return all
	}
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule() && position > 0; {
		begin, end := g.span(r.rule())
		body := g.symbols[begin:end]
		k := sort.Search(len(body), func(k int) bool { return body[k].end >= position })
		if k > 0 {
			all = all.Then(p.upTo[begin+uint32(k)-1])
			position -= body[k-1].end
		}
		r = body[k].ref
		length := g.length(r)
		all = all.Then(p.each[begin+uint32(k)].Times(position / length))
		position %= length
	}
	return all
}

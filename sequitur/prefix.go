package sequitur

import (
	"math/bits"
	"math/rand/v2"
	"sort"
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

// A print is the fingerprint of a sequence: the values of a polynomial, whose
// coefficients are the symbols, the first being that of the highest power, at two
// places that are drawn at random, modulo the prime 2⁶¹−1. Of what is before a place in
// a sequence, the print is multiplied by power, the place to the power of the length of
// what follows, and the print of that is added (R. M. Karp and M. O. Rabin, "Efficient
// randomized pattern-matching algorithms", IBM J. R&D 31(2), 1987).
type print struct {
	value, power [2]uint64
}

const prime = 1<<61 - 1

// places are where polynomials are evaluated.
var places = [2]uint64{2 + rand.Uint64N(prime-2), 2 + rand.Uint64N(prime-2)}

// empty is the print of no symbols.
var empty = print{power: [2]uint64{1, 1}}

func printOf(s Symbol) print {
	return print{[2]uint64{uint64(s) + 1, uint64(s) + 1}, places}
}

// then returns the print of a sequence and another behind it.
func (p print) then(q print) print {
	for i := range places {
		p.value[i] = add61(mul61(p.value[i], q.power[i]), q.value[i])
		p.power[i] = mul61(p.power[i], q.power[i])
	}
	return p
}

// times returns the print of a sequence n times, in O(log n) steps.
func (p print) times(n uint64) print {
	all := empty
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			all = all.then(p)
		}
		p = p.then(p)
	}
	return all
}

func add61(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

// mul61 returns the product of two numbers below the prime, modulo the prime.
func mul61(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return add61(low&prime, high<<3|low>>61)
}

// Prints are the fingerprints of what a grammar generates.
type prints struct {
	grammar *Grammar
	each    []print // by place in grammar.symbols: of what the symbol generates once
	upTo    []print // likewise, of the right-hand side up to the end of the symbol
}

func newPrints(g *Grammar, to func(Symbol) Symbol) *prints {
	p := &prints{grammar: g, each: make([]print, len(g.symbols)), upTo: make([]print, len(g.symbols))}
	begin := uint32(0)
	for _, end := range g.ends { // rules refer to those below them
		all := empty
		for at := begin; at < end; at++ {
			s := &g.symbols[at]
			if s.ref.isRule() {
				p.each[at] = p.upTo[g.ends[s.ref.rule()]-1]
			} else {
				p.each[at] = printOf(to(s.ref.terminal()))
			}
			all = all.then(p.each[at].times(s.count))
			p.upTo[at] = all
		}
		begin = end
	}
	return p
}

// before returns the print of what stands before a position, at most the length of the
// sequence.
func (p *prints) before(position uint64) print {
	g := p.grammar
	all := empty
	if position == 0 {
		return all
	}
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule() && position > 0; {
		begin, end := g.span(r.rule())
		body := g.symbols[begin:end]
		k := sort.Search(len(body), func(k int) bool { return body[k].end >= position })
		if k > 0 {
			all = all.then(p.upTo[begin+uint32(k)-1])
			position -= body[k-1].end
		}
		r = body[k].ref
		length := g.length(r)
		all = all.then(p.each[begin+uint32(k)].times(position / length))
		position %= length
	}
	return all
}

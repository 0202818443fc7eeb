package merge

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A pairing tells apart the symbols of a sequence where another one does, at equal positions: these become
// the numbers of pairs of symbols.
type pairing struct {
	equal func(x, y sequitur.Symbol) bool // whether two symbols may be a pair
	most  int                             // pairs there may be

	pairs  []pair // by their numbers
	firsts []firstPair
	others map[pair]sequitur.Symbol // with the first symbol of one before
}

type pair struct{ x, y sequitur.Symbol }

// A firstPair is the one that was found first of those with a first symbol.
type firstPair struct{ y, number sequitur.Symbol }

// none is no number of a pair.
const none = math.MaxUint32

// join makes the symbols of x, of which there are so many different ones, the numbers of pairs with those of
// y. Pairs are numbered in the order of their first use. It reports whether that can be; if not, x is of no
// more use.
func (p *pairing) join(x *sequence, y sequence, symbols int) bool {
	if !slices.Equal(x.loops, y.loops) {
		if x.len() != y.len() {
			return false
		}
		loops, ok := commonLoops(x.loops, y.loops)
		if !ok {
			return false
		}
		*x, y = x.reshape(loops), y.reshape(loops)
	}
	p.pairs = p.pairs[:0]
	p.firsts = slices.Grow(p.firsts[:0], symbols)[:symbols]
	for i := range p.firsts {
		p.firsts[i].number = none
	}
	clear(p.others)
	for i, s := range x.symbols {
		if first := p.firsts[s]; first.y == y.symbols[i] && first.number != none {
			x.symbols[i] = first.number
			continue
		}
		n, ok := p.number(pair{s, y.symbols[i]})
		if !ok {
			return false
		}
		x.symbols[i] = n
	}
	return true
}

// same reports whether each of so many first symbols is in one pair, which has its number.
func (p *pairing) same(symbols int) bool { return len(p.pairs) == symbols && len(p.others) == 0 }

// number returns the number of a pair that is not the first one with its first symbol, or not yet, and
// whether there may be such a pair.
func (p *pairing) number(k pair) (sequitur.Symbol, bool) {
	first := &p.firsts[k.x]
	if n, ok := p.others[k]; ok && first.number != none {
		return n, true
	}
	if len(p.pairs) == p.most || !p.equal(k.x, k.y) {
		return 0, false
	}
	n := sequitur.Symbol(len(p.pairs))
	p.pairs = append(p.pairs, k)
	if first.number == none {
		*first = firstPair{k.y, n}
		return n, true
	}
	if p.others == nil {
		p.others = make(map[pair]sequitur.Symbol)
	}
	p.others[k] = n
	return n, true
}

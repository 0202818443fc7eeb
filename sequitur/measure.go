package sequitur

import (
	"iter"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A Measure sums weights of terminals over the sequence of a grammar, without
// expanding it: how many calls of some functions stand before a position, say, or
// when the calls before it end if each takes as long as its like do on average.
// It is immutable, and its methods may be called from several goroutines at once.
//
// Sums that exceed 2⁶⁴−1 are 2⁶⁴−1.
type Measure struct {
	grammar *Grammar
	each    []uint64 // by place in grammar.symbols: the weight of what the symbol generates once
	sums    []uint64 // likewise, of the right-hand side up to the end of the symbol
}

// Measure returns the Measure for a weight of each terminal. Weight is called once
// for each terminal on a right-hand side; terminals must have one weight each. The
// cost is that of reading the grammar, and 16 bytes for each of its symbols.
func (g *Grammar) Measure(weight func(Symbol) uint64) *Measure {
	m := &Measure{grammar: g, each: make([]uint64, len(g.symbols)), sums: make([]uint64, len(g.symbols))}
	begin := uint32(0)
	for _, end := range g.ends { // rules refer to those below them
		sum := uint64(0)
		for at := begin; at < end; at++ {
			s := &g.symbols[at]
			if s.ref.isRule() {
				m.each[at] = m.rule(s.ref.rule())
			} else {
				m.each[at] = weight(s.ref.terminal())
			}
			sum = wire.AddSat(sum, wire.MulSat(m.each[at], s.count))
			m.sums[at] = sum
		}
		begin = end
	}
	return m
}

// rule returns the weight of what rule r generates.
func (m *Measure) rule(r uint32) uint64 { return m.sums[m.grammar.ends[r]-1] }

// Rule returns the sum of the weights of what rule r generates.
func (m *Measure) Rule(r int) uint64 { return m.rule(uint32(r)) }

// Total returns the sum of the weights of the whole sequence.
func (m *Measure) Total() uint64 {
	if len(m.sums) == 0 {
		return 0
	}
	return m.sums[len(m.sums)-1]
}

// Before returns the sum of the weights of what stands before a position: of the
// whole sequence for m's grammar's Len and beyond. It takes O(depth · log symbols of
// a rule) steps.
func (m *Measure) Before(position uint64) uint64 {
	g := m.grammar
	if position >= g.Len() {
		return m.Total()
	}
	sum := uint64(0)
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule(); {
		at, offset := g.locate(r.rule(), position)
		sum = wire.AddSat(sum, m.upTo(r.rule(), at))
		r = g.symbols[at].ref
		length := g.length(r)
		sum = wire.AddSat(sum, wire.MulSat(m.each[at], offset/length))
		position = offset % length
	}
	return sum
}

// upTo returns the sum of the weights on the right-hand side of a rule before a
// symbol of it.
func (m *Measure) upTo(r, at uint32) uint64 {
	if begin, _ := m.grammar.span(r); at == begin {
		return 0
	}
	return m.sums[at-1]
}

// Find returns the first position p for which Before(p+1) exceeds a sum, and
// Before(p). If all weights are 0 or 1, it is where the symbol of weight 1 stands that
// sum others stand before; if they are times, the symbol that goes on at the time
// sum. If there is none, because sum is not below Total, the position is the length of
// the sequence. It takes as many steps as Before.
func (m *Measure) Find(sum uint64) (position, before uint64) {
	g := m.grammar
	if sum >= m.Total() {
		return g.Len(), m.Total()
	}
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule(); {
		begin, end := g.span(r.rule())
		sums := m.sums[begin:end]
		at := begin + uint32(sort.Search(len(sums), func(k int) bool { return sums[k] > sum }))
		if at > begin {
			position += g.symbols[at-1].end
		}
		skipped := m.upTo(r.rule(), at)
		times := (sum - skipped) / m.each[at]
		skipped += times * m.each[at]
		r = g.symbols[at].ref
		position += times * g.length(r)
		sum -= skipped
		before += skipped
	}
	return position, before
}

// From returns an iterator over the positions of the symbols whose weight is not
// zero, from a position on, in order, and the symbols. What is between them is skipped, so that it
// takes as many steps for each as Find.
func (m *Measure) From(position uint64) iter.Seq2[uint64, Symbol] {
	return func(yield func(uint64, Symbol) bool) {
		for {
			next, _ := m.Find(m.Before(position))
			if next >= m.grammar.Len() || !yield(next, m.grammar.At(next)) {
				return
			}
			position = next + 1
		}
	}
}

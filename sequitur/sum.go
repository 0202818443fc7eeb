package sequitur

import (
	"iter"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/fingerprint"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Sum has the sums over parts of the sequence of a grammar, of what each symbol stands
// for, without expanding it: from its beginning to any position, and of the whole. It also
// finds a position by a sum. A sum is a weight, which is a number, and a value in a
// [Monoid], if weights alone do not tell what is asked for:
//
//   - how many calls of some functions stand before a position: each weighs 1 and others 0;
//   - at which position the clock of a rank shows a time: calls weigh how long they take;
//   - whether two sequences begin alike: values are fingerprints;
//   - what time goes by if a call takes longer after another: values are the first and the
//     last call, and the weight grows where calls meet.
//
// Making a Sum takes the time of reading the grammar and, for each symbol on a right-hand
// side, two weights and values of memory; one of [Places] takes what its symbols do. A
// question takes O(depth · log symbols of a rule) steps, and allocates nothing. A Sum is
// immutable, and its methods may be called from several goroutines at once. Weights that
// exceed 2⁶⁴−1 are 2⁶⁴−1.
type Sum[M any] struct {
	grammar *Grammar
	monoid  Monoid[M] // nil if weights are all there is
	sparse  bool      // not all symbols are terms
	rules   []uint32  // that have terms, if sparse
	ends    []uint32  // of the terms of each rule
	places  []uint32  // of terms in grammar.symbols, if sparse

	// Weights and values of a repetition of each term, and of the terms of its rule up to its
	// end; and by what another repetition behind it grows the weight.
	each, upTo           []uint64
	eachValue, upToValue []M      // nil if weights are all there is,
	again                []uint64 // and so is this: it is each
}

// A Measure is a Sum of weights alone.
type Measure = Sum[struct{}]

// A Weighed is a sum: of a symbol, or of a part of a sequence.
type Weighed[M any] struct {
	Value  M
	Weight uint64
}

// A Monoid says how the values of parts of a sequence make that of the whole, whatever the
// parts are: Then is associative, and Unit is the value of no symbols.
type Monoid[M any] interface {
	Unit() M

	// Then returns the value of a and b behind it, and what the weight of both grows by
	// where they meet: a seam, which depends on how a ends and b begins. With Unit there is
	// none. If there are seams, each symbol has a value other than Unit.
	Then(a, b M) (ab M, seam uint64)

	// Times returns the value of a, n ≥ 1 times.
	Times(a M, n uint64) M
}

// NewSum returns the Sum of what each terminal stands for. The monoid may be nil if weights
// are all that matters: then values are left as they are. Of is called once for each
// terminal on a right-hand side; terminals must stand for one sum each.
func NewSum[M any](g *Grammar, monoid Monoid[M], of func(Symbol) Weighed[M]) *Sum[M] {
	need.That(g != nil && (of != nil || len(g.symbols) == 0), "sequitur: no grammar, or nothing says what symbols stand for")
	s := &Sum[M]{grammar: g, monoid: monoid, ends: g.ends}
	s.makeTerms(len(g.symbols))
	begin := uint32(0)
	for _, end := range g.ends { // rules refer to those below them
		sum := s.unit()
		for at := begin; at < end; at++ {
			x := &g.symbols[at]
			if x.ref.isRule() {
				s.setEach(at, s.sumUpTo(g.ends[x.ref.rule()]-1))
			} else {
				s.setEach(at, of(x.ref.terminal()))
			}
			sum = s.then(sum, s.times(at, x.count))
			s.setUpTo(at, sum)
		}
		begin = end
	}
	return s
}

// Measure returns the Sum of a weight of each terminal, without values.
func (g *Grammar) Measure(weight func(Symbol) uint64) *Measure {
	need.That(weight != nil || len(g.symbols) == 0, "sequitur: nothing says what symbols weigh")
	return NewSum(g, nil, func(s Symbol) Weighed[struct{}] { return Weighed[struct{}]{Weight: weight(s)} })
}

// Places say where the terminals and the rules of a grammar are used, so that the sums of a
// few terminals are made at the cost of those: of the rules above them.
type Places struct {
	grammar   *Grammar
	terminals map[Symbol][]uint32 // in grammar.symbols
	rules     [][]uint32
}

// Places returns those of g, at the cost of reading it.
func (g *Grammar) Places() *Places {
	p := &Places{g, make(map[Symbol][]uint32), make([][]uint32, len(g.ends))}
	for at, x := range g.symbols {
		if x.ref.isRule() {
			p.rules[x.ref.rule()] = append(p.rules[x.ref.rule()], uint32(at))
		} else {
			p.terminals[x.ref.terminal()] = append(p.terminals[x.ref.terminal()], uint32(at))
		}
	}
	return p
}

// NewSumAt returns a [Sum] of some terminals: all others weigh nothing, and have the value of
// no symbols.
func NewSumAt[M any](p *Places, monoid Monoid[M], of map[Symbol]Weighed[M]) *Sum[M] {
	need.That(p != nil, "sequitur: no places")
	g := p.grammar
	s := &Sum[M]{grammar: g, monoid: monoid, sparse: true, places: p.above(maps.Keys(of))}
	s.makeTerms(len(s.places))
	sum := s.unit()
	for i, at := range s.places {
		if last := len(s.rules) - 1; last < 0 || at >= g.ends[s.rules[last]] {
			s.rules, s.ends = append(s.rules, g.ruleAt(at)), append(s.ends, uint32(i))
			sum = s.unit()
		}
		x := &g.symbols[at]
		term := uint32(i)
		if x.ref.isRule() {
			_, end := s.span(x.ref.rule())
			s.setEach(term, s.sumUpTo(end-1))
		} else {
			s.setEach(term, of[x.ref.terminal()])
		}
		sum = s.then(sum, s.times(term, x.count))
		s.setUpTo(term, sum)
		s.ends[len(s.ends)-1] = uint32(i + 1)
	}
	return s
}

// above returns the places of some terminals, and of the rules that have any, in ascending
// order: a rule is used after what it consists of.
func (p *Places) above(terminals iter.Seq[Symbol]) []uint32 {
	var list []uint32
	for s := range terminals {
		list = append(list, p.terminals[s]...)
	}
	seen := make(map[uint32]bool)
	for i := 0; i < len(list); i++ {
		if r := p.grammar.ruleAt(list[i]); !seen[r] {
			seen[r] = true
			list = append(list, p.rules[r]...)
		}
	}
	slices.Sort(list)
	return list
}

// ruleAt returns the rule that a symbol stands in.
func (g *Grammar) ruleAt(at uint32) uint32 {
	r, _ := slices.BinarySearch(g.ends, at+1)
	return uint32(r)
}

// makeTerms makes room for the sums of so many terms.
func (s *Sum[M]) makeTerms(n int) {
	s.each, s.upTo = make([]uint64, n), make([]uint64, n)
	s.again = s.each
	if s.monoid != nil {
		s.eachValue, s.upToValue, s.again = make([]M, n), make([]M, n), make([]uint64, n)
	}
}

// setEach sets the sum of a repetition of a term.
func (s *Sum[M]) setEach(term uint32, each Weighed[M]) {
	s.each[term] = each.Weight
	if s.monoid != nil {
		s.eachValue[term] = each.Value
		_, seam := s.monoid.Then(each.Value, each.Value)
		s.again[term] = wire.AddSat(each.Weight, seam)
	}
}

// setUpTo sets the sum of the terms of a rule up to the end of this one.
func (s *Sum[M]) setUpTo(term uint32, sum Weighed[M]) {
	s.upTo[term] = sum.Weight
	if s.monoid != nil {
		s.upToValue[term] = sum.Value
	}
}

// sumUpTo returns the sum of the terms of a rule up to the end of this one.
func (s *Sum[M]) sumUpTo(term uint32) Weighed[M] {
	if s.monoid == nil {
		return Weighed[M]{Weight: s.upTo[term]}
	}
	return Weighed[M]{s.upToValue[term], s.upTo[term]}
}

// Weights returns a view of the weights of s, without values: questions take less time. The
// monoid of s must have no seams.
func (s *Sum[M]) Weights() *Measure {
	return &Measure{
		grammar: s.grammar, sparse: s.sparse, rules: s.rules, ends: s.ends, places: s.places,
		each: s.each, upTo: s.upTo, again: s.each,
	}
}

func (s *Sum[M]) unit() Weighed[M] {
	var u Weighed[M]
	if s.monoid != nil {
		u.Value = s.monoid.Unit()
	}
	return u
}

func (s *Sum[M]) then(a, b Weighed[M]) Weighed[M] {
	weight := wire.AddSat(a.Weight, b.Weight)
	if s.monoid == nil {
		return Weighed[M]{a.Value, weight}
	}
	value, seam := s.monoid.Then(a.Value, b.Value)
	return Weighed[M]{value, wire.AddSat(weight, seam)}
}

// times returns the sum of n ≥ 1 repetitions of a term.
func (s *Sum[M]) times(term uint32, n uint64) Weighed[M] {
	sum := Weighed[M]{Weight: wire.AddSat(s.each[term], wire.MulSat(s.again[term], n-1))}
	switch {
	case s.monoid == nil:
	case n == 1:
		sum.Value = s.eachValue[term]
	default:
		sum.Value = s.monoid.Times(s.eachValue[term], n)
	}
	return sum
}

// span returns the terms of rule r.
func (s *Sum[M]) span(r uint32) (begin, end uint32) {
	if s.sparse {
		i, ok := slices.BinarySearch(s.rules, r)
		if !ok {
			return 0, 0
		}
		r = uint32(i)
	}
	if r > 0 {
		begin = s.ends[r-1]
	}
	return begin, s.ends[r]
}

// symbol returns the symbol of a term.
func (s *Sum[M]) symbol(term uint32) *symbol {
	if s.sparse {
		term = s.places[term]
	}
	return &s.grammar.symbols[term]
}

// Total returns the sum of the whole sequence.
func (s *Sum[M]) Total() Weighed[M] {
	if len(s.upTo) == 0 {
		return s.unit()
	}
	return s.sumUpTo(uint32(len(s.upTo) - 1)) // of the start rule, which has whatever has a sum
}

// Before returns the sum of what stands before a position: of the whole sequence for its
// length and beyond.
func (s *Sum[M]) Before(position uint64) Weighed[M] {
	if position >= s.grammar.Len() {
		return s.Total()
	}
	g := s.grammar
	sum := s.unit()
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule() && position > 0; {
		begin, end := s.span(r.rule())
		at := begin
		for last := end; at < last; { // the first term that ends behind the position
			if middle := (at + last) / 2; s.symbol(middle).end > position {
				last = middle
			} else {
				at = middle + 1
			}
		}
		if at > begin {
			sum = s.then(sum, s.sumUpTo(at-1))
		}
		if at == end {
			break
		}
		x := s.symbol(at)
		length := g.length(x.ref)
		start := x.end - x.count*length
		if position <= start {
			break
		}
		position -= start
		if n := position / length; n > 0 {
			sum = s.then(sum, s.times(at, n))
		}
		position %= length
		r = x.ref
	}
	return sum
}

// Find returns the first position p for which the weight of Before(p+1) exceeds weight, and
// the symbol there, and Before(p). If all weights are 0 or 1, it is where the symbol of
// weight 1 stands that weight others stand before; if they are times, the symbol that goes on
// at the time weight. If there is none, because weight is not below that of the Total, the
// position is the length of the sequence, and the symbol 0.
func (s *Sum[M]) Find(weight uint64) (position uint64, at Symbol, before Weighed[M]) {
	if total := s.Total(); weight >= total.Weight {
		return s.grammar.Len(), 0, total
	}
	var term uint32
	if s.monoid == nil {
		position, before.Weight, term = s.findWeight(weight)
	} else {
		position, before, term = s.find(weight)
	}
	return position, s.symbol(term).ref.terminal(), before
}

// find is Find for a weight below that of the Total, where there are values. It returns the
// term of the symbol.
func (s *Sum[M]) find(weight uint64) (position uint64, before Weighed[M], at uint32) {
	g := s.grammar
	before = s.unit()
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule(); {
		begin, end := s.span(r.rule())
		// What follows the first term adds the same, whatever is before it.
		_, seam := s.monoid.Then(before.Value, s.upToValue[begin])
		at = begin
		if entry := wire.AddSat(before.Weight, seam); entry <= weight {
			at += firstAbove(s.upTo[begin:end], weight-entry)
		}
		x := s.symbol(at)
		length := g.length(x.ref)
		position += x.end - x.count*length
		if at > begin {
			before = s.then(before, s.sumUpTo(at-1))
		}
		if x.count > 1 {
			_, seam := s.monoid.Then(before.Value, s.eachValue[at])
			if one := wire.AddSat(wire.AddSat(before.Weight, s.each[at]), seam); one <= weight {
				n := (weight - one) / s.again[at]
				before.Weight = one + n*s.again[at]
				before.Value, _ = s.monoid.Then(before.Value, s.monoid.Times(s.eachValue[at], n+1))
				position += (n + 1) * length
			}
		}
		r = x.ref
	}
	return position, before, at
}

// findWeight is find where there is nothing but weights.
func (s *Sum[M]) findWeight(weight uint64) (position, before uint64, at uint32) {
	g := s.grammar
	for r := ruleRef(uint32(len(g.ends) - 1)); r.isRule(); {
		begin, end := s.span(r.rule())
		at = begin + firstAbove(s.upTo[begin:end], weight)
		if at > begin {
			before += s.upTo[at-1]
			weight -= s.upTo[at-1]
		}
		x := s.symbol(at)
		r = x.ref
		length := g.length(r)
		position += x.end - x.count*length
		if x.count > 1 {
			each := s.each[at]
			n := weight / each
			position += n * length
			before += n * each
			weight -= n * each
		}
	}
	return position, before, at
}

// firstAbove returns the index of the first of ascending weights that exceeds a weight.
func firstAbove(weights []uint64, weight uint64) uint32 {
	i, end := 0, len(weights)
	for i < end {
		if middle := int(uint(i+end) / 2); weights[middle] > weight {
			end = middle
		} else {
			i = middle + 1
		}
	}
	return uint32(i)
}

// From returns an iterator over the positions of the symbols that have a weight, from a
// position on, in order, and the symbols. What is between them is skipped, so that it takes
// as many steps for each as Find. Symbols must have all of the weight: the monoid has no
// seams.
func (s *Sum[M]) From(position uint64) iter.Seq2[uint64, Symbol] {
	return func(yield func(uint64, Symbol) bool) {
		w := s.Weights()
		total := s.Total().Weight
		for weight := w.Before(position).Weight; weight < total; {
			next, before, at := w.findWeight(weight)
			if !yield(next, w.symbol(at).ref.terminal()) {
				return
			}
			weight = wire.AddSat(before, w.each[at])
		}
	}
}

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
	mustAll([]*Grammar{h})
	same := func(s Symbol) Symbol { return s }
	if to == nil {
		to = same
	}
	p := printsOf(g, same)
	q := printsOf(h, to)
	n := min(g.Len(), h.Len())
	differ := func(length uint64) bool { return p.Before(length).Value != q.Before(length).Value }
	if !differ(n) {
		return n
	}
	low, high := uint64(0), n-1 // the prefix has at least low symbols, and at most high
	for low < high {
		if middle := low + (high-low+1)/2; differ(middle) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low
}

// printsOf returns the fingerprints of a sequence.
func printsOf(g *Grammar, to func(Symbol) Symbol) *Sum[fingerprint.Print] {
	return NewSum(g, fingerprint.Monoid{}, func(s Symbol) Weighed[fingerprint.Print] {
		return Weighed[fingerprint.Print]{Value: fingerprint.Of(uint64(to(s)))}
	})
}

// Package sums adds something up over the sequence of a grammar, in the time of reading the grammar: counts,
// times, fingerprints, whatever is a monoid. It tells the sum before any position, and the position of a
// sum.
package sums

import (
	"iter"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
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
// side, two weights and values of memory; [NewAt] takes what its symbols do. A
// question takes O(depth · log symbols of a rule) steps, and allocates nothing. A Sum is
// immutable, and its methods may be called from several goroutines at once. Weights that
// exceed 2⁶⁴−1 are 2⁶⁴−1.
type Sum[M any] struct {
	index  *Index
	monoid Monoid[M] // nil if weights are all there is
	sparse bool      // not all symbols are terms
	rules  []uint32  // that have terms, if sparse
	ends   []uint32  // of the terms of each rule
	places []uint32  // of terms in index.terms, if sparse

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

// New returns the Sum of what each terminal stands for. The monoid may be nil if weights
// are all that matters: then values are left as they are. Of is called once for each
// terminal on a right-hand side; terminals must stand for one sum each.
func New[M any](index *Index, monoid Monoid[M], of func(sequitur.Symbol) Weighed[M]) *Sum[M] {
	need.That(index != nil && (of != nil || len(index.terms) == 0),
		"sums: no grammar, or nothing says what symbols stand for")
	s := &Sum[M]{index: index, monoid: monoid, ends: index.ends}
	s.makeTerms(len(index.terms))
	begin := uint32(0)
	for _, end := range index.ends { // rules refer to those below them
		sum := s.unit()
		for at := begin; at < end; at++ {
			x := &index.terms[at]
			if x.rule >= 0 {
				s.setEach(at, s.sumUpTo(index.ends[x.rule]-1))
			} else {
				s.setEach(at, of(x.symbol))
			}
			sum = s.then(sum, s.times(at, x.count))
			s.setUpTo(at, sum)
		}
		begin = end
	}
	return s
}

// Measure returns the Sum of a weight of each terminal, without values.
func (x *Index) Measure(weight func(sequitur.Symbol) uint64) *Measure {
	need.That(weight != nil || len(x.terms) == 0, "sums: nothing says what symbols weigh")
	return New(x, nil, func(s sequitur.Symbol) Weighed[struct{}] { return Weighed[struct{}]{Weight: weight(s)} })
}

// NewAt returns a [Sum] of some terminals, at the cost of these and of the rules above them: all other
// terminals weigh nothing, and have the value of no symbols.
func NewAt[M any](index *Index, monoid Monoid[M], of map[sequitur.Symbol]Weighed[M]) *Sum[M] {
	need.That(index != nil, "sums: no grammar")
	s := &Sum[M]{index: index, monoid: monoid, sparse: true, places: index.above(maps.Keys(of))}
	s.makeTerms(len(s.places))
	sum := s.unit()
	for i, at := range s.places {
		if last := len(s.rules) - 1; last < 0 || at >= index.ends[s.rules[last]] {
			s.rules, s.ends = append(s.rules, index.ruleAt(at)), append(s.ends, uint32(i))
			sum = s.unit()
		}
		x := &index.terms[at]
		term := uint32(i)
		if x.rule >= 0 {
			_, end := s.span(uint32(x.rule))
			s.setEach(term, s.sumUpTo(end-1))
		} else {
			s.setEach(term, of[x.symbol])
		}
		sum = s.then(sum, s.times(term, x.count))
		s.setUpTo(term, sum)
		s.ends[len(s.ends)-1] = uint32(i + 1)
	}
	return s
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
		index: s.index, sparse: s.sparse, rules: s.rules, ends: s.ends, places: s.places,
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

// term returns a term by its number in s.
func (s *Sum[M]) term(n uint32) *term {
	if s.sparse {
		n = s.places[n]
	}
	return &s.index.terms[n]
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
	if position >= s.index.len() {
		return s.Total()
	}
	sum := s.unit()
	for r := int32(len(s.index.ends) - 1); r >= 0 && position > 0; {
		begin, end := s.span(uint32(r))
		at := begin
		for last := end; at < last; { // the first term that ends behind the position
			if middle := (at + last) / 2; s.term(middle).end > position {
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
		x := s.term(at)
		length := s.index.length(x)
		start := x.end - x.count*length
		if position <= start {
			break
		}
		position -= start
		if n := position / length; n > 0 {
			sum = s.then(sum, s.times(at, n))
		}
		position %= length
		r = x.rule
	}
	return sum
}

// Find returns the first position p for which the weight of Before(p+1) exceeds weight, and
// the symbol there, and Before(p). If all weights are 0 or 1, it is where the symbol of
// weight 1 stands that weight others stand before; if they are times, the symbol that goes on
// at the time weight. If there is none, because weight is not below that of the Total, the
// position is the length of the sequence, and the symbol 0.
func (s *Sum[M]) Find(weight uint64) (position uint64, at sequitur.Symbol, before Weighed[M]) {
	if total := s.Total(); weight >= total.Weight {
		return s.index.len(), 0, total
	}
	var term uint32
	if s.monoid == nil {
		position, before.Weight, term = s.findWeight(weight)
	} else {
		position, before, term = s.find(weight)
	}
	return position, s.term(term).symbol, before
}

// find is Find for a weight below that of the Total, where there are values. It returns the
// term of the symbol.
func (s *Sum[M]) find(weight uint64) (position uint64, before Weighed[M], at uint32) {
	before = s.unit()
	for r := int32(len(s.index.ends) - 1); r >= 0; {
		begin, end := s.span(uint32(r))
		// What follows the first term adds the same, whatever is before it.
		_, seam := s.monoid.Then(before.Value, s.upToValue[begin])
		at = begin
		if entry := wire.AddSat(before.Weight, seam); entry <= weight {
			at += firstAbove(s.upTo[begin:end], weight-entry)
		}
		x := s.term(at)
		length := s.index.length(x)
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
		r = x.rule
	}
	return position, before, at
}

// findWeight is find where there is nothing but weights.
func (s *Sum[M]) findWeight(weight uint64) (position, before uint64, at uint32) {
	for r := int32(len(s.index.ends) - 1); r >= 0; {
		begin, end := s.span(uint32(r))
		at = begin + firstAbove(s.upTo[begin:end], weight)
		if at > begin {
			before += s.upTo[at-1]
			weight -= s.upTo[at-1]
		}
		x := s.term(at)
		r = x.rule
		length := s.index.length(x)
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
func (s *Sum[M]) From(position uint64) iter.Seq2[uint64, sequitur.Symbol] {
	return func(yield func(uint64, sequitur.Symbol) bool) {
		w := s.Weights()
		total := s.Total().Weight
		for weight := w.Before(position).Weight; weight < total; {
			next, before, at := w.findWeight(weight)
			if !yield(next, w.term(at).symbol) {
				return
			}
			weight = wire.AddSat(before, w.each[at])
		}
	}
}

package sequitur

import (
	"crypto/sha256"
	"iter"
	"maps"
	"slices"
	"sort"
)

// A Grammar is an immutable grammar that generates one sequence of symbols. Its
// methods may be called from several goroutines at once. The zero Grammar
// generates the empty sequence.
//
// Rules are numbered so that each refers only to rules below it; the last is
// the start rule.
type Grammar struct {
	symbols []symbol
	ends    []uint32 // ends[r] is where the right-hand side of rule r ends in symbols, and the next begins
}

// A symbol is a run on a right-hand side.
type symbol struct {
	count uint64
	end   uint64 // symbols that the right-hand side generates up to the end of this one
	ref   ref
}

// A Term is a symbol of a right-hand side: a terminal or a rule, repeated.
type Term struct {
	Symbol Symbol // if Rule is −1
	Rule   int    // −1, or the number of a rule
	Count  uint64 // ≥ 1
}

// span returns where the right-hand side of rule r begins and ends in symbols.
func (g *Grammar) span(r uint32) (begin, end uint32) {
	if r > 0 {
		begin = g.ends[r-1]
	}
	return begin, g.ends[r]
}

// length returns the number of symbols that r generates.
func (g *Grammar) length(r ref) uint64 {
	if !r.isRule() {
		return 1
	}
	return g.symbols[g.ends[r.rule()]-1].end
}

// Len reports the number of symbols g generates.
func (g *Grammar) Len() uint64 {
	if len(g.symbols) == 0 {
		return 0
	}
	return g.symbols[len(g.symbols)-1].end
}

// Rules reports the number of rules, the start rule included. The start rule is
// rule Rules()−1. There are none if g generates the empty sequence.
func (g *Grammar) Rules() int { return len(g.ends) }

// Symbols reports the number of symbols on all right-hand sides, a repeated
// symbol being one: the size of the grammar.
func (g *Grammar) Symbols() int { return len(g.symbols) }

// RuleLen reports the number of symbols that rule r generates.
func (g *Grammar) RuleLen(r int) uint64 { return g.length(ruleRef(uint32(r))) }

// Body returns an iterator over the right-hand side of rule r.
func (g *Grammar) Body(r int) iter.Seq[Term] {
	return func(yield func(Term) bool) {
		begin, end := g.span(uint32(r))
		for _, s := range g.symbols[begin:end] {
			t := Term{Rule: -1, Count: s.count}
			if s.ref.isRule() {
				t.Rule = int(s.ref.rule())
			} else {
				t.Symbol = s.ref.terminal()
			}
			if !yield(t) {
				return
			}
		}
	}
}

// At returns the symbol at position i, counted from 0. It takes O(depth · log
// symbols of a rule) steps. It panics unless i < g.Len().
func (g *Grammar) At(i uint64) Symbol {
	if i >= g.Len() {
		panic("sequitur: position out of range")
	}
	r := ruleRef(uint32(len(g.ends) - 1))
	for r.isRule() {
		var at uint32
		at, i = g.locate(r.rule(), i)
		r = g.symbols[at].ref
		i %= g.length(r)
	}
	return r.terminal()
}

// locate returns the symbol of rule r's body that generates position i of what
// r generates, and how far the position lies behind that symbol's beginning.
func (g *Grammar) locate(r uint32, i uint64) (at uint32, offset uint64) {
	begin, end := g.span(r)
	body := g.symbols[begin:end]
	k := sort.Search(len(body), func(k int) bool { return body[k].end > i })
	if k > 0 {
		i -= body[k-1].end
	}
	return begin + uint32(k), i
}

// Occurrences returns an iterator over the terminals of g, in ascending order,
// and how often each occurs in the sequence. The cost is that of reading the
// grammar, not the sequence.
func (g *Grammar) Occurrences() iter.Seq2[Symbol, uint64] { return g.OccurrencesBefore(g.Len()) }

// OccurrencesBefore is like [Grammar.Occurrences] but counts only what stands
// before a position.
func (g *Grammar) OccurrencesBefore(position uint64) iter.Seq2[Symbol, uint64] {
	return func(yield func(Symbol, uint64) bool) {
		found := g.countBefore(position)
		for _, s := range slices.Sorted(maps.Keys(found)) {
			if !yield(s, found[s]) {
				return
			}
		}
	}
}

// countBefore returns how often each terminal occurs before a position, without
// those that do not.
func (g *Grammar) countBefore(position uint64) map[Symbol]uint64 {
	found := make(map[Symbol]uint64)
	uses := make([]uint64, len(g.ends)) // how often each rule is expanded as a whole
	add := func(r ref, n uint64) {
		switch {
		case n == 0:
		case r.isRule():
			uses[r.rule()] += n
		default:
			found[r.terminal()] += n
		}
	}
	for r := len(g.ends) - 1; r >= 0; { // down to the position, through the rules it lies in
		begin, end := g.span(uint32(r))
		r = -1
		for _, s := range g.symbols[begin:end] {
			length := g.length(s.ref)
			whole := min(s.count, position/length)
			add(s.ref, whole)
			if position -= whole * length; whole < s.count {
				if s.ref.isRule() {
					r = int(s.ref.rule())
				}
				break
			}
		}
	}
	for r := len(uses) - 1; r >= 0; r-- { // rules refer to those below them
		if uses[r] == 0 {
			continue
		}
		begin, end := g.span(uint32(r))
		for _, s := range g.symbols[begin:end] {
			add(s.ref, uses[r]*s.count)
		}
	}
	return found
}

// Equal reports whether g and h have the same rules in the same order. Equal
// sequences, appended in any portions to Builders, give Equal grammars.
func (g *Grammar) Equal(h *Grammar) bool {
	return slices.Equal(g.symbols, h.symbols) && slices.Equal(g.ends, h.ends)
}

// Hash returns the SHA-256 of the encoding of g.
func (g *Grammar) Hash() [sha256.Size]byte {
	enc, _ := g.MarshalBinary()
	return sha256.Sum256(enc)
}

package sequitur

import (
	"iter"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/pairmap"
)

// Prefix returns an iterator over the terms that make up what stands before a position, in
// order: of the rules that the position lies in, what is complete. It yields a term behind
// those that it stands in, the outermost first, and how many of its repetitions come before
// the position, at least one. It takes O(depth · symbols of a rule) steps. The list is valid
// until the next step.
func (g *Grammar) Prefix(position uint64) iter.Seq2[[]Term, uint64] {
	return func(yield func([]Term, uint64) bool) {
		var path []Term
		for r := len(g.ends) - 1; r >= 0; {
			inside := -1
			for t := range g.Body(r) {
				length := uint64(1)
				if t.Rule >= 0 {
					length = g.RuleLen(t.Rule)
				}
				whole := min(t.Count, position/length)
				if path = append(path, t); whole > 0 && !yield(path, whole) {
					return
				}
				if position -= whole * length; whole < t.Count {
					if position > 0 {
						inside = t.Rule
					}
					break
				}
				path = path[:len(path)-1]
			}
			r = inside
		}
	}
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
		for s, n := range found.small {
			if n > 0 && !yield(Symbol(s), n) {
				return
			}
		}
		for _, s := range slices.Sorted(maps.Keys(found.large)) {
			if !yield(s, found.large[s]) {
				return
			}
		}
	}
}

// Counts are numbers of terminals: of those below the number of symbols of a grammar, which most
// are, in a list.
type counts struct {
	small []uint64
	large map[Symbol]uint64 // without zeros
}

func (c *counts) add(s Symbol, n uint64) {
	if uint64(s) < uint64(len(c.small)) {
		c.small[s] += n
	} else if n > 0 {
		c.large[s] += n
	}
}

// countBefore returns how often each terminal occurs before a position.
func (g *Grammar) countBefore(position uint64) counts {
	found := counts{make([]uint64, len(g.symbols)), make(map[Symbol]uint64)}
	uses := make([]uint64, len(g.ends)) // how often each rule is expanded as a whole
	for path, n := range g.Prefix(position) {
		if t := path[len(path)-1]; t.Rule >= 0 {
			uses[t.Rule] += n
		} else {
			found.add(t.Symbol, n)
		}
	}
	for r := len(uses) - 1; r >= 0; r-- { // rules refer to those below them
		if uses[r] == 0 {
			continue
		}
		begin, end := g.span(uint32(r))
		for _, s := range g.symbols[begin:end] {
			if s.ref.isRule() {
				uses[s.ref.rule()] += uses[r] * s.count
			} else {
				found.add(s.ref.terminal(), uses[r]*s.count)
			}
		}
	}
	return found
}

// FirstUse returns the terminals of g in the order in which they first occur in
// the sequence. The cost is that of reading the grammar.
func (g *Grammar) FirstUse() []Symbol {
	var order []Symbol
	for _, s := range g.FirstUses() {
		order = append(order, s)
	}
	return order
}

// FirstUses returns an iterator over the terminals of g in the order in which they
// first occur in the sequence, and their positions there. The cost is that of
// reading the grammar.
func (g *Grammar) FirstUses() iter.Seq2[uint64, Symbol] {
	return func(yield func(uint64, Symbol) bool) {
		var known pairmap.Map
		for at, position := range g.once() {
			x := g.symbols[at].ref
			if x.isRule() {
				continue
			}
			if _, ok := known.Get(uint64(x), 0); ok {
				continue
			}
			known.Put(uint64(x), 0, 0)
			if !yield(position, x.terminal()) {
				return
			}
		}
	}
}

// once returns an iterator over the symbols of all right-hand sides, by their places in
// g.symbols, and where in the sequence they are first: in the order of the sequence, and each
// right-hand side once, where its rule is first. A symbol that is a rule comes behind what
// that consists of.
func (g *Grammar) once() iter.Seq2[uint32, uint64] {
	return func(yield func(uint32, uint64) bool) {
		if len(g.ends) == 0 {
			return
		}
		type rest struct { // of a right-hand side
			at, end  uint32
			position uint64 // of what the right-hand side generates
		}
		read := make([]bool, len(g.ends)) // the rules on the path, or done with
		begin, end := g.span(uint32(len(g.ends) - 1))
		path := []rest{{begin, end, 0}}
		for {
			top := &path[len(path)-1]
			if top.at == top.end {
				if path = path[:len(path)-1]; len(path) == 0 {
					return
				}
				top = &path[len(path)-1]
			}
			x := &g.symbols[top.at]
			position := top.position + x.end - x.count*g.length(x.ref)
			if x.ref.isRule() && !read[x.ref.rule()] {
				read[x.ref.rule()] = true
				begin, end := g.span(x.ref.rule())
				path = append(path, rest{begin, end, position})
				continue
			}
			if top.at++; !yield(top.at-1, position) {
				return
			}
		}
	}
}

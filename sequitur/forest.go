package sequitur

import "sync"

// A Forest is several grammars, its members, that are encoded together: what one
// has in common with another costs a few bytes, whether it is a rule, a part of
// one, or the way in which rules are put together. A Forest is immutable, and its
// methods may be called from several goroutines at once.
//
// The encoding is in pieces. The shared piece holds the first members, as many
// as it takes for what the others are compared with; in most forests these are
// all. Each other member has a piece of its own, which is decoded with the
// shared piece and without the other members.
type Forest struct {
	members []*Grammar
	shared  int // members in the shared piece
	most    int // tokens in the history: maxHistory but in tests

	encode sync.Once // sets what follows
	piece  []byte    // the shared piece
	known  predictor // as it is at the end of the shared piece
}

// NewForest returns a forest of grammars. It retains the grammars, not the
// slice.
func NewForest(grammars []*Grammar) *Forest { return newForest(grammars, maxHistory) }

func newForest(grammars []*Grammar, most int) *Forest {
	f := &Forest{members: append([]*Grammar(nil), grammars...), most: most}
	for tokens := 0; tokens < most && f.shared < len(f.members); f.shared++ {
		for range f.members[f.shared].tokens() {
			tokens++
		}
	}
	return f
}

// Len reports the number of members.
func (f *Forest) Len() int { return len(f.members) }

// Grammar returns member i.
func (f *Forest) Grammar(i int) *Grammar { return f.members[i] }

// FirstUse lists the terminals in the order in which they occur for the first
// time in the sequences of the members, one member after the other. The encoding
// is smallest if the terminals are numbered in that order. The cost is that of
// reading the grammars.
func (f *Forest) FirstUse() []Symbol {
	var order []Symbol
	seen := make(map[uint64]bool)
	for _, g := range f.members {
		for t := range g.tokens() {
			if t.kind == tokenTerminal && !seen[t.value] {
				seen[t.value] = true
				order = append(order, Symbol(t.value))
			}
		}
	}
	return order
}

// Rewrite returns a forest of the members as [Grammar.Rewrite] returns them.
func (f *Forest) Rewrite(to func(Symbol) Symbol) *Forest {
	members := make([]*Grammar, len(f.members))
	for i, g := range f.members {
		members[i] = g.Rewrite(to)
	}
	return NewForest(members)
}

// Package forest encodes several grammars together.
//
// To predict a symbol by what stood behind the last place like this one, and to
// write only how often that holds, is the method of C. Bloom, "LZP: A New Data
// Compression Algorithm", DCC 1996. A forest departs from it in going on behind a
// symbol that differs: its members are programs with other arguments.
package forest

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/pairmap"
	"github.com/reprise-trace/reprise/sequitur"
)

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
	members []*sequitur.Grammar
	shared  int // members in the shared piece
	most    int // tokens in the history: maxHistory but in tests

	encode sync.Once // sets what follows
	piece  []byte    // the shared piece
	known  predictor // as it is at the end of the shared piece
}

// New returns a forest of grammars. It retains the grammars, not the
// slice. It panics if one of them is nil.
func New(grammars []*sequitur.Grammar) *Forest { return newForest(grammars, maxHistory) }

func newForest(grammars []*sequitur.Grammar, most int) *Forest {
	need.That(!slices.Contains(grammars, nil), "forest: no grammar")
	f := &Forest{members: slices.Clone(grammars), most: most}
	var b bodies
	for tokens := 0; tokens < most && f.shared < len(f.members); f.shared++ {
		for range b.tokens(f.members[f.shared]) {
			tokens++
		}
	}
	return f
}

// Len reports the number of members.
func (f *Forest) Len() int { return len(f.members) }

// Grammar returns member i.
func (f *Forest) Grammar(i int) *sequitur.Grammar {
	checkMember(i, len(f.members))
	return f.members[i]
}

// checkMember panics if there is no member i of n.
func checkMember(i, n int) {
	if i < 0 || i >= n {
		panic(fmt.Sprintf("forest: member %d of %d", i, n))
	}
}

// FirstUse lists the terminals in the order in which they occur for the first
// time in the sequences of the members, one member after the other. The encoding
// is smallest if the terminals are numbered in that order. The cost is that of
// reading the grammars.
func (f *Forest) FirstUse() []sequitur.Symbol {
	var order []sequitur.Symbol
	seen := make(map[sequitur.Symbol]bool)
	for _, g := range f.members {
		for _, t := range g.FirstUses() {
			if !seen[t] {
				seen[t] = true
				order = append(order, t)
			}
		}
	}
	return order
}

// Rewrite returns a forest of the members as [sequitur.Grammar.Rewrite] returns them.
func (f *Forest) Rewrite(to func(sequitur.Symbol) sequitur.Symbol) *Forest {
	members := make([]*sequitur.Grammar, len(f.members))
	for i, g := range f.members {
		members[i] = g.Rewrite(to)
	}
	return New(members)
}

// A token is a step by which a grammar is put together on a stack of symbols.
type token struct {
	kind  tokenKind
	value uint64
}

type tokenKind uint8

// The tokens. A rule stands on the stack where it is used first, from the token
// that makes it on.
const (
	tokenTerminal tokenKind = iota // push the terminal value
	tokenRule                      // push the rule that was made value rules before the last
	tokenRepeat                    // give the symbol on top the count value, which is 2 or more
	tokenReduce                    // make a rule of the value symbols on top and push it
	tokenEnd                       // make the start rule of the whole stack
)

// Bodies are the right-hand sides of a grammar, one after the other, and a state of each rule while
// the tokens of the grammar are listed.
type bodies struct {
	terms []sequitur.Term
	ends  []int // of each rule in terms
	made  []int // for each rule, how many were made when it was, itself included; 0 if it is not made
	path  []openRule
}

// An openRule is a right-hand side that is being listed.
type openRule struct{ rule, at int }

// read sets b to the right-hand sides of g.
func (b *bodies) read(g *sequitur.Grammar) {
	b.terms, b.ends, b.path = slices.Grow(b.terms[:0], g.Symbols()), slices.Grow(b.ends[:0], g.Rules()), b.path[:0]
	for r := range g.Rules() {
		for t := range g.Body(r) {
			b.terms = append(b.terms, t)
		}
		b.ends = append(b.ends, len(b.terms))
	}
	b.made = slices.Grow(b.made[:0], len(b.ends))[:len(b.ends)]
	clear(b.made)
}

// begin returns where the right-hand side of a rule begins in terms.
func (b *bodies) begin(rule int) int {
	if rule == 0 {
		return 0
	}
	return b.ends[rule-1]
}

// tokens returns an iterator over the tokens of g, of which the last is
// tokenEnd. They depend on the rules, not on the order these are listed in.
func (b *bodies) tokens(g *sequitur.Grammar) iter.Seq[token] {
	return func(yield func(token) bool) {
		b.read(g)
		n := 0 // rules that are made
		if last := len(b.ends) - 1; last >= 0 {
			b.path = append(b.path, openRule{last, b.begin(last)})
		}
		for len(b.path) > 0 {
			top := &b.path[len(b.path)-1]
			if top.at == b.ends[top.rule] {
				n++
				b.made[top.rule] = n
				made := token{tokenReduce, uint64(b.ends[top.rule] - b.begin(top.rule))}
				if b.path = b.path[:len(b.path)-1]; len(b.path) == 0 {
					break
				}
				top = &b.path[len(b.path)-1]
				top.at++
				if !yield(made) || !b.repeat(top.at-1, yield) {
					return
				}
				continue
			}
			t := &b.terms[top.at]
			next := token{tokenTerminal, uint64(t.Symbol)}
			if t.Rule >= 0 {
				if b.made[t.Rule] == 0 {
					b.path = append(b.path, openRule{t.Rule, b.begin(t.Rule)})
					continue
				}
				next = token{tokenRule, uint64(n - b.made[t.Rule])}
			}
			top.at++
			if !yield(next) || !b.repeat(top.at-1, yield) {
				return
			}
		}
		yield(token{kind: tokenEnd})
	}
}

// repeat yields how often a term is repeated, if it is.
func (b *bodies) repeat(at int, yield func(token) bool) bool {
	n := b.terms[at].Count
	return n == 1 || yield(token{tokenRepeat, n})
}

// maxHistory is the number of tokens that later ones are compared with. A larger
// one would cost memory: what a few bytes predict may be long.
const maxHistory = 1 << 16

// A history is a sequence of tokens that later ones are compared with, and where
// to look for what followed the last two, or the last one.
type history struct {
	most     int         // tokens to remember
	tokens   []uint32    // their numbers
	numbers  pairmap.Map // of the different tokens, by value and kind, from firstNumber
	distinct []token     // by number
	after    []uint32    // by number: 1 + the position behind its last occurrence; 0 if there is none
	afterTwo pairmap.Map // the same for two in a row
}

// Numbers of what is no token.
const (
	startNumber   = 0 // before the first token of a member
	unknownNumber = 1 // a token that is not in the history
	firstNumber   = 2
)

// A predictor says which token comes next, as far as it can tell. The encoder
// and the decoder call predict and then update once for each token.
type predictor struct {
	*history
	cursor int    // position in tokens of what is predicted, or −1
	guess  uint32 // the number of what is predicted, or unknownNumber
	missed int    // tokens since the last that was predicted
	last   [2]uint32
	symbol uint64 // 1 + the last token's terminal; 0 if it is none
	fresh  uint64 // 1 + the largest terminal so far: the next new one
}

// patience is how many tokens in a row may differ from what they are compared
// with before a new terminal is taken for the first of several.
const patience = 3

func newPredictor(most int) predictor {
	h := &history{most: most, distinct: make([]token, firstNumber), after: make([]uint32, firstNumber)}
	return predictor{history: h, cursor: -1}
}

// beside returns the predictor with which a member begins that is not in the
// shared piece at whose end p is. The history is full, so that nothing writes to
// it any more.
func (p *predictor) beside() predictor {
	return predictor{history: p.history, cursor: -1, fresh: p.fresh}
}

// full reports whether the history has all the tokens it will have.
func (p *predictor) full() bool { return len(p.tokens) >= p.most }

// predict returns the next token, if there is reason to expect one. It is the
// one behind the cursor, which goes on side by side with the input. After a token
// that differs, the cursor goes to where the last two tokens stood before; after
// two that differ, also to where the last one did. A terminal that was not met
// before is followed by the next, if there is nothing to compare it with.
func (p *predictor) predict() (token, bool) {
	if p.cursor >= 0 && p.missed == 0 {
		return p.behindCursor(), true
	}
	p.guess = unknownNumber
	if at, ok := p.afterTwo.Get(uint64(p.last[0]), p.last[1]); ok {
		p.cursor = int(at) - 1
	} else if p.cursor < 0 || p.missed > 1 {
		if at := p.after[p.last[1]]; at > 0 {
			p.cursor = int(at) - 1
		} else if p.symbol > 0 && (p.cursor < 0 || p.missed > patience) {
			p.cursor = -1
			return token{tokenTerminal, p.symbol}, true
		}
	}
	if p.cursor < 0 {
		return token{}, false
	}
	return p.behindCursor(), true
}

func (p *predictor) behindCursor() token {
	p.guess = p.tokens[p.cursor]
	return p.distinct[p.guess]
}

// update goes on by token t, which was predicted or not.
func (p *predictor) update(t token, predicted bool) {
	if p.missed++; predicted {
		p.missed = 0
	}
	if p.symbol = 0; t.kind == tokenTerminal {
		p.symbol = t.value + 1
		p.fresh = max(p.fresh, p.symbol)
	}
	number := p.guess
	if !predicted || number == unknownNumber {
		number = p.number(t)
	}
	p.remember(number)
	if p.cursor >= 0 {
		if p.cursor++; p.cursor >= len(p.tokens) {
			p.cursor = -1
		}
	}
	if t.kind == tokenEnd {
		p.missed, p.last = 0, [2]uint32{startNumber, startNumber}
	}
}

// number returns the number of t. Unless the history is full, a new token gets
// one.
func (p *predictor) number(t token) uint32 {
	number, ok := p.numbers.Get(t.value, uint32(t.kind))
	switch {
	case ok:
		return number
	case p.full():
		return unknownNumber
	}
	number = uint32(len(p.distinct))
	p.numbers.Put(t.value, uint32(t.kind), number)
	p.distinct, p.after = append(p.distinct, t), append(p.after, 0)
	return number
}

// remember puts the token with a number at the end of the history, unless that is
// full.
func (p *predictor) remember(number uint32) {
	if !p.full() {
		at := uint32(len(p.tokens)) + 1
		p.after[p.last[1]] = at
		p.afterTwo.Put(uint64(p.last[0]), p.last[1], at)
		p.tokens = append(p.tokens, number)
	}
	p.last = [2]uint32{p.last[1], number}
}

package sequitur

import "iter"

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

// tokens returns an iterator over the tokens of g, of which the last is
// tokenEnd. They depend on the rules, not on the order these are listed in.
func (g *Grammar) tokens() iter.Seq[token] {
	return func(yield func(token) bool) {
		t := tokenizer{g: g, made: make([]uint32, len(g.ends))}
		if n := len(g.ends); n > 0 {
			t.enter(uint32(n - 1))
		}
		for {
			first, count := t.next()
			if !yield(first) || first.kind == tokenEnd || count > 1 && !yield(token{tokenRepeat, count}) {
				return
			}
		}
	}
}

// A tokenizer is the state of tokens.
type tokenizer struct {
	g    *Grammar
	path []step   // from the start rule to the next symbol; the counts in it are not used
	made []uint32 // for each rule, how many were made when it was, itself included; 0 if it is not made
	n    uint32   // rules made
}

func (t *tokenizer) enter(r uint32) {
	begin, end := t.g.span(r)
	t.path = append(t.path, step{at: begin, end: end})
}

// next returns the token that pushes the next symbol and the count of the symbol.
func (t *tokenizer) next() (token, uint64) {
	for len(t.path) > 0 {
		p := &t.path[len(t.path)-1]
		if p.at == p.end {
			t.path = t.path[:len(t.path)-1]
			if len(t.path) == 0 {
				break
			}
			p = &t.path[len(t.path)-1]
			s := t.g.symbols[p.at]
			begin, end := t.g.span(s.ref.rule())
			t.n++
			t.made[s.ref.rule()] = t.n
			p.at++
			return token{tokenReduce, uint64(end - begin)}, s.count
		}
		s := t.g.symbols[p.at]
		if !s.ref.isRule() {
			p.at++
			return token{tokenTerminal, uint64(s.ref)}, s.count
		}
		if made := t.made[s.ref.rule()]; made > 0 {
			p.at++
			return token{tokenRule, uint64(t.n - made)}, s.count
		}
		t.enter(s.ref.rule())
	}
	return token{kind: tokenEnd}, 1
}

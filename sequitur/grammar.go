package sequitur

import (
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/need"
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
func (g *Grammar) RuleLen(r int) uint64 {
	g.checkRule(r)
	return g.length(ruleRef(uint32(r)))
}

// checkRule panics if there is no rule r.
func (g *Grammar) checkRule(r int) {
	if r < 0 || r >= g.Rules() {
		panic(fmt.Sprintf("sequitur: rule %d of %d", r, g.Rules()))
	}
}

// Body returns an iterator over the right-hand side of rule r.
func (g *Grammar) Body(r int) iter.Seq[Term] {
	g.checkRule(r)
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

// Equal reports whether g and h have the same rules in the same order. Equal
// sequences, appended in any portions to Builders, give equal grammars.
func (g *Grammar) Equal(h *Grammar) bool {
	return h != nil && slices.Equal(g.symbols, h.symbols) && slices.Equal(g.ends, h.ends)
}

// An assembler puts rules into a Grammar, each after those it refers to. It
// joins adjacent runs of one symbol, and a rule whose body is a single run is
// replaced by that run wherever it is used, so that every rule has at least two
// symbols.
type assembler struct {
	g     Grammar
	rules []run // what stands for each rule that was added: a rule of g, or a run
}

// add adds a rule whose body refers to rules by the order in which they were
// added. It keeps nothing of body. The start rule is added last, with start
// set.
func (a *assembler) add(body []run, start bool) {
	begin := len(a.g.symbols)
	var end uint64
	for _, s := range body {
		if s.ref.isRule() {
			stand := a.rules[s.ref.rule()]
			s = run{stand.ref, stand.count * s.count}
		}
		end += s.count * a.g.length(s.ref)
		if last := len(a.g.symbols) - 1; last >= begin && a.g.symbols[last].ref == s.ref {
			a.g.symbols[last].count += s.count
			a.g.symbols[last].end = end
			continue
		}
		a.g.symbols = append(a.g.symbols, symbol{s.count, end, s.ref})
	}
	if len(a.g.symbols) == begin+1 && !start {
		only := a.g.symbols[begin]
		a.g.symbols = a.g.symbols[:begin]
		a.rules = append(a.rules, run{only.ref, only.count})
		return
	}
	a.rules = append(a.rules, run{ruleRef(uint32(len(a.g.ends))), 1})
	a.g.ends = append(a.g.ends, uint32(len(a.g.symbols)))
}

// exact returns list in no more memory than it takes.
func exact[T any](list []T) []T {
	if len(list) == cap(list) {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}

// Rewrite returns a grammar of the sequence in which every terminal s of g is
// replaced by to(s), which must not exceed [MaxSymbol]. It is called once for
// each symbol of a right-hand side. The cost is that of reading the grammar. If
// to maps different terminals to one, the result may be larger than what a
// Builder would make of the sequence.
func (g *Grammar) Rewrite(to func(Symbol) Symbol) *Grammar {
	need.That(to != nil || len(g.symbols) == 0, "sequitur: nothing says what symbols become")
	var body []run
	a := assembler{
		g:     Grammar{make([]symbol, 0, len(g.symbols)), make([]uint32, 0, len(g.ends))},
		rules: make([]run, 0, len(g.ends)),
	}
	for r := range g.ends {
		begin, end := g.span(uint32(r))
		body = body[:0]
		for _, s := range g.symbols[begin:end] {
			if !s.ref.isRule() {
				t := to(s.ref.terminal())
				if t > MaxSymbol {
					panic("sequitur: symbol exceeds MaxSymbol")
				}
				s.ref = ref(t)
			}
			body = append(body, run{s.ref, s.count})
		}
		a.add(body, r == len(g.ends)-1)
	}
	return &a.g
}

// Finish returns the grammar of everything appended so far and leaves b empty,
// with its storage kept for the next input. It takes time in proportion to the
// grammar.
func (b *Builder) Finish() *Grammar {
	b.flush()
	for b.open.count > 0 && b.closeRun() {
	}
	g := b.grammar()
	b.reset()
	return g
}

// Snapshot returns the grammar of everything appended so far, as Finish would,
// without ending the build. It takes time and memory in proportion to the
// grammar.
func (b *Builder) Snapshot() *Grammar {
	c := *b
	c.noFlat = true // as the expansion is that of b
	c.cursor = append([]frame(nil), b.cursor...)
	c.nodes = append([]node(nil), b.nodes...)
	c.rules = append([]rule(nil), b.rules...)
	c.table.slots = append([]slot(nil), b.table.slots...)
	c.rests, c.changed, c.pending = nil, nil, nil // hold nothing between appends
	c.big = append([]uint64(nil), b.big...)
	c.bigIndex = nil
	for i, count := range c.big {
		if c.bigIndex == nil {
			c.bigIndex = make(map[uint64]uint32, len(c.big))
		}
		c.bigIndex[count] = bigCount + uint32(i)
	}
	return c.Finish()
}

// reset empties b. It drops a digram table that was far larger than needed, so
// that clearing it does not cost more than the input did.
func (b *Builder) reset() {
	c := Builder{
		cursor: b.cursor[:0], nodes: b.nodes[:0], rules: b.rules[:0],
		rests: b.rests[:0], changed: b.changed[:0], pending: b.pending[:0],
		flat: b.flat, noFlat: b.noFlat, noCursor: b.noCursor,
	}
	if len(b.table.slots) <= max(minSlots, 8*b.table.used) {
		clear(b.table.slots)
		c.table.slots = b.table.slots
	}
	*b = c
}

// grammar lists the rules in the order in which a walk through the sequence
// leaves them for the first time.
func (b *Builder) grammar() *Grammar {
	if len(b.nodes) == 0 {
		return &Grammar{}
	}
	var (
		a      = assembler{g: Grammar{symbols: make([]symbol, 0, b.Symbols())}}
		body   []run
		number = make([]uint32, len(b.rules)) // of the rules that were added, from 1
		path   = []uint32{b.nodes[0].next}    // the next node to look at, in each open rule
	)
	for len(path) > 0 {
		x := path[len(path)-1]
		n := b.nodes[x]
		switch {
		case n.count == 0: // the guard: the rules in this body are added
			symbols := 0
			for y := n.next; y != x; y = b.nodes[y].next {
				symbols++
			}
			body = slices.Grow(body[:0], symbols) // once, as one rule may have nearly all symbols
			for y := n.next; y != x; y = b.nodes[y].next {
				r := b.nodes[y].ref
				if r.isRule() {
					r = ruleRef(number[r.rule()] - 1)
				}
				body = append(body, run{r, b.count(y)})
			}
			a.add(body, x == 0)
			number[n.ref.rule()] = uint32(len(a.rules))
			path = path[:len(path)-1]
		case n.ref.isRule() && number[n.ref.rule()] == 0:
			path = append(path, b.nodes[b.rules[n.ref.rule()].guard].next)
		default:
			path[len(path)-1] = n.next
		}
	}
	return &Grammar{exact(a.g.symbols), exact(a.g.ends)}
}

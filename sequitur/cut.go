package sequitur

import (
	"iter"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
)

// Cut returns the grammar of parts of what g generates, one after the other: of the symbols at from ≤ position < end
// of each. The parts must ascend, and must not overlap. It keeps the rules of g that lie in a part as a whole, and
// costs what reading g does, and for each part the symbols of the rules that it begins or ends in. An error is as that
// of [FromRules].
func (g *Grammar) Cut(parts ...[2]uint64) (*Grammar, error) {
	var start []Term
	c := cutter{grammar: g}
	for _, p := range parts {
		need.That(c.at <= p[0] && p[0] <= p[1] && p[1] <= g.Len(), "sequitur: parts that do not ascend")
		for t := range c.terms(p[0], p[1]) {
			if n := len(start) - 1; n >= 0 && start[n].Rule == t.Rule && start[n].Symbol == t.Symbol {
				start[n].Count += t.Count
				continue
			}
			start = append(start, t)
		}
	}
	return g.withStart(start)
}

// A cutter goes through what a grammar generates.
type cutter struct {
	grammar *Grammar
	at      uint64
	stack   []Term // what comes from there on, the next at the end; nil at first
}

// push puts the body of a rule before what comes.
func (c *cutter) push(rule int) {
	n := len(c.stack)
	c.stack = slices.AppendSeq(c.stack, c.grammar.Body(rule))
	slices.Reverse(c.stack[n:])
}

// terms returns an iterator over what generates the symbols at from ≤ position < end, which are not before those of
// earlier calls.
func (c *cutter) terms(from, end uint64) iter.Seq[Term] {
	return func(yield func(Term) bool) {
		if from < end && c.stack == nil {
			c.push(c.grammar.Rules() - 1)
		}
		for c.at < end && from < end {
			t := c.stack[len(c.stack)-1]
			c.stack = c.stack[:len(c.stack)-1]
			length := uint64(1)
			if t.Rule >= 0 {
				length = c.grammar.RuleLen(t.Rule)
			}
			if c.at < from {
				n := min(t.Count, (from-c.at)/length)
				c.at += n * length
				t.Count -= n
			}
			if whole := min(t.Count, (end-c.at)/length); c.at >= from && whole > 0 {
				if !yield(Term{Symbol: t.Symbol, Rule: t.Rule, Count: whole}) {
					return
				}
				c.at += whole * length
				t.Count -= whole
			}
			if t.Count == 0 {
				continue
			}
			if c.at == end {
				c.stack = append(c.stack, t)
				return
			}
			if t.Count--; t.Count > 0 {
				c.stack = append(c.stack, t)
			}
			c.push(t.Rule)
		}
	}
}

// withStart returns the grammar with another start rule.
func (g *Grammar) withStart(start []Term) (*Grammar, error) {
	for len(start) == 1 && start[0].Rule >= 0 && start[0].Count == 1 {
		start = slices.Collect(g.Body(start[0].Rule))
	}
	if len(start) == 0 {
		return &Grammar{}, nil
	}
	used := make([]bool, g.Rules())
	use := func(body []Term) {
		for _, t := range body {
			if t.Rule >= 0 {
				used[t.Rule] = true
			}
		}
	}
	use(start)
	bodies := make([][]Term, g.Rules())
	for r := g.Rules() - 2; r >= 0; r-- {
		if used[r] {
			bodies[r] = slices.Collect(g.Body(r))
			use(bodies[r])
		}
	}
	var rules [][]Term
	number := make([]int, g.Rules())
	add := func(body []Term) {
		for i := range body {
			if body[i].Rule >= 0 {
				body[i].Rule = number[body[i].Rule]
			}
		}
		rules = append(rules, body)
	}
	for r, body := range bodies {
		if body != nil {
			number[r] = len(rules)
			add(body)
		}
	}
	add(slices.Clone(start))
	return FromRules(rules)
}

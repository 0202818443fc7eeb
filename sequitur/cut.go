package sequitur

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
)

// Cut returns the grammar of parts of what g generates, one after the other: of the symbols at from ≤ position < end
// of each. The parts must ascend, and must not overlap. It keeps the rules of g that lie in a part as a whole, and costs
// what reading g does, and O(depth · symbols of a rule) steps for each part. An error is as that of [FromRules].
func (g *Grammar) Cut(parts ...[2]uint64) (*Grammar, error) {
	var start []Term
	last := uint64(0)
	for _, p := range parts {
		need.That(last <= p[0] && p[0] <= p[1] && p[1] <= g.Len(), "sequitur: parts that do not ascend")
		last = p[1]
		for _, t := range g.terms(p[0], p[1]) {
			if n := len(start) - 1; n >= 0 && start[n].Rule == t.Rule && start[n].Symbol == t.Symbol {
				start[n].Count += t.Count
				continue
			}
			start = append(start, t)
		}
	}
	return g.withStart(start)
}

// terms returns what generates the symbols at from ≤ position < end.
func (g *Grammar) terms(from, end uint64) []Term {
	if from == end {
		return nil
	}
	body := func(r int) []Term {
		list := slices.Collect(g.Body(r))
		slices.Reverse(list)
		return list
	}
	var list []Term
	stack, skip, left := body(g.Rules()-1), from, end-from // what comes next is at the end
	for left > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		length := uint64(1)
		if t.Rule >= 0 {
			length = g.RuleLen(t.Rule)
		}
		n := min(t.Count, skip/length)
		skip -= n * length
		if t.Count -= n; t.Count == 0 {
			continue
		}
		if whole := min(t.Count, left/length); skip == 0 && whole > 0 {
			list = append(list, Term{Symbol: t.Symbol, Rule: t.Rule, Count: whole})
			left -= whole * length
			t.Count -= whole
		}
		if left == 0 || t.Count == 0 {
			continue
		}
		if t.Count--; t.Count > 0 {
			stack = append(stack, t)
		}
		stack = append(stack, body(t.Rule)...)
	}
	return list
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

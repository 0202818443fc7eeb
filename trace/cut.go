package trace

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// cut returns the grammars of the first so many symbols that g generates and of those after them. It fails if
// one symbol of the start rule stands for some of both.
func cut(g *sequitur.Grammar, symbols uint64) (before, after *sequitur.Grammar, err error) {
	start := slices.Collect(g.Body(g.Rules() - 1))
	n, i := uint64(0), 0
	for ; i < len(start) && n < symbols; i++ {
		length := uint64(1)
		if start[i].Rule >= 0 {
			length = g.RuleLen(start[i].Rule)
		}
		n += start[i].Count * length
	}
	if n != symbols {
		return nil, nil, layout.Corrupt("a rule has calls and streams")
	}
	if before, err = withStart(g, start[:i]); err != nil {
		return nil, nil, err
	}
	after, err = withStart(g, start[i:])
	return before, after, err
}

// withStart returns the grammar with another start rule.
func withStart(g *sequitur.Grammar, start []sequitur.Term) (*sequitur.Grammar, error) {
	if len(start) == 0 {
		return &sequitur.Grammar{}, nil
	}
	if t := start[0]; len(start) == 1 && t.Rule >= 0 && t.Count == 1 {
		return withStart(g, slices.Collect(g.Body(t.Rule)))
	}
	used := make([]bool, g.Rules())
	use := func(body []sequitur.Term) {
		for _, t := range body {
			if t.Rule >= 0 {
				used[t.Rule] = true
			}
		}
	}
	use(start)
	bodies := make([][]sequitur.Term, g.Rules())
	for r := g.Rules() - 2; r >= 0; r-- {
		if used[r] {
			bodies[r] = slices.Collect(g.Body(r))
			use(bodies[r])
		}
	}
	var rules [][]sequitur.Term
	number := make([]int, g.Rules())
	add := func(body []sequitur.Term) {
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
	return sequitur.FromRules(rules)
}

package query

import (
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A layout says where the symbols of a grammar stand, so that what some of them make up is
// found at the cost of that.
type layout struct {
	rules     int
	uses      []use     // of rules in ascending order, of each from left to right
	terminals [][]int32 // numbers of uses, by terminal
	of        [][]int32 // likewise, by rule
}

// A use is a symbol on the right-hand side of a rule.
type use struct {
	in     int             // the rule
	rule   int             // that the symbol is; −1 if it is a terminal
	symbol sequitur.Symbol // if it is a terminal
	offset uint64          // calls before it in the rule
	length uint64          // calls that it stands for once
	rounds uint64          // how often it stands there
}

func newLayout(g *sequitur.Grammar) *layout {
	l := &layout{rules: g.Rules(), uses: make([]use, 0, g.Symbols()), of: make([][]int32, g.Rules())}
	for rule := range g.Rules() {
		offset := uint64(0)
		for term := range g.Body(rule) {
			u := use{in: rule, rule: term.Rule, symbol: term.Symbol, offset: offset, length: 1, rounds: term.Count}
			n := int32(len(l.uses))
			if term.Rule >= 0 {
				u.length = g.RuleLen(term.Rule)
				l.of[term.Rule] = append(l.of[term.Rule], n)
			} else {
				for int(term.Symbol) >= len(l.terminals) {
					l.terminals = append(l.terminals, nil)
				}
				l.terminals[term.Symbol] = append(l.terminals[term.Symbol], n)
			}
			l.uses = append(l.uses, u)
			offset += u.rounds * u.length
		}
	}
	return l
}

// above returns the numbers of the uses of terminals, and of the rules that have any, in
// ascending order: a rule is used after what it consists of.
func (l *layout) above(t terminals) []int32 {
	var list []int32
	for s := range t {
		if int(s) < len(l.terminals) {
			list = append(list, l.terminals[s]...)
		}
	}
	seen := make(map[int]bool)
	for i := 0; i < len(list); i++ {
		if rule := l.uses[list[i]].in; !seen[rule] {
			seen[rule] = true
			list = append(list, l.of[rule]...)
		}
	}
	slices.Sort(list)
	return list
}

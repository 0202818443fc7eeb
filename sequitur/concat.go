package sequitur

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
)

// FromRules returns the grammar with these right-hand sides, of which the last is that of the start rule:
// what [Grammar.Body] returns of each rule. It does not retain them. A rule refers to rules before it
// only, and has two symbols or more, the start rule one, of which neighbours differ; every other rule is
// used. The error says where that is not so, or that the sequence has more than 2⁶³−1 symbols.
func FromRules(rules [][]Term) (*Grammar, error) {
	symbols := 0
	for _, body := range rules {
		symbols += len(body)
	}
	if uint64(symbols) > math.MaxUint32 {
		return nil, fmt.Errorf("sequitur: %d symbols, more than %d", symbols, uint32(math.MaxUint32))
	}
	g := &Grammar{make([]symbol, 0, symbols), make([]uint32, 0, len(rules))}
	used := make([]bool, len(rules))
	for r, body := range rules {
		if len(body) == 0 || len(body) == 1 && r < len(rules)-1 {
			return nil, fmt.Errorf("sequitur: rule %d has %d symbols", r, len(body))
		}
		var end uint64
		for i, t := range body {
			if t.Count == 0 || t.Rule < -1 || t.Rule >= r || t.Rule < 0 && t.Symbol > MaxSymbol {
				return nil, fmt.Errorf("sequitur: rule %d has %+v", r, t)
			}
			to := ref(t.Symbol)
			if t.Rule >= 0 {
				to = ruleRef(uint32(t.Rule))
				used[t.Rule] = true
			}
			if i > 0 && g.symbols[len(g.symbols)-1].ref == to {
				return nil, fmt.Errorf("sequitur: symbol %d of rule %d repeats the one before it", i, r)
			}
			if end = wire.AddSat(end, wire.MulSat(t.Count, g.length(to))); end > maxLen {
				return nil, fmt.Errorf("sequitur: rule %d expands to more than 2⁶³−1 symbols", r)
			}
			g.symbols = append(g.symbols, symbol{t.Count, end, to})
		}
		g.ends = append(g.ends, uint32(len(g.symbols)))
	}
	for r := range max(len(rules)-1, 0) {
		if !used[r] {
			return nil, fmt.Errorf("sequitur: rule %d of %d is not used", r, len(rules))
		}
	}
	return g, nil
}

// Concat returns a grammar of the sequences of all gs, one after the other. The cost
// is that of reading the grammars. Nothing is found that they have in common: the
// result may be larger than what a Builder would make of the whole sequence. It is for
// sequences that share no terminals, such as those of the threads of a process, where
// it has the rules and the symbols of all, with one start rule.
func Concat(gs ...*Grammar) *Grammar {
	need.That(!slices.Contains(gs, nil), "sequitur: no grammar")
	var (
		a     assembler
		start []run
	)
	for _, g := range gs {
		first := uint32(len(a.rules)) // number of the first rule of g
		for r := range g.ends {
			begin, end := g.span(uint32(r))
			var body []run
			for _, s := range g.symbols[begin:end] {
				if s.ref.isRule() {
					s.ref = ruleRef(first + s.ref.rule())
				}
				body = append(body, run{s.ref, s.count})
			}
			if r == len(g.ends)-1 {
				start = append(start, body...)
			} else {
				a.add(body, false)
			}
		}
	}
	if len(start) == 0 {
		return &Grammar{}
	}
	a.add(start, true)
	return &a.g
}

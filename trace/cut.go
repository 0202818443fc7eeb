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
	if before, err = g.Cut([2]uint64{0, n}); err != nil {
		return nil, nil, err
	}
	after, err = g.Cut([2]uint64{n, g.Len()})
	return before, after, err
}

package query

import (
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// callCounts count the calls of functions in spans of the calls of a shape.
type callCounts struct {
	trace *trace.Trace
	shape *trace.Shape

	functions []int           // of the shape; nil before they are known
	before    []*sums.Measure // calls of each; nil before they are known
}

const (
	maxCountTerms = 1 << 22 // terms that may have sums, of all functions together: 64 MB
	countSteps    = 32      // terms that are read in the time of counting the calls before two positions
)

// in returns how often each function is called in some spans: by the number of its calls before their ends, or, if
// spans or functions are many, by what generates the calls in them.
func (c *callCounts) in(spans []trace.Span) map[int]uint64 {
	counts := make(map[int]uint64)
	g := c.shape.Grammar
	if c.functions == nil {
		of := make(map[int]bool)
		for _, x := range g.FirstUse() {
			of[c.trace.FunctionOf(int(x))] = true
		}
		c.functions = slices.Sorted(maps.Keys(of))
	}
	functions, symbols := uint64(len(c.functions)), uint64(g.Symbols())
	if functions*symbols > maxCountTerms || functions*uint64(len(spans))*countSteps > symbols {
		if cut, err := cutOf(g, spans); err == nil {
			for x, n := range cut.Occurrences() {
				counts[c.trace.FunctionOf(int(x))] += n
			}
		}
		return counts
	}
	if c.before == nil {
		for _, f := range c.functions {
			c.before = append(c.before, sums.Of(g).Measure(func(x sequitur.Symbol) uint64 {
				if c.trace.FunctionOf(int(x)) == f {
					return 1
				}
				return 0
			}))
		}
	}
	for i, f := range c.functions {
		for _, s := range spans {
			if n := c.before[i].Before(s.End).Weight - c.before[i].Before(s.First).Weight; n > 0 {
				counts[f] += n
			}
		}
	}
	return counts
}

// countCalls adds the calls in spans, of so many ranks.
func (g *Region) countCalls(of *callCounts, spans []trace.Span, ranks uint64) {
	for _, s := range spans {
		g.Calls = wire.AddSat(g.Calls, wire.MulSat(s.End-s.First, ranks))
	}
	counts := of.in(spans)
	for _, f := range slices.Sorted(maps.Keys(counts)) {
		g.addFunction(g.trace.Functions()[f].Name, wire.MulSat(counts[f], ranks))
	}
}

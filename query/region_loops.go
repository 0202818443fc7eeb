package query

import (
	"context"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/skeleton"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A loop is one in a phase, or in another loop. It is told from what is around it by its calls.
type loop struct {
	name     string
	min, max uint64 // trip counts
	depth    int    // 1 in a phase
	kind     func(sequitur.Symbol) sequitur.Symbol
	inside   map[sequitur.Symbol]bool // kinds of calls in it; true if they are nowhere else in the phase
}

// loopsIn returns the loops in a phase, each before those in it: those with calls that are nowhere else in it.
func (f *phaseFinder) loopsIn(phase *skeleton.Node) []*loop {
	var list []*loop
	all := f.kindsIn(phase)
	var visit func(n *skeleton.Node, depth int)
	visit = func(n *skeleton.Node, depth int) {
		if depth > 0 && n.IsLoop() {
			l := &loop{name: f.nameOf(n), min: n.Times[0].Min, depth: depth, kind: f.kind,
				inside: make(map[sequitur.Symbol]bool)}
			for _, x := range n.Times {
				l.min, l.max = min(l.min, x.Min), max(l.max, x.Max)
			}
			some := false
			for k, nodes := range f.kindsIn(n) {
				l.inside[k] = nodes == all[k]
				some = some || l.inside[k]
			}
			if some && l.max > 1 {
				list = append(list, l)
			}
		}
		for _, inner := range n.Body {
			visit(inner, depth+1)
		}
	}
	visit(phase, 0)
	return list
}

// kindsIn returns how many nodes of a loop have calls of each kind.
func (f *phaseFinder) kindsIn(n *skeleton.Node) map[sequitur.Symbol]int {
	kinds := make(map[sequitur.Symbol]int)
	var visit func(n *skeleton.Node)
	visit = func(n *skeleton.Node) {
		here := make(map[sequitur.Symbol]bool)
		for _, c := range n.Calls {
			here[f.kind(c.Call)] = true
		}
		for k := range here {
			kinds[k]++
		}
		for _, inner := range n.Body {
			visit(inner)
		}
	}
	visit(n)
	return kinds
}

// region returns the part of a phase that is in the loop: calls of its kinds that follow each other, if some
// are nowhere else in the phase.
func (l *loop) region(ctx context.Context, phase *Region) (*Region, error) {
	g := &Region{Kind: LoopRegion, Name: l.name, Depth: l.depth, MinTrips: l.min, MaxTrips: l.max, trace: phase.trace,
		byShape: make(map[int][]trace.Span)}
	for _, number := range slices.Sorted(maps.Keys(phase.byShape)) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s, err := phase.trace.Shape(number)
		if err != nil {
			return nil, err
		}
		count := func(is func(known, own bool) bool) *sums.Measure {
			return sums.Of(s.Grammar).Measure(func(x sequitur.Symbol) uint64 {
				if own, known := l.inside[l.kind(x)]; is(known, own) {
					return 1
				}
				return 0
			})
		}
		others, own := count(func(known, _ bool) bool { return !known }), count(func(_, own bool) bool { return own })
		for _, of := range phase.byShape[number] {
			spans := between(others, own, of)
			if spans == nil {
				continue
			}
			if g.add(number, spans, &callCounts{trace: g.trace, shape: s}); g.parts > maxParts {
				return g, nil
			}
		}
	}
	g.finish()
	return g, nil
}

// between returns the spans of a span that have none of some calls, and some of others.
func between(without, with *sums.Measure, of trace.Span) []trace.Span {
	var spans []trace.Span
	first := of.First
	add := func(end uint64) {
		if first < end && with.Before(end).Weight > with.Before(first).Weight {
			spans = append(spans, trace.Span{First: first, End: end})
		}
	}
	for position := range without.From(of.First) {
		if position >= of.End || len(spans) > maxParts {
			break
		}
		add(position)
		first = position + 1
	}
	add(of.End)
	return spans
}

// add adds spans of the ranks of a shape.
func (g *Region) add(number int, spans []trace.Span, of *callCounts) {
	g.byShape[number] = append(g.byShape[number], spans...)
	g.parts += len(spans)
	ranks := g.trace.ShapeRanks(number)
	if first := ranks.At(0); g.Ranks.Len() == 0 || first < g.Rank {
		g.Rank, g.Position = first, spans[0].First
	}
	g.Ranks = g.Ranks.Union(ranks)
	g.countCalls(of, spans, uint64(ranks.Len()))
}

package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A marker is a call that begins or ends a region.
type marker struct {
	begins bool
	name   string
}

// MarkerOf returns the name of the region that a call begins or ends, as an annotation of the program, and which it
// does; ok is false for other calls.
func MarkerOf(c *trace.Call) (name string, begins, ok bool) {
	need.That(c != nil && c.Function != nil, "query: no call")
	if !marks(c.Function.Name) {
		return "", false, false
	}
	m, ok := markerOf(c)
	return m.name, m.begins, ok
}

// markerOf returns what a call begins or ends: MPI_Pcontrol with a name begins a region at level 1, and ends one at
// other levels; Enter and Leave have the name in region.
func markerOf(c *trace.Call) (m marker, ok bool) {
	if f := c.Function.Name; f == "Enter" || f == "Leave" {
		v, ok := c.Arg("region")
		if ok = ok && v.Kind() == cst.KindString; ok {
			m = marker{f == "Enter", v.Text()}
		}
		return m, ok && m.name != ""
	}
	name := ""
	if v, ok := c.Arg("name"); ok && v.Kind() == cst.KindString {
		name = string(v.Text())
	}
	level, ok := c.Arg("level")
	return marker{ok && level.Kind() == cst.KindInt && level.Int() == 1, name}, ok && name != ""
}

// marks reports whether calls of a function may be markers.
func marks(function string) bool {
	return function == "MPI_Pcontrol" || function == "Enter" || function == "Leave"
}

// A namedSpan is the calls of a rank from where a region began to where it ended, with the call that ends it.
type namedSpan struct {
	name string
	trace.Span
}

// An openRegion is one that a thread has begun.
type openRegion struct {
	name  string
	first uint64 // of its calls
}

// A threadRegions is the regions that a thread is in, the innermost last.
type threadRegions struct {
	open  []openRegion
	named map[string]int // how many of open have a name
	since uint64         // the call after the last marker
}

// begin begins a region.
func (g *threadRegions) begin(name string, first uint64) {
	g.open = append(g.open, openRegion{name, first})
	g.named[name]++
}

// end ends the innermost region of a name. It reports false if there is none, or another of the name around it.
func (g *threadRegions) end(name string) (first uint64, ok bool) {
	if g.named[name] == 0 {
		return 0, false
	}
	i := len(g.open) - 1
	for g.open[i].name != name {
		i--
	}
	first = g.open[i].first
	g.open = slices.Delete(g.open, i, i+1)
	g.named[name]--
	return first, g.named[name] == 0
}

// namedSpans returns the regions of a rank, and the calls of each that are in no region in it. Each thread has its own.
// A region that does not end is none. Those that are in one of the same name are left out.
func namedSpans(r *trace.Rank, t *trace.Trace) (list, own []namedSpan) {
	threads := make(map[int]*threadRegions)
	for position := range r.Find(0, func(x sequitur.Symbol) bool { return marks(t.Functions()[r.Function(x)].Name) }) {
		c := r.CallAt(position)
		m, ok := markerOf(&c)
		if !ok {
			continue
		}
		g := threads[c.Thread()]
		if g == nil {
			g = &threadRegions{named: make(map[string]int)}
			threads[c.Thread()] = g
		}
		if n := len(g.open) - 1; n >= 0 && len(own) <= maxParts {
			own = append(own, namedSpan{g.open[n].name, trace.Span{First: g.since, End: position + 1}})
		}
		g.since = position + 1
		if m.begins {
			g.begin(m.name, position+1)
		} else if first, ok := g.end(m.name); ok {
			list = append(list, namedSpan{m.name, trace.Span{First: first, End: position + 1}})
		}
		if len(list) > maxParts {
			break
		}
	}
	return list, own
}

// namedRegions returns the regions to which the program gives names, in the order of these. Of a shape whose ranks give
// the same names to calls, one rank is read.
func namedRegions(ctx context.Context, t *trace.Trace) ([]*Region, error) {
	regions := make(map[string]*Region)
	add := func(name string) *Region {
		if regions[name] == nil {
			regions[name] = &Region{Kind: NamedRegion, Name: name, trace: t, byShape: make(map[int][]trace.Span),
				byRank: make(map[int][]trace.Span)}
			regions[name].own = &Region{Kind: NamedRegion, Name: name, trace: t, byShape: make(map[int][]trace.Span),
				byRank: make(map[int][]trace.Span)}
		}
		return regions[name]
	}
	for number := range t.Shapes() {
		ranks := t.ShapeRanks(number)
		if ranks.Len() == 0 {
			continue
		}
		s, err := t.Shape(number)
		if err != nil {
			return nil, err
		}
		some, alike := false, true
		for _, x := range s.Grammar.FirstUse() {
			if marks(t.Functions()[t.FunctionOf(int(x))].Name) {
				some, alike = true, alike && namedAlike(t.Signature(int(x)))
			}
		}
		if !some {
			continue
		}
		counts := &callCounts{trace: t, shape: s}
		if alike {
			r, err := t.Folded(ranks.At(0), nil)
			if err != nil {
				return nil, err
			}
			list, own := namedSpans(r, t)
			parts := byName(own)
			for name, spans := range byName(list) {
				g := add(name)
				g.add(number, spans, counts)
				g.setTrips(len(spans))
				g.own.byShape[number] = parts[name]
			}
			continue
		}
		for _, rank := range ranks.All() {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r, err := t.Folded(rank, nil)
			if err != nil {
				return nil, err
			}
			list, own := namedSpans(r, t)
			parts := byName(own)
			for name, spans := range byName(list) {
				g := add(name)
				g.addRank(rank, spans, counts)
				g.own.byRank[rank] = parts[name]
			}
		}
	}
	var list []*Region
	for _, g := range regions {
		if g.parts <= maxParts {
			g.finish()
			g.own.Ranks = g.Ranks
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *Region) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// namedAlike reports whether all ranks give calls of a signature the same level and name.
func namedAlike(s trace.Signature) bool {
	for i, p := range s.Function.Params {
		if p.Name == "name" || p.Name == "level" || p.Name == "region" {
			if _, ok := s.Args[i].Constant(); !ok {
				return false
			}
		}
	}
	return true
}

// byName returns the spans of each name, in ascending order: as one, where calls of several threads alternate.
func byName(list []namedSpan) map[string][]trace.Span {
	spans := make(map[string][]trace.Span)
	for _, n := range list {
		spans[n.name] = append(spans[n.name], n.Span)
	}
	for name, of := range spans {
		slices.SortFunc(of, func(a, b trace.Span) int { return cmp.Compare(a.First, b.First) })
		apart := of[:0]
		for _, s := range of {
			if n := len(apart) - 1; n >= 0 && s.First < apart[n].End {
				apart[n].End = max(apart[n].End, s.End)
				continue
			}
			apart = append(apart, s)
		}
		spans[name] = apart
	}
	return spans
}

// setTrips takes note of how often ranks come to g.
func (g *Region) setTrips(n int) {
	if g.MinTrips == 0 || uint64(n) < g.MinTrips {
		g.MinTrips = uint64(n)
	}
	g.MaxTrips = max(g.MaxTrips, uint64(n))
}

// addRank adds spans of a rank of a shape.
func (g *Region) addRank(rank int, spans []trace.Span, of *callCounts) {
	g.byRank[rank] = spans
	g.parts += len(spans)
	if g.Ranks.Len() == 0 || rank < g.Rank {
		g.Rank, g.Position = rank, spans[0].First
	}
	g.Ranks = g.Ranks.Union(rankenc.SetOf(rank))
	g.countCalls(of, spans, 1)
	g.setTrips(len(spans))
}

package query

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/skeleton"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// How much is done to find phases: symbols of all grammars, and pairs of calls that are compared for a
// program.
const (
	maxPhaseSymbols = 1 << 22
	maxWork         = 1 << 26
)

// ErrUnphased is the error of phases and loops of a trace whose shapes are too long to be compared.
var ErrUnphased = errors.New("query: the control flows of ranks are too long to be compared")

// findPhases finds the phases of the programs of a trace, in their order.
func findPhases(ctx context.Context, t *trace.Trace) ([]*Region, error) {
	groups, err := Programs(ctx, t)
	if err != nil {
		return nil, err
	}
	var phases []*Region
	symbols := 0
	for _, g := range groups {
		var programs []skeleton.Program
		for _, n := range g.Shapes.All() {
			s, err := t.Shape(n)
			if err != nil {
				return nil, err
			}
			if symbols += s.Grammar.Symbols(); symbols > maxPhaseSymbols {
				return nil, ErrUnphased
			}
			programs = append(programs, skeleton.Program{Ranks: s.Ranks, Grammar: s.Grammar})
		}
		f := &phaseFinder{trace: t, programs: programs, shapes: g.Shapes, sites: SitesOf(t)}
		s, err := f.inCommon(ctx)
		if err != nil {
			return nil, err
		}
		phases = phasesTogether(phases, f.phasesOf(s))
	}
	for i := range phases {
		slices.SortFunc(phases[i].Functions, func(a, b FunctionCount) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
		})
	}
	return phases, nil
}

// A phaseFinder finds the phases of a program of a trace.
type phaseFinder struct {
	trace    *trace.Trace
	programs []skeleton.Program // of shapes, in their order
	shapes   rankenc.Set
	kind     func(sequitur.Symbol) sequitur.Symbol
	sites    Sites
}

// inCommon returns what programs have in common: calls of one function from one place are the same or, where
// that is too much to be compared, all of one function.
func (f *phaseFinder) inCommon(ctx context.Context) (s *skeleton.Skeleton, err error) {
	for _, sites := range []bool{true, false} {
		f.kind = kinds(f.trace, sites)
		s, err = skeleton.Make(ctx, f.programs, skeleton.Options{Kind: f.kind, MaxWork: maxWork})
		if !errors.Is(err, skeleton.ErrLimit) {
			return s, err
		}
	}
	return nil, ErrUnphased
}

// kinds returns a function that returns for a signature the first one of the same function, from the same
// place if sites are told apart.
func kinds(t *trace.Trace, sites bool) func(sequitur.Symbol) sequitur.Symbol {
	type kind struct {
		function int
		site     int64
	}
	known, first := make(map[sequitur.Symbol]sequitur.Symbol), make(map[kind]sequitur.Symbol)
	return func(s sequitur.Symbol) sequitur.Symbol {
		if of, ok := known[s]; ok {
			return of
		}
		k := kind{function: t.FunctionOf(int(s)), site: -1}
		if i := layout.SiteOf(&t.Functions()[k.function]); sites && i >= 0 {
			if v := t.Signature(int(s)).Args[i].Values; len(v) == 1 && v[0].Form == trace.Constant {
				k.site = v[0].Number
			}
		}
		of, ok := first[k]
		if !ok {
			of, first[k] = s, s
		}
		known[s] = of
		return of
	}
}

// phasesOf returns the loops of a skeleton that are in no other.
func (f *phaseFinder) phasesOf(s *skeleton.Skeleton) []*Region {
	var phases []*Region
	at := make([]uint64, len(f.programs)) // where each has come to
	for _, n := range s.Body {
		p := f.phaseOf(n, at)
		switch last := len(phases) - 1; {
		case p.MaxTrips < 2:
		case last >= 0 && phases[last].alike(p):
			phases[last].merge(p)
		default:
			phases = append(phases, p)
		}
	}
	return phases
}

// phaseOf returns what a node would be as a phase, and moves programs behind it.
func (f *phaseFinder) phaseOf(n *skeleton.Node, at []uint64) *Region {
	p := &Region{Kind: PhaseRegion, trace: f.trace, byShape: make(map[int][]trace.Span)}
	programs, shapes, before := f.programs, f.shapes, slices.Clone(at)
	p.count(f.trace, n, programs, at)
	p.MinTrips = n.Times[0].Min
	var ranks []rankenc.Set
	for _, x := range n.Times {
		of := programs[x.Program].Ranks
		ranks = append(ranks, of)
		p.MinTrips, p.MaxTrips = min(p.MinTrips, x.Min), max(p.MaxTrips, x.Max)
		p.byShape[shapes.At(x.Program)] = []trace.Span{{First: before[x.Program], End: at[x.Program]}}
		p.Calls = wire.AddSat(p.Calls, wire.MulSat(at[x.Program]-before[x.Program], uint64(of.Len())))
		if first := of.At(0); len(ranks) == 1 || first < p.Rank {
			p.Rank, p.Position = first, before[x.Program]
		}
	}
	if p.Ranks = (rankenc.Set{}).Union(ranks...); p.MaxTrips > 1 {
		p.Name = f.nameOf(n)
		p.loops = f.loopsIn(n)
	}
	return p
}

// count adds the calls of a node to those of each program, and those of all ranks to functions.
func (p *Region) count(t *trace.Trace, n *skeleton.Node, programs []skeleton.Program, at []uint64) {
	for _, c := range n.Calls {
		at[c.Program] += c.Count
		p.addFunction(t.Functions()[t.FunctionOf(int(c.Call))].Name,
			wire.MulSat(c.Count, uint64(programs[c.Program].Ranks.Len())))
	}
	for _, inner := range n.Body {
		p.count(t, inner, programs, at)
	}
}

func (p *Region) addFunction(name string, calls uint64) {
	i := slices.IndexFunc(p.Functions, func(f FunctionCount) bool { return f.Name == name })
	if i < 0 {
		i, p.Functions = len(p.Functions), append(p.Functions, FunctionCount{Name: name})
	}
	p.Functions[i].Calls = wire.AddSat(p.Functions[i].Calls, calls)
}

// alike reports whether loops are taken for one phase: they are of different ranks, and go round equally
// often, or call the same functions.
func (p *Region) alike(q *Region) bool {
	if p.Ranks.Intersection(q.Ranks).Len() > 0 {
		return false
	}
	if p.MinTrips == p.MaxTrips && q.MinTrips == q.MaxTrips && p.MaxTrips == q.MaxTrips {
		return true
	}
	same := len(p.Functions) == len(q.Functions)
	for _, f := range p.Functions {
		same = same && slices.ContainsFunc(q.Functions, func(g FunctionCount) bool { return f.Name == g.Name })
	}
	return same
}

// maxPhasePairs is how many pairs of phases of different programs are compared.
const maxPhasePairs = 1 << 22

// phasesTogether returns the phases of two lists in an order that both have. Those of them that are alike are put
// together, as many calls as possible.
func phasesTogether(a, b []*Region) []*Region {
	if len(a)*len(b) > maxPhasePairs {
		return append(a, b...)
	}
	best := make([][]float64, len(a)+1) // calls of a[i:] and b[j:] that are put together
	for i := range best {
		best[i] = make([]float64, len(b)+1)
	}
	both := func(i, j int) float64 { return best[i+1][j+1] + float64(a[i].Calls) + float64(b[j].Calls) }
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if a[i].alike(b[j]) {
				best[i][j] = max(best[i][j], both(i, j))
			}
		}
	}
	var list []*Region
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && (j == len(b) || best[i][j] == best[i+1][j]):
			list = append(list, a[i])
			i++
		case i == len(a) || best[i][j] == best[i][j+1]:
			list = append(list, b[j])
			j++
		default:
			a[i].merge(b[j])
			list = append(list, a[i])
			i, j = i+1, j+1
		}
	}
	return list
}

// merge adds the ranks of q.
func (p *Region) merge(q *Region) {
	maps.Copy(p.byShape, q.byShape)
	for _, l := range q.loops {
		if !slices.ContainsFunc(p.loops, func(k *loop) bool { return maps.Equal(k.inside, l.inside) }) {
			p.loops = append(p.loops, l)
		}
	}
	for _, f := range q.Functions {
		p.addFunction(f.Name, f.Calls)
	}
	if q.Rank < p.Rank {
		p.Rank, p.Position = q.Rank, q.Position
	}
	p.Ranks, p.Calls = p.Ranks.Union(q.Ranks), wire.AddSat(p.Calls, q.Calls)
}

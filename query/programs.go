package query

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A Program is shapes whose ranks nearly have the same control flow: trip counts differ, or some
// leave calls out that others make.
type Program struct {
	Shapes rankenc.Set `json:"shape_set"`
	Ranks  rankenc.Set `json:"rank_set"`
}

// maxPrograms is with how many programs a shape is compared at most. Beyond them, shapes that
// are like none are programs of their own.
const maxPrograms = 64

// Programs returns the programs of a trace, in the order of their first shapes. A shape belongs
// to the first program with whose first shape it has half of its steps in common, and that with
// it, where a step is a function and the next one that a rank calls. Shapes whose ranks were left
// out are in no program. It takes the time of reading the grammars.
func Programs(ctx context.Context, t *trace.Trace) ([]Program, error) {
	need.That(t != nil, "query: no trace")
	type group struct {
		steps  []step // of the first shape
		shapes rankenc.SetBuilder
		ranks  []rankenc.Set
	}
	var groups []*group
	known := make(map[string]*group) // by steps, as bytes
	for n := range t.Shapes() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		ranks := t.ShapeRanks(n)
		if ranks.Len() == 0 {
			continue
		}
		s, err := t.Shape(n)
		if err != nil {
			return nil, err
		}
		steps, key := stepsOf(t, s)
		g := known[key]
		if g == nil {
			at := slices.IndexFunc(groups[:min(len(groups), maxPrograms)], func(g *group) bool {
				return alike(g.steps, steps)
			})
			if at < 0 {
				at, groups = len(groups), append(groups, &group{steps: steps})
			}
			g = groups[at]
			known[key] = g
		}
		g.shapes.Add(n)
		g.ranks = append(g.ranks, ranks)
	}
	programs := make([]Program, len(groups))
	for i, g := range groups {
		programs[i] = Program{Shapes: g.shapes.Finish(), Ranks: rankenc.Set{}.Union(g.ranks...)}
	}
	return programs, nil
}

// A step is a function and the next one, or none and the first, by their numbers plus 1.
type step uint64

// stepsOf returns the steps of a shape in ascending order, and these as bytes.
func stepsOf(t *trace.Trace, s *trace.Shape) (steps []step, key string) {
	found := make(map[step]bool)
	for p := range countPairs(s.Grammar, s.Grammar.Len()) {
		before := 0
		if p.before != none {
			before = t.FunctionOf(int(p.before)) + 1
		}
		found[step(before)<<32|step(t.FunctionOf(int(p.terminal))+1)] = true
	}
	steps = slices.Sorted(maps.Keys(found))
	var bytes []byte
	for _, x := range steps {
		bytes = binary.LittleEndian.AppendUint64(bytes, uint64(x))
	}
	return steps, string(bytes)
}

// alike reports whether each of two lists in ascending order has half of its steps in the other.
func alike(x, y []step) bool {
	shared := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			i, j, shared = i+1, j+1, shared+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	return 2*shared >= max(len(x), len(y))
}

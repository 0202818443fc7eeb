package groups

import (
	"context"
	"fmt"
	"iter"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/symbolic"
)

// A scanner finds the calls that create and free group objects.
type scanner struct {
	plans []*plan // by function; nil where it does neither
	most  uint64  // calls, of all ranks
	calls uint64  // so far
}

// A found is what a terminal does.
type found struct {
	plan     *plan
	creation symbolic.Creation
	dims     []int64 // of MPI_Cart_create
	keep     []bool  // of MPI_Cart_sub
}

// scan returns the events of a rank.
func (s *scanner) scan(ctx context.Context, r *reprise.Rank) ([]event, error) {
	terminals := make(map[sequitur.Symbol]*found)
	for terminal, count := range r.Occurrences() {
		f := s.look(r, uint32(terminal))
		if f == nil {
			continue
		}
		if terminals[terminal] = f; count > s.most-s.calls {
			return nil, fmt.Errorf("mpi/groups: %w: more than %d calls create or free communicators, windows and files", ErrLimit, s.most)
		}
		s.calls += count
	}
	if len(terminals) == 0 {
		return nil, nil
	}
	var events []event
	grids := make(map[symbolic.Local][]int64) // extents
	for position, terminal := range occurrences(r, terminals) {
		if len(events)%(1<<16) == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		events = append(events, terminals[terminal].event(position, grids))
	}
	return events, nil
}

// look returns what a terminal does, nil if it is nothing.
func (s *scanner) look(r *reprise.Rank, terminal uint32) *found {
	fn, values := r.Table().Signature(terminal)
	p := s.plans[fn]
	if p == nil {
		return nil
	}
	f := &found{plan: p, creation: p.creation(values)}
	if f.creation.Kind == 0 && f.creation.Parent.ID < 0 || f.creation.Parent.Class == "" {
		return nil // what is there from the start, or nothing
	}
	a := arguments{p.function.Params, values}
	switch {
	case p.cartSub:
		for _, n := range a.numbers("remain_dims") {
			f.keep = append(f.keep, n != 0)
		}
	case p.kind == symbolic.Topology:
		f.dims = a.numbers("dims")
	}
	return f
}

// event returns what the call at a position does, and keeps the grids up to date,
// which communicators have that it creates.
func (f *found) event(position uint64, grids map[symbolic.Local][]int64) event {
	e := event{position: position, creation: f.creation}
	c := &e.creation
	var dims []int64
	switch {
	case c.Kind == 0:
		delete(grids, c.Parent)
		return e
	case f.plan.cartSub:
		grid := grids[c.Parent]
		e.drop = &dropped{dims: grid, keep: f.keep}
		for i, n := range grid {
			if i < len(f.keep) && f.keep[i] {
				dims = append(dims, n)
			}
		}
	case c.Kind == symbolic.Topology:
		dims = f.dims
	case c.Kind == symbolic.Duplicate:
		dims = grids[c.Parent]
	}
	if dims != nil && c.Result.Class == commClass {
		grids[c.Result] = dims
	} else {
		delete(grids, c.Result)
	}
	return e
}

// maxWalk is the largest number of calls that are walked through one by one.
// In more, the rules of the grammar that have none of the terminals are skipped.
const maxWalk = 1 << 20

// occurrences returns an iterator over the positions at which the calls of a rank
// have some terminals, which costs what these and the grammar cost.
func occurrences(r *reprise.Rank, terminals map[sequitur.Symbol]*found) iter.Seq2[uint64, sequitur.Symbol] {
	if r.Len() > maxWalk {
		return inGrammar(r.Grammar(), terminals)
	}
	return func(yield func(uint64, sequitur.Symbol) bool) {
		position, w := uint64(0), r.Walk(0)
		for run := w.Next(); run.Count > 0; run = w.Next() {
			if terminals[run.Symbol] == nil {
				position += run.Count
				continue
			}
			for range run.Count {
				if !yield(position, run.Symbol) {
					return
				}
				position++
			}
		}
	}
}

// inGrammar is occurrences in a grammar.
func inGrammar(g *sequitur.Grammar, terminals map[sequitur.Symbol]*found) iter.Seq2[uint64, sequitur.Symbol] {
	has := make([]bool, g.Rules())
	bodies := make([][]sequitur.Term, g.Rules()) // of those that have some
	for rule := range g.Rules() {
		for t := range g.Body(rule) {
			has[rule] = has[rule] || t.Rule >= 0 && has[t.Rule] || t.Rule < 0 && terminals[t.Symbol] != nil
		}
		if has[rule] {
			for t := range g.Body(rule) {
				bodies[rule] = append(bodies[rule], t)
			}
		}
	}
	return func(yield func(uint64, sequitur.Symbol) bool) {
		if g.Rules() == 0 {
			return
		}
		position := uint64(0)
		stack := [][]sequitur.Term{bodies[g.Rules()-1]}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(*top) == 0 {
				stack = stack[:len(stack)-1]
				continue
			}
			t := (*top)[0]
			*top = (*top)[1:]
			switch {
			case t.Rule < 0 && terminals[t.Symbol] == nil:
				position += t.Count
			case t.Rule < 0:
				for range t.Count {
					if !yield(position, t.Symbol) {
						return
					}
					position++
				}
			case !has[t.Rule]:
				position += t.Count * g.RuleLen(t.Rule)
			default:
				if t.Count--; t.Count > 0 {
					stack = append(stack, []sequitur.Term{t})
				}
				stack = append(stack, bodies[t.Rule])
			}
		}
	}
}

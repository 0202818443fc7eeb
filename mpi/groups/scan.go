package groups

import (
	"context"
	"fmt"

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
			return nil, &LimitError{fmt.Sprintf("more than %d calls create or free communicators, windows and files", s.most)}
		}
		s.calls += count
	}
	if len(terminals) == 0 {
		return nil, nil
	}
	var events []event
	grids := make(map[symbolic.Local][]int64) // extents
	keep := func(terminal sequitur.Symbol) bool { return terminals[terminal] != nil }
	for position, terminal := range r.Find(0, keep) {
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

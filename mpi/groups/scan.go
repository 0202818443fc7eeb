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
	most  uint64  // calls to look at one by one, of all ranks
	sum   bool    // loops are summed up
}

// A found is what a terminal does.
type found struct {
	plan     *plan
	creation symbolic.Creation
	dims     []int64 // of MPI_Cart_create
	keep     []bool  // of MPI_Cart_sub
}

// scan finds the events of a process, and the rounds that are left out, given how many
// events there are of other processes.
func (s *scanner) scan(ctx context.Context, r *reprise.Rank, p *process, others uint64) error {
	terminals := make(map[sequitur.Symbol]*found)
	for terminal := range r.Occurrences() {
		if f := s.look(r, terminal); f != nil {
			terminals[terminal] = f
		}
	}
	p.events, p.loops = nil, nil
	if len(terminals) == 0 {
		return nil
	}
	u := newUnroller(r.Grammar(), terminals, p, s.sum)
	for u.step() {
		if n := len(p.events); uint64(n) > s.most-others {
			return &LimitError{fmt.Sprintf("more than %d calls create or free communicators, windows and files", s.most)}
		}
		if u.steps++; u.steps%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
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
	case p.Makes == symbolic.Topology:
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

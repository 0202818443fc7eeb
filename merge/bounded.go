package merge

import (
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// bounded is what gave way, of all ranks of an accumulator.
type bounded struct {
	format.Bounded
	any bool // whether anything did
}

// add adds what b says, of functions with these numbers.
func (x *bounded) add(b *format.Bounded, functions []int) {
	x.any, x.ByFunction = true, x.ByFunction || b.ByFunction
	x.Untimed, x.Unordered = x.Untimed || b.Untimed, x.Unordered || b.Unordered
	for f, params := range b.InStretches {
		addParams(&x.InStretches, functions[f], params)
	}
	for f, params := range b.InOrder {
		addParams(&x.InOrder, functions[f], params)
	}
	for t, n := range b.Transitions {
		x.pass(functions[t[0]], functions[t[1]], n)
	}
	for rank, list := range b.Stretches {
		x.addStretches(rank, list)
	}
}

// addParams adds parameters of a function whose arguments are of a distribution.
func addParams(to *map[int]uint64, function int, params uint64) {
	if *to == nil {
		*to = make(map[int]uint64)
	}
	(*to)[function] |= params
}

func (x *bounded) pass(from, to int, n uint64) {
	if x.Transitions == nil {
		x.Transitions = make(map[[2]int]uint64)
	}
	x.Transitions[[2]int{from, to}] = min(wire.AddSat(x.Transitions[[2]int{from, to}], n), 1<<63)
}

func (x *bounded) addStretches(rank int, list []format.Stretch) {
	if len(list) == 0 {
		return
	}
	if x.Stretches == nil {
		x.Stretches = make(map[int][]format.Stretch)
	}
	x.Stretches[rank] = list
}

// what returns what gave way, nil if nothing did.
func (x *bounded) what() *format.Bounded {
	if !x.any {
		return nil
	}
	return &x.Bounded
}

// renumber replaces the numbers of functions.
func (x *bounded) renumber(functions []int) {
	if x.any {
		old := x.Bounded
		*x = bounded{}
		x.add(&old, functions)
	}
}

// checkBounded returns an error if what a part says of what gave way cannot be.
func (p Part) checkBounded() error {
	b := p.Bounded
	if b == nil {
		return nil
	}
	functions := len(p.Table.Functions())
	for _, f := range layout.FunctionsOf(b) {
		if f < 0 || f >= functions || b.InStretches[f]|b.InOrder[f] == 0 {
			return layout.Corrupt("no arguments of function %d are of a distribution", f)
		}
	}
	for _, t := range layout.TransitionsOf(b) {
		if n := b.Transitions[t]; min(t[0], t[1]) < 0 || max(t[0], t[1]) >= functions || n == 0 || n > 1<<63 {
			return layout.Corrupt("%d transitions from function %d to %d", n, t[0], t[1])
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(b.Stretches)) {
		if rank != p.Rank {
			return layout.Corrupt("stretches of rank %d", rank)
		}
		if err := layout.CheckStretches(b.Stretches[rank], p.Grammar.Len()); err != nil {
			return err
		}
	}
	return nil
}

package merge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Bounded says what of a part is not what was recorded, so that traces have a bounded size.
// Functions are those of the table of the part. Its fields are
//
//	Untimed, Unordered, ByFunction bool  times of every call, the order of calls of different ranks, or statistics of
//	                                     times by signature, were left out
//	Functions []layout.BoundedFunction   which arguments of which functions are of a distribution
//	Transitions []layout.Transition      which function follows which in the stretches
//	Ranks []layout.BoundedRank           the stretches: calls whose order is not kept
type Bounded = layout.Bounded

// A Stretch is calls in a row of a rank whose order is not kept.
type Stretch = layout.Stretch

// bounded is what gave way, of all ranks of an accumulator.
type bounded struct {
	any                            bool // whether anything did
	untimed, unordered, byFunction bool
	params                         map[int]layout.BoundedFunction // by function
	transitions                    map[[2]int]uint64              // by functions
	stretches                      map[int][]layout.Stretch
}

// add adds what b says, of functions with these numbers.
func (x *bounded) add(b *Bounded, functions []int) {
	x.any, x.byFunction = true, x.byFunction || b.ByFunction
	x.untimed, x.unordered = x.untimed || b.Untimed, x.unordered || b.Unordered
	for _, f := range b.Functions {
		x.addParams(functions[f.Function], f)
	}
	for _, t := range b.Transitions {
		x.pass(functions[t.From], functions[t.To], t.Count)
	}
	for _, r := range b.Ranks {
		x.addStretches(r.Rank, r.Stretches)
	}
}

func (x *bounded) addParams(function int, f layout.BoundedFunction) {
	if x.params == nil {
		x.params = make(map[int]layout.BoundedFunction)
	}
	old := x.params[function]
	x.params[function] = layout.BoundedFunction{Function: function, InStretches: old.InStretches | f.InStretches, InOrder: old.InOrder | f.InOrder}
}

func (x *bounded) pass(from, to int, n uint64) {
	if x.transitions == nil {
		x.transitions = make(map[[2]int]uint64)
	}
	x.transitions[[2]int{from, to}] = min(wire.AddSat(x.transitions[[2]int{from, to}], n), 1<<63)
}

func (x *bounded) addStretches(rank int, list []layout.Stretch) {
	if len(list) == 0 {
		return
	}
	if x.stretches == nil {
		x.stretches = make(map[int][]layout.Stretch)
	}
	x.stretches[rank] = list
}

// list returns what x says in order, nil if nothing gave way.
func (x *bounded) list() *Bounded {
	if !x.any {
		return nil
	}
	b := &Bounded{Untimed: x.untimed, Unordered: x.unordered, ByFunction: x.byFunction}
	for _, f := range slices.Sorted(maps.Keys(x.params)) {
		b.Functions = append(b.Functions, x.params[f])
	}
	for key, n := range x.transitions {
		b.Transitions = append(b.Transitions, layout.Transition{From: key[0], To: key[1], Count: n})
	}
	slices.SortFunc(b.Transitions, func(s, t layout.Transition) int {
		return cmp.Or(cmp.Compare(s.From, t.From), cmp.Compare(s.To, t.To))
	})
	for _, rank := range slices.Sorted(maps.Keys(x.stretches)) {
		b.Ranks = append(b.Ranks, layout.BoundedRank{Rank: rank, Stretches: x.stretches[rank]})
	}
	return b
}

// renumber replaces the numbers of functions.
func (x *bounded) renumber(functions []int) {
	if b := x.list(); b != nil {
		*x = bounded{}
		x.add(b, functions)
	}
}

// checkBounded returns an error if what a part says of what gave way cannot be.
func (p Part) checkBounded() error {
	b := p.Bounded
	if b == nil {
		return nil
	}
	functions := len(p.Table.Functions())
	for _, f := range b.Functions {
		if f.Function < 0 || f.Function >= functions || f.InStretches|f.InOrder == 0 {
			return layout.Corrupt("no arguments of function %d are of a distribution", f.Function)
		}
	}
	for _, t := range b.Transitions {
		if min(t.From, t.To) < 0 || max(t.From, t.To) >= functions || t.Count == 0 || t.Count > 1<<63 {
			return layout.Corrupt("%d transitions from function %d to %d", t.Count, t.From, t.To)
		}
	}
	for i, r := range b.Ranks {
		if r.Rank != p.Rank || i > 0 {
			return layout.Corrupt("stretches of rank %d", r.Rank)
		}
		if err := layout.CheckStretches(r.Stretches, p.Grammar.Len()); err != nil {
			return err
		}
	}
	return nil
}

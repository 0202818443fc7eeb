package merge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// renumber numbers functions and texts in an order that depends on nothing but
// what they are.
func (a *Accumulator) renumber() {
	var sorted Accumulator
	functions := slices.Clone(a.functions.Functions())
	slices.SortFunc(functions, compareFunctions)
	for _, f := range functions {
		sorted.functions.Declare(f)
		sorted.digests = append(sorted.digests, functionDigest(f))
	}
	texts := slices.Clone(a.texts.list)
	slices.SortFunc(texts, func(s, t string) int {
		return cmp.Or(len(s)-len(t), cmp.Compare(s, t)) // that a number in a name counts
	})
	for _, s := range texts {
		sorted.texts.number(s)
	}
	declared := a.functions.Functions()
	sorted.declare(&a.functions)
	to := make([]int64, len(a.texts.list))
	for i, s := range sorted.texts.list {
		to[a.texts.numbers[s]] = int64(i)
	}
	for _, s := range a.shapes {
		s.renumber(declared, sorted.scratch.functions, to)
	}
	a.functions, a.digests, a.texts, a.scratch = sorted.functions, sorted.digests, sorted.texts, scratch{}
}

// compareFunctions orders functions by name, and those of one name by digest.
func compareFunctions(f, g cst.Function) int {
	if c := cmp.Compare(f.Name, g.Name); c != 0 {
		return c
	}
	x, y := functionDigest(f), functionDigest(g)
	return slices.Compare(x[:], y[:])
}

// interleaving returns the order of the calls of all ranks, or nil if they stand
// rank by rank. Ranks of which no order is known stand one by one, and orders in
// that of their lowest ranks.
func (a *Accumulator) interleaving() (*sequitur.Grammar, error) {
	if len(a.orders) == 0 {
		return nil, nil
	}
	calls := make(map[int]uint64)
	for _, s := range a.shapes {
		s.ranks.each(func(_, rank int) { calls[rank] = s.grammar.Len() })
	}
	type block struct {
		first int
		order *sequitur.Grammar // nil for the calls of rank first
	}
	var blocks []block
	for _, g := range a.orders {
		first := -1
		for s, n := range g.Occurrences() {
			rank := int(s)
			if calls[rank] != n {
				return nil, fmt.Errorf("merge: rank %d has %d calls, %d in the interleaving", rank, calls[rank], n)
			}
			if delete(calls, rank); first < 0 {
				first = rank
			}
		}
		blocks = append(blocks, block{first, g})
	}
	if len(blocks) == 1 && len(calls) == 0 {
		return a.orders[0], nil
	}
	var n uint64
	for _, g := range a.orders {
		n = wire.AddSat(n, g.Len())
	}
	for rank, own := range calls {
		n = wire.AddSat(n, own)
		blocks = append(blocks, block{first: rank})
	}
	if n > math.MaxInt64 {
		return nil, errors.New("merge: an interleaving of more than 2⁶³−1 calls")
	}
	slices.SortFunc(blocks, func(x, y block) int { return x.first - y.first })
	var b sequitur.Builder
	for _, x := range blocks {
		if x.order == nil {
			b.AppendRun(sequitur.Symbol(x.first), calls[x.first])
			continue
		}
		for _, r := range x.order.Runs() {
			b.AppendRun(r.Symbol, r.Count)
		}
	}
	return b.Finish(), nil
}

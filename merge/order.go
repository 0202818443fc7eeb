package merge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// renumber numbers functions and texts in an order that depends on nothing but
// what they are.
func (a *Accumulator) renumber() {
	a.settle()
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
	a.rankTimes.Renumber(sorted.scratch.functions)
	a.bounded.renumber(sorted.scratch.functions)
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

// callCounts tells how many calls ranks have.
type callCounts []callCount

// A callCount is the number of calls that each of some consecutive ranks has.
type callCount struct {
	first, last int32
	calls       uint64
}

func (a *Accumulator) callCounts() callCounts {
	var counts callCounts
	for _, s := range a.shapes {
		calls := s.calls(a.functions.Functions())
		for _, p := range s.ranks {
			counts = append(counts, callCount{p.first, p.last, calls})
		}
	}
	slices.SortFunc(counts, func(x, y callCount) int { return cmp.Compare(x.first, y.first) })
	return counts
}

// of returns the number of calls of a rank.
func (c callCounts) of(rank int) uint64 {
	i := sort.Search(len(c), func(i int) bool { return int(c[i].first) > rank }) - 1
	if i < 0 || rank > int(c[i].last) {
		return 0
	}
	return c[i].calls
}

// check checks that an interleaving has every rank in it as often as that has
// calls, and none that is in ordered, to which it adds them.
func (c callCounts) check(g *sequitur.Grammar, ordered map[int]bool) error {
	for s, n := range g.Occurrences() {
		rank := int(s)
		switch {
		case c.of(rank) != n:
			return fmt.Errorf("rank %d has %d calls, %d in the interleaving", rank, c.of(rank), n)
		case ordered[rank]:
			return fmt.Errorf("rank %d is in two interleavings", rank)
		}
		ordered[rank] = true
	}
	return nil
}

// interleaving returns the order of the calls of all ranks, or nil if they stand
// rank by rank. Ranks of which no order is known stand one by one, and orders in
// that of their lowest ranks.
func (a *Accumulator) interleaving() (*sequitur.Grammar, error) {
	if len(a.orders) == 0 {
		return nil, nil
	}
	type block struct {
		first int
		order *sequitur.Grammar // nil for the calls of rank first
	}
	var (
		blocks          []block
		counts, ordered = a.callCounts(), make(map[int]bool)
		n               uint64
	)
	for _, g := range a.orders {
		n = wire.AddSat(n, g.Len())
		if err := counts.check(g, ordered); err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		blocks = append(blocks, block{int(lowest(g)), g})
	}
	if len(blocks) == 1 && len(ordered) == a.ranks.len() {
		return a.orders[0], nil
	}
	a.ranks.each(func(_, rank int) {
		if !ordered[rank] {
			n = wire.AddSat(n, counts.of(rank))
			blocks = append(blocks, block{first: rank})
		}
	})
	if n > math.MaxInt64 {
		return nil, errors.New("merge: an interleaving of more than 2⁶³−1 calls")
	}
	slices.SortFunc(blocks, func(x, y block) int { return x.first - y.first })
	var b sequitur.Builder
	for _, x := range blocks {
		if x.order == nil {
			b.AppendRun(sequitur.Symbol(x.first), counts.of(x.first))
			continue
		}
		for _, r := range x.order.Runs() {
			b.AppendRun(r.Symbol, r.Count)
		}
	}
	return b.Finish(), nil
}

// Calls returns how many calls all ranks made.
func (a *Accumulator) Calls() uint64 {
	a.settle()
	n := uint64(0)
	for _, s := range a.shapes {
		n = wire.AddSat(n, wire.MulSat(uint64(s.ranks.len()), s.grammar.Len()))
	}
	return n
}

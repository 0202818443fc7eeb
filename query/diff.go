package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Diff says in what the calls of two traces, A and B, differ, whenever they were made
// and however long they took. Calls are equal if their functions and arguments are;
// numbers that both traces have names for, such as those of predefined datatypes, are
// equal if the names are.
type Diff struct {
	RanksA, RanksB int // of the runs

	// OnlyA and OnlyB are the ranks that made calls in one run only.
	OnlyA, OnlyB rankenc.Set

	Compared  int         // ranks that made calls in both runs
	Different rankenc.Set // those whose calls are not the same

	// First is the first call of the lowest rank that differs; nil if none does.
	First *Difference

	// Reordered says that the traces have the order of the calls of different ranks,
	// and not the same. Two runs that do the same may have that.
	Reordered bool

	// Summary says in what the numbers of calls differ, over all ranks; nil if the
	// traces are equal.
	Summary *DiffSummary
}

// Equal reports whether both runs have the same ranks with the same calls.
func (d *Diff) Equal() bool {
	return d.RanksA == d.RanksB && d.OnlyA.Len()+d.OnlyB.Len()+d.Different.Len() == 0
}

// A Difference is a place in which the calls of a rank differ in two traces.
type Difference struct {
	Rank     int
	Position uint64
	A, B     *reprise.Call // nil if the rank has no more calls
}

// OpenDiff compares two traces. It compares grammars without expanding them, and those of
// ranks with the same control flow once, so that its cost is that of reading the ranks of
// both; only of ranks whose arguments vary without a pattern it goes through the calls.
// Errors of ranks begin with the trace that has them.
func OpenDiff(ctx context.Context, a, b *reprise.Trace, o Options) (*Diff, error) {
	d := differ{a: newDiffSide(a), b: newDiffSide(b), known: make(map[sameComparison]*comparedGrammars)}
	d.b.matchFunctions(d.a)
	result := &Diff{RanksA: a.Ranks(), RanksB: b.Ranks(), Reordered: reordered(a, b)}
	var ranksA, ranksB, both, different []int
	ranksA, ranksB = o.ranks(a), o.ranks(b)
	for _, rank := range ranksA {
		if b.Merged().RankSet().Contains(rank) {
			both = append(both, rank)
		}
	}
	result.OnlyA, result.OnlyB = without(ranksA, both), without(ranksB, both)
	found := make([]*comparedRank, len(both))
	var lost failures
	done := progress{tell: o.Progress}
	err := o.each(ctx, len(both), func(i int) (err error) {
		if found[i], err = d.rank(both[i]); err != nil {
			lost.add(both[i], err)
		}
		done.add(1)
		return nil
	})
	if err == nil {
		err = o.tell(&lost)
	}
	if err != nil {
		return nil, err
	}
	for i, r := range found {
		switch {
		case r == nil:
			continue
		case !r.equal:
			different = append(different, both[i])
			if result.First == nil {
				if result.First, err = d.difference(both[i], r.prefix); err != nil {
					return nil, err
				}
			}
		}
		result.Compared++
	}
	result.Different = setOf(different)
	if !result.Equal() {
		result.Summary, err = summarize(ctx, a, b, o)
	}
	return result, err
}

// reordered reports whether two traces have the order of the calls of their ranks, and
// not the same.
func reordered(a, b *reprise.Trace) bool {
	x, y := a.Run().Interleaving, b.Run().Interleaving
	return x != nil && y != nil && (x.Len() != y.Len() || x.CommonPrefix(y, nil) < x.Len())
}

// without returns the ranks of an ascending list that are not in another.
func without(list, others []int) rankenc.Set {
	var rest []int
	for _, rank := range list {
		if _, ok := slices.BinarySearch(others, rank); !ok {
			rest = append(rest, rank)
		}
	}
	return setOf(rest)
}

func setOf(ranks []int) rankenc.Set {
	set, err := rankenc.SetOf(ranks...)
	if err != nil {
		panic(err) // they are those of a trace
	}
	return set
}

// difference returns the place in which a rank differs.
func (d *differ) difference(rank int, position uint64) (*Difference, error) {
	result := &Difference{Rank: rank, Position: position}
	for _, side := range []struct {
		trace *reprise.Trace
		call  **reprise.Call
	}{{d.a.trace, &result.A}, {d.b.trace, &result.B}} {
		r, err := side.trace.Rank(rank)
		if err != nil {
			return nil, err
		}
		if run := r.Walk(position).Next(); run.Count > 0 {
			call := r.Call(uint32(run.Symbol))
			*side.call = &call
		}
	}
	return result, nil
}

// A DiffSummary says how many more calls, messages and bytes there are in one trace than
// in another. It has what differs in number, the largest differences first.
type DiffSummary struct {
	CallsA, CallsB uint64
	Functions      []CountDifference // by name
	Calls          []CountDifference // as a [reprise.Printer] writes what all ranks have in common

	// Messages are what differs in messages; nil if what the functions of a trace mean
	// is not known.
	Messages *MessageDiff
}

// A CountDifference is how often something is called in two traces.
type CountDifference struct {
	Name string
	A, B uint64
}

func (c CountDifference) distance() uint64 { return distance(c.A, c.B) }

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// countDifferences returns the counts that differ, the largest differences first, then by
// name.
func countDifferences(a, b map[string]uint64) []CountDifference {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var list []CountDifference
	for name := range all {
		if a[name] != b[name] {
			list = append(list, CountDifference{name, a[name], b[name]})
		}
	}
	slices.SortFunc(list, func(x, y CountDifference) int {
		return cmp.Or(cmp.Compare(y.distance(), x.distance()), cmp.Compare(x.Name, y.Name))
	})
	return list
}

// A sameComparison is a comparison of grammars that several ranks need.
type sameComparison struct {
	a, b *sequitur.Grammar
	ids  string // of the terminals of both
}

// errSide returns an error of a rank with the trace that has it.
func errSide(which string, err error) error { return fmt.Errorf("%s trace: %w", which, err) }

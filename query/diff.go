package query

import (
	"cmp"
	"context"
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
	A DiffSide `json:"a_side"`
	B DiffSide `json:"b_side"`

	Compared  int         `json:"ranks"`              // that made calls in both runs and could be read
	Different rankenc.Set `json:"different_rank_set"` // those whose calls are not the same

	// Unreadable are the ranks that were left out, as [Options.Unreadable] says.
	Unreadable rankenc.Set `json:"unreadable_rank_set"`

	// First is the first call of the lowest rank that differs; nil if none does.
	First *Difference `json:"first_difference"`

	// FirstOther is the first such call if those that begin and end MPI, MPI_Init,
	// MPI_Init_thread and MPI_Finalize, count as equal whatever their arguments: nil if
	// First is none of them, or nothing else differs.
	FirstOther *Difference `json:"first_other_difference"`

	// Reordered says that the traces do not have the same order of the calls of
	// different ranks. Two runs that do the same may have that.
	Reordered bool `json:"other_order_of_ranks"`

	// Functions are those that are called another number of times, over all ranks, and
	// Calls calls as a [reprise.Printer] writes them: only those of a rank are counted that
	// it makes another number of times in the other trace. The largest differences come
	// first. There are none if no difference was found.
	Functions []CountDifference `json:"functions"`
	Calls     []CountDifference `json:"signatures"`

	// Messages are what differs in messages; nil if no difference was found, if what the
	// functions of a trace mean is not known, or if they cannot be counted.
	Messages *MessageDiff `json:"message_differences"`

	// LostMessages are why the messages of A, and of B, cannot be counted; nil if they
	// can, or are not known.
	LostMessages [2]error `json:"-"`
}

// A DiffSide is one of two traces that are compared.
type DiffSide struct {
	Ranks int         `json:"run_ranks"`     // of the run
	Only  rankenc.Set `json:"only_rank_set"` // that made calls in this run only
	Calls uint64      `json:"calls"`         // of the ranks that are compared; 0 if no difference was found
}

// Equal reports whether both runs have the same ranks with the same calls: all of them
// were compared, and no difference was found.
func (d *Diff) Equal() bool { return !d.differs() && d.Unreadable.Len() == 0 }

// differs reports whether there is a difference.
func (d *Diff) differs() bool {
	return d.A.Ranks != d.B.Ranks || d.A.Only.Len()+d.B.Only.Len()+d.Different.Len() > 0
}

// A Difference is a place in which the calls of a rank differ in two traces.
type Difference struct {
	Rank     int    `json:"rank"`
	Position uint64 `json:"position"`
	A        string `json:"a_call"` // the call, as a [reprise.Printer] writes it; nothing if the rank has no more
	B        string `json:"b_call"`
}

// OpenDiff compares two traces. It compares grammars without expanding them, and those of
// ranks with the same control flow once, so that its cost is that of reading the ranks of
// both; only of ranks whose arguments vary without a pattern it goes through the calls.
// Errors of ranks begin with the trace that has them. What cannot be counted is missing
// in the summary, but no error.
func OpenDiff(ctx context.Context, a, b *reprise.Trace, o Options) (*Diff, error) {
	d := newDiffer(a, b)
	result := &Diff{A: DiffSide{Ranks: a.Ranks()}, B: DiffSide{Ranks: b.Ranks()}, Reordered: reordered(a, b)}
	ranksA, ranksB := o.ranks(a), o.ranks(b)
	var both, different []int
	for _, rank := range ranksA {
		if _, ok := b.ShapeOf(rank); ok {
			both = append(both, rank)
		}
	}
	onlyA, onlyB := without(ranksA, both), without(ranksB, both)
	result.A.Only, result.B.Only = rankenc.SetOf(onlyA...), rankenc.SetOf(onlyB...)
	all := slices.Concat(both, onlyA, onlyB)
	slices.Sort(all)
	found := make([]*comparedRank, len(all))
	var lost failures
	done := progress{tell: o.Progress}
	err := o.each(ctx, len(all), func(i int) (err error) {
		if found[i], err = d.rank(all[i]); err != nil {
			lost.add(all[i], err)
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
	result.Unreadable = rankenc.SetOf(lost.numbers()...)
	for i, r := range found {
		if r == nil || !r.both {
			continue
		}
		if result.Compared++; r.equal {
			continue
		}
		different = append(different, all[i])
		if err := d.first(result, all[i], r); err != nil {
			return nil, err
		}
	}
	if result.Different = rankenc.SetOf(different...); result.differs() {
		if err = result.summarize(ctx, a, b, o); err != nil {
			return nil, err
		}
		result.Calls = d.differences()
		d.addRanks(result.Functions)
	}
	return result, nil
}

// reordered reports whether two traces do not have the same order of the calls of their
// ranks.
func reordered(a, b *reprise.Trace) bool {
	x, y := a.Run().Interleaving, b.Run().Interleaving
	if x == nil || y == nil {
		return x != y
	}
	return x.Len() != y.Len() || x.CommonPrefix(y, nil) < x.Len()
}

// without returns the ranks of an ascending list that are not in another.
func without(list, others []int) []int {
	var rest []int
	for _, rank := range list {
		if _, ok := slices.BinarySearch(others, rank); !ok {
			rest = append(rest, rank)
		}
	}
	return rest
}

// first fills in the first differences, unless they are those of a rank before.
func (d *differ) first(result *Diff, rank int, r *comparedRank) (err error) {
	switch {
	case result.First == nil:
		if result.First, err = d.difference(rank, r.prefix); err != nil {
			return err
		}
		d.wantsOther = r.frame
	case !d.wantsOther:
		return nil
	}
	if d.wantsOther && r.differsOtherwise {
		result.FirstOther, err = d.difference(rank, r.otherwise)
		d.wantsOther = false
	}
	return err
}

// difference returns the place in which a rank differs.
func (d *differ) difference(rank int, position uint64) (*Difference, error) {
	result := &Difference{Rank: rank, Position: position}
	for _, side := range []struct {
		of   *diffSide
		call *string
	}{{d.a, &result.A}, {d.b, &result.B}} {
		r, err := side.of.trace.Rank(rank)
		if err != nil {
			return nil, err
		}
		if run := r.Walk(position).Next(); run.Count > 0 {
			*side.call = string(side.of.printer.AppendCall(nil, r.Call(run.Symbol)))
		}
	}
	return result, nil
}

// A CountDifference is how often something is called in two traces.
type CountDifference struct {
	Name  string      `json:"name"`
	A     uint64      `json:"a_calls"`
	B     uint64      `json:"b_calls"`
	Ranks rankenc.Set `json:"rank_set"` // that call it another number of times, of those that could be read in both
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// sortCounts puts the largest differences first.
func sortCounts(list []CountDifference) {
	slices.SortFunc(list, func(x, y CountDifference) int {
		return cmp.Or(cmp.Compare(distance(y.A, y.B), distance(x.A, x.B)), cmp.Compare(x.Name, y.Name))
	})
}

// countDifferences returns the counts that differ.
func countDifferences(a, b map[string]uint64) []CountDifference {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var list []CountDifference
	for name := range all {
		if a[name] != b[name] {
			list = append(list, CountDifference{Name: name, A: a[name], B: b[name]})
		}
	}
	sortCounts(list)
	return list
}

// A sameComparison is a comparison of grammars that several ranks need.
type sameComparison struct {
	a, b *sequitur.Grammar
	ids  string // of the terminals of both
}

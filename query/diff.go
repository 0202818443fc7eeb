package query

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A Diff says in what the calls of two traces, A and B, differ, whenever they were made
// and however long they took. Calls are equal if their functions and arguments are;
// numbers that both traces have names for, such as those of predefined datatypes, are
// equal if the names are.
type Diff struct {
	A DiffSide `json:"a_side"`
	B DiffSide `json:"b_side"`

	Compared  int         `json:"ranks"`              // that made calls in both runs
	Different rankenc.Set `json:"different_rank_set"` // those whose calls are not the same

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
	// Calls calls as a [trace.Printer] writes them: only those of a rank are counted that
	// it makes another number of times in the other trace. The largest differences come
	// first. There are none if no difference was found.
	Functions []CountDifference `json:"functions"`
	Calls     []CountDifference `json:"signatures"`

	// Messages are what differs in messages; nil if no difference was found, if what the
	// functions of a trace mean is not known, or if they cannot be counted.
	Messages *MessageDiff `json:"message_differences"`

	// Uncounted are why the messages of A, and of B, cannot be counted, as where there are
	// too many communicators; nil if they can, or are not known.
	Uncounted [2]error `json:"-"`
}

// A DiffSide is one of two traces that are compared.
type DiffSide struct {
	Ranks int         `json:"run_ranks"`     // of the run
	Only  rankenc.Set `json:"only_rank_set"` // that made calls in this run only
	Calls uint64      `json:"calls"`         // of the ranks that are compared; 0 if no difference was found
}

// Equal reports whether both runs have the same ranks with the same calls: all of them
// were compared, and no difference was found.
func (d *Diff) Equal() bool { return !d.differs() }

// differs reports whether there is a difference.
func (d *Diff) differs() bool {
	return d.A.Ranks != d.B.Ranks || d.A.Only.Len()+d.B.Only.Len()+d.Different.Len() > 0
}

// A Difference is a place in which the calls of a rank differ in two traces.
type Difference struct {
	Rank      int    `json:"rank"`
	Position  uint64 `json:"position"`   // in A
	PositionB uint64 `json:"b_position"` // another one if calls are ignored
	A         string `json:"a_call"`     // the call, as a [trace.Printer] writes it; nothing if the rank has no more
	B         string `json:"b_call"`
}

// DiffOptions say what [OpenDiff] compares.
type DiffOptions struct {
	Options
	Ignore Ignored

	// Regions are the parts of both traces that are compared, both or none of them nil. Ranks that are not in
	// them made no calls. Region has to be nil.
	Regions [2]*Region
}

// OpenDiff compares two traces. It compares grammars without expanding them, and those of
// ranks with the same control flow once, so that its cost is that of reading the ranks of
// both; only of ranks whose arguments vary without a pattern, and if calls are ignored, it
// goes through the calls. Where arguments advance from call to call, it looks at the runs of
// values, and takes memory for each different call only if these are not the same. Errors of ranks begin with the trace that has them. That messages
// cannot be counted is no error.
func OpenDiff(ctx context.Context, a, b *trace.Trace, o DiffOptions) (*Diff, error) {
	need.That(a != nil && b != nil, "query: no trace")
	need.That(o.Region == nil && (o.Regions[0] == nil) == (o.Regions[1] == nil), "query: a region of one of two traces")
	d := newDiffer(a, b, &o)
	result := &Diff{A: DiffSide{Ranks: a.Ranks()}, B: DiffSide{Ranks: b.Ranks()},
		Reordered: o.Regions[0] == nil && reordered(a, b)}
	ranksA, err := o.ranks(a, rankMemory)
	if err != nil {
		return nil, err
	}
	ranksB, err := o.ranks(b, rankMemory)
	if err != nil {
		return nil, err
	}
	ranksA = slices.DeleteFunc(ranksA, func(rank int) bool { return !d.a.has(rank) })
	ranksB = slices.DeleteFunc(ranksB, func(rank int) bool { return !d.b.has(rank) })
	var both, different []int
	for _, rank := range ranksA {
		if d.b.has(rank) {
			both = append(both, rank)
		}
	}
	onlyA, onlyB := without(ranksA, both), without(ranksB, both)
	result.A.Only, result.B.Only = rankenc.SetOf(onlyA...), rankenc.SetOf(onlyB...)
	all := slices.Concat(both, onlyA, onlyB)
	slices.Sort(all)
	found := make([]*comparedRank, len(all))
	done := progress{tell: o.Progress}
	err = o.each(ctx, len(all), func(i int) (err error) {
		defer done.add(1)
		found[i], err = d.rank(all[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, r := range found {
		if !r.both {
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
func reordered(a, b *trace.Trace) bool {
	x, y := a.Run().Interleaving, b.Run().Interleaving
	if x == nil || y == nil {
		return x != y
	}
	return x.Len() != y.Len() || sums.CommonPrefix(x, y, nil) < x.Len()
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
func (d *differ) difference(rank int, at positions) (*Difference, error) {
	result := &Difference{Rank: rank, Position: at.a, PositionB: at.b}
	for _, side := range []struct {
		of       *diffSide
		position *uint64
		call     *string
	}{{d.a, &result.Position, &result.A}, {d.b, &result.PositionB, &result.B}} {
		r, err := side.of.trace.Folded(rank, nil)
		if err != nil {
			return nil, err
		}
		at, more := side.of.position(r, *side.position)
		if *side.position = at; more {
			*side.call = string(side.of.printer.AppendCall(nil, r.CallAt(at)))
		}
	}
	return result, nil
}

// position returns the position in a rank of the n-th call that is compared, false if there are no more.
func (s *diffSide) position(r *trace.Rank, n uint64) (position uint64, more bool) {
	if s.region == nil {
		return n, n < r.Len()
	}
	for _, of := range s.region.Spans(r.Number()) {
		if position = of.First + n; position < of.End {
			return position, true
		}
		position, n = of.End, n-(of.End-of.First)
	}
	return position, false
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

// A MessageDiff says in what the messages of two traces, A and B, differ. Its lists have
// what differs, the largest differences in bytes, and then in messages, first.
type MessageDiff struct {
	A         Flow             `json:"a_flow"` // all of them
	B         Flow             `json:"b_flow"`
	UnplacedA Flow             `json:"a_of_unknown_ranks,omitzero"` // as in Traffic: those that are missing in Pairs
	UnplacedB Flow             `json:"b_of_unknown_ranks,omitzero"`
	Pairs     []PairDifference `json:"pairs"`
	Sizes     []SizeDifference `json:"sizes"`
}

// A PairDifference is what goes from a rank to another in two traces.
type PairDifference struct {
	Source      int  `json:"from"`
	Destination int  `json:"to"`
	A           Flow `json:"a_flow"`
	B           Flow `json:"b_flow"`
}

// A SizeDifference is how many messages have a size in two traces.
type SizeDifference struct {
	Bytes uint64 `json:"message_bytes"`
	A     uint64 `json:"a_messages"`
	B     uint64 `json:"b_messages"`
}

// of returns the options of one of the traces.
func (o *DiffOptions) of(side int) Options {
	one := o.Options
	one.Region = o.Regions[side]
	return one
}

// summarize counts what two traces have.
func (d *Diff) summarize(ctx context.Context, a, b *trace.Trace, o DiffOptions) error {
	o.Progress = nil
	var calls [2]uint64
	var functions [2]map[string]uint64
	for i, t := range []*trace.Trace{a, b} {
		var err error
		if calls[i], functions[i], err = countFunctions(ctx, t, o.of(i)); err != nil {
			return err
		}
	}
	d.A.Calls, d.B.Calls = calls[0], calls[1]
	d.Functions = countDifferences(functions[0], functions[1])
	return d.countMessages(ctx, a, b, o)
}

// countFunctions returns how many calls of each function a trace has.
func countFunctions(ctx context.Context, t *trace.Trace, o Options) (all uint64, functions map[string]uint64,
	err error) {
	functions = make(map[string]uint64)
	add := func(name string, n uint64) {
		functions[name], all = wire.AddSat(functions[name], n), wire.AddSat(all, n)
	}
	if o.Region == nil {
		p, err := countCalls(ctx, t, o)
		if err != nil {
			return 0, nil, err
		}
		for _, f := range p.Functions {
			add(f.Name, f.Calls)
		}
		return p.Calls, functions, nil
	}
	for shape := range t.Shapes() {
		parts, err := o.Region.Parts(shape)
		if err != nil {
			return 0, nil, err
		}
		for _, part := range parts {
			ranks := uint64(o.among(part.Ranks).Len())
			for s, n := range part.Grammar.Occurrences() {
				add(t.Functions()[t.FunctionOf(int(s))].Name, wire.MulSat(n, ranks))
			}
		}
	}
	return all, functions, nil
}

// countMessages fills in what differs in messages. It returns an error only if the work
// was cancelled.
func (d *Diff) countMessages(ctx context.Context, a, b *trace.Trace, o DiffOptions) error {
	var counted [2]*Messages
	for i, t := range []*trace.Trace{a, b} {
		if counted[i], d.Uncounted[i] = countMessages(ctx, t, o.of(i)); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if x, y := counted[0], counted[1]; x != nil && y != nil {
		d.Messages = &MessageDiff{
			A: x.Traffic.Flow, B: y.Traffic.Flow, UnplacedA: x.Traffic.Unplaced, UnplacedB: y.Traffic.Unplaced,
			Pairs: diffPairs(x.Traffic.Pairs, y.Traffic.Pairs), Sizes: diffSizes(x.Sizes.List, y.Sizes.List),
		}
	}
	return nil
}

// countMessages returns nil if the messages of a trace are not known.
func countMessages(ctx context.Context, t *trace.Trace, o Options) (*Messages, error) {
	model, err := semantics.Open(ctx, t)
	if err != nil || !model.Known() {
		return nil, err
	}
	return OpenMessages(ctx, model, 0, o)
}

func diffPairs(a, b []Pair) []PairDifference {
	var list []PairDifference
	together(a, b, comparePairs, func(p, q *Pair) {
		d := PairDifference{}
		if q != nil {
			d.Source, d.Destination, d.B = q.Source, q.Destination, q.Flow
		}
		if p != nil {
			d.Source, d.Destination, d.A = p.Source, p.Destination, p.Flow
		}
		if d.A != d.B {
			list = append(list, d)
		}
	})
	slices.SortStableFunc(list, func(x, y PairDifference) int {
		return cmp.Or(cmp.Compare(distance(y.A.Bytes, y.B.Bytes), distance(x.A.Bytes, x.B.Bytes)),
			cmp.Compare(distance(y.A.Messages, y.B.Messages), distance(x.A.Messages, x.B.Messages)))
	})
	return list
}

func diffSizes(a, b []SizeCount) []SizeDifference {
	var list []SizeDifference
	together(a, b, func(x, y SizeCount) int { return cmp.Compare(x.Bytes, y.Bytes) }, func(x, y *SizeCount) {
		d := SizeDifference{}
		if y != nil {
			d.Bytes, d.B = y.Bytes, y.Messages
		}
		if x != nil {
			d.Bytes, d.A = x.Bytes, x.Messages
		}
		if d.A != d.B {
			list = append(list, d)
		}
	})
	slices.SortStableFunc(list, func(x, y SizeDifference) int {
		bytes := func(d SizeDifference) uint64 { return SizeCount{d.Bytes, distance(d.A, d.B)}.All() }
		return cmp.Or(cmp.Compare(bytes(y), bytes(x)), cmp.Compare(distance(y.A, y.B), distance(x.A, x.B)))
	})
	return list
}

// together calls do for the elements of two sorted lists: for those that are equal
// together, for others with nil in the place of the other.
func together[E any](a, b []E, compare func(x, y E) int, do func(x, y *E)) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0:
			do(&a[0], nil)
			a = a[1:]
		case len(a) == 0 || compare(a[0], b[0]) > 0:
			do(nil, &b[0])
			b = b[1:]
		default:
			do(&a[0], &b[0])
			a, b = a[1:], b[1:]
		}
	}
}

package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/semantics"
)

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

// summarize counts what two traces have.
func (d *Diff) summarize(ctx context.Context, a, b *reprise.Trace, o Options) error {
	o.Unreadable, o.Progress = func(int, error) {}, nil // they have been told
	var calls [2]uint64
	var functions [2]map[string]uint64
	for i, t := range []*reprise.Trace{a, b} {
		p, err := countCalls(ctx, t, o)
		if err != nil {
			return err
		}
		calls[i], functions[i] = p.Calls, make(map[string]uint64)
		for _, f := range p.Functions {
			functions[i][f.Name] = f.Calls
		}
	}
	d.A.Calls, d.B.Calls = calls[0], calls[1]
	d.Functions = countDifferences(functions[0], functions[1])
	return d.countMessages(ctx, a, b, o)
}

// countMessages fills in what differs in messages. It returns an error only if the work
// was cancelled.
func (d *Diff) countMessages(ctx context.Context, a, b *reprise.Trace, o Options) error {
	var counted [2]*Messages
	for i, t := range []*reprise.Trace{a, b} {
		if counted[i], d.LostMessages[i] = countMessages(ctx, t, o); ctx.Err() != nil {
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
func countMessages(ctx context.Context, t *reprise.Trace, o Options) (*Messages, error) {
	model, err := semantics.Open(ctx, t)
	if err != nil || !model.Known() {
		return nil, err
	}
	all, ranks := &Messages{Traffic: new(Traffic), Sizes: new(Sizes)}, o.ranks(t)
	if err := o.ask(ctx, model, ranks, all.Traffic.question(model, ranks), all.Sizes.question(ranks)); err != nil {
		return nil, err
	}
	return all, nil
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

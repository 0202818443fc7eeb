package query

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Flow is an amount of messages. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
type Flow struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`                             // of the messages whose size is known
	Unknown  uint64 `json:"messages_of_unknown_size,omitzero"` // messages whose size is not known
}

// add adds messages of a size each, which may be [semantics.Unknown].
func (f *Flow) add(messages uint64, size int64) {
	f.Messages = wire.AddSat(f.Messages, messages)
	if size < 0 {
		f.Unknown = wire.AddSat(f.Unknown, messages)
	} else {
		f.Bytes = wire.AddSat(f.Bytes, wire.MulSat(messages, uint64(size)))
	}
}

// plus adds an amount to f.
func (f *Flow) plus(g Flow) {
	f.Messages = wire.AddSat(f.Messages, g.Messages)
	f.Bytes = wire.AddSat(f.Bytes, g.Bytes)
	f.Unknown = wire.AddSat(f.Unknown, g.Unknown)
}

// A Pair is what goes from one rank to another.
type Pair struct {
	Source      int `json:"from"` // ranks in the run
	Destination int `json:"to"`
	Volume
}

// A Traffic is what goes between the ranks of a run: in messages and, told apart, in collective
// operations.
//
// Messages are counted where they are sent: a message that nobody receives counts, and one
// that no call sends does not. What a rank puts into the memory of another goes from it to the
// other, what it gets comes from there, and if it fetches what was there before, bytes go both
// ways.
//
// Of a collective operation, those bytes count that the result says a rank has from another,
// as [semantics.Exchange] tells, whatever way an implementation sends them.
type Traffic struct {
	Volume // of all pairs, and of Unplaced

	Ranks int `json:"run_ranks"` // of the run

	// Pairs are the pairs between which something goes that is not in Uniform, by source and
	// then by destination. What goes from a rank to another is the sum of what both say.
	Pairs   []Pair         `json:"pairs"`
	Uniform []UniformPairs `json:"uniform_pairs"`

	// Unplaced is the traffic of which the trace does not say to, or from, which rank of
	// the run it goes.
	Unplaced Flow `json:"of_unknown_ranks,omitzero"`

	// Uncounted are the calls of collective operations whose data is in no pair, as the
	// trace does not say with whom the caller exchanges it.
	Uncounted uint64 `json:"collective_calls_of_unknown_ranks,omitzero"`
}

// sum sets the sum.
func (t *Traffic) sum() {
	t.Volume = Volume{Flow: t.Unplaced}
	for i := range t.Pairs {
		t.Add(t.Pairs[i].Volume)
	}
	for i := range t.Uniform {
		t.Exchanged.plus(t.Uniform[i].All())
	}
}

// Most returns how many pairs [Traffic.All] has at most.
func (t *Traffic) Most() uint64 {
	n := uint64(len(t.Pairs))
	for i := range t.Uniform {
		n = wire.AddSat(n, t.Uniform[i].pairs())
	}
	return n
}

// rowWindow is of how many destinations All holds what goes to them.
const rowWindow = 1 << 16

// All returns an iterator over all pairs of ranks between which something goes, by source and then by
// destination. It costs as much as there are pairs, which may be those of all ranks, and little memory.
func (t *Traffic) All() iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		from, to := t.occurring()
		row := make([]Volume, min(rowWindow, to.Len())) // by position in to, from a window on
		pairs := t.Pairs
		for _, source := range from.All() {
			for first := 0; first < to.Len(); first += len(row) {
				last := min(first+len(row), to.Len()) - 1
				for len(pairs) > 0 && pairs[0].Source == source && pairs[0].Destination <= to.At(last) {
					at, _ := to.Index(pairs[0].Destination)
					row[at-first] = pairs[0].Volume
					pairs = pairs[1:]
				}
				for i := range t.Uniform {
					if u := &t.Uniform[i]; u.From.Contains(source) {
						u.eachOf(source, to.At(first), to.At(last), func(destination int) {
							at, _ := to.Index(destination)
							row[at-first].Exchanged.plus(u.Blocks)
						})
					}
				}
				for at, v := range row[:last-first+1] {
					if v == (Volume{}) {
						continue
					}
					if !yield(Pair{source, to.At(first + at), v}) {
						return
					}
					row[at] = Volume{}
				}
			}
		}
	}
}

// occurring returns the ranks from which something may go, and those to which.
func (t *Traffic) occurring() (from, to rankenc.Set) {
	sources, destinations := make([]int, len(t.Pairs)), make([]int, len(t.Pairs))
	for i, p := range t.Pairs {
		sources[i], destinations[i] = p.Source, p.Destination
	}
	from, to = rankenc.SetOf(sources...), rankenc.SetOf(destinations...)
	for i := range t.Uniform {
		from, to = from.Union(t.Uniform[i].From), to.Union(t.Uniform[i].To)
	}
	return from, to
}

// eachRank calls do for each rank of a list, by its number in that list, several at
// once.
func (o *Options) eachRank(ctx context.Context, m *semantics.Model, ranks []int,
	do func(i int, r *semantics.Rank)) error {
	done := progress{tell: o.Progress}
	return o.each(ctx, len(ranks), func(i int) error {
		r, err := m.Rank(ranks[i])
		if err != nil {
			return err
		}
		do(i, r)
		done.add(1)
		return nil
	})
}

func comparePairs(a, b Pair) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
}

// mergePairs sorts pairs and adds up those of the same ranks.
func mergePairs(list []Pair) []Pair {
	if !slices.IsSortedFunc(list, comparePairs) {
		slices.SortFunc(list, comparePairs)
	}
	merged := list[:0]
	for _, p := range list {
		if n := len(merged); n > 0 && comparePairs(merged[n-1], p) == 0 {
			merged[n-1].Add(p.Volume)
		} else {
			merged = append(merged, p)
		}
	}
	return slices.Clip(merged)
}

// sends reports whether bytes go to the peer.
func sends(d semantics.Direction) bool {
	return d == semantics.Send || d == semantics.Put || d == semantics.Accumulate || d == semantics.Fetch
}

// fetches reports whether bytes come from the memory of the peer.
func fetches(d semantics.Direction) bool { return d == semantics.Get || d == semantics.Fetch }

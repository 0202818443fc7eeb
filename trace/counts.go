package trace

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A SignatureCount is how often ranks make the calls of a signature of the trace.
type SignatureCount struct {
	Signature int
	Calls     uint64 // of all these ranks; 2⁶⁴−1 if they are more
	Ranks     int    // that make them
}

// Counts returns how often ranks of s make which calls, in ascending order of the
// signatures. Where a rank has equal calls under several signatures, they count for the
// first, as in [Trace.Summaries] and [Rank.Signature]; those of a rank whose arguments
// cannot be read count where the grammar has them.
//
// It takes time in proportion to the signatures and, if ranks may have some of them as
// one, to these times the ranks.
func (s *Shape) Counts(ctx context.Context, ranks rankenc.Set) ([]SignatureCount, error) {
	sums := make([]SignatureCount, s.own)
	number := make(map[int]int, s.own)
	for i, n := range s.signatures[:s.own] {
		number[int(n)], sums[i].Signature = i, int(n)
	}
	each := make([]uint64, len(s.signatures)) // calls of each rank in the grammar
	for n, calls := range s.Grammar.Occurrences() {
		each[number[int(n)]] = calls
	}
	if err := s.count(ctx, ranks, each, sums); err != nil {
		return nil, err
	}
	sums = slices.DeleteFunc(sums, func(n SignatureCount) bool { return n.Ranks == 0 })
	slices.SortFunc(sums, func(a, b SignatureCount) int { return a.Signature - b.Signature })
	return sums, nil
}

// count sums up the calls of ranks, by the signatures of s.
func (s *Shape) count(ctx context.Context, ranks rankenc.Set, each []uint64, sums []SignatureCount) error {
	differs := make([]bool, len(sums)) // from rank to rank, maybe
	for _, l := range s.alike() {
		for _, i := range l.members {
			differs[i] = true
		}
	}
	for i := range sums {
		if !differs[i] {
			sums[i].Calls, sums[i].Ranks = wire.MulSat(each[i], uint64(ranks.Len())), ranks.Len()
		}
	}
	if len(s.alike()) == 0 {
		return nil
	}
	for _, rank := range ranks.All() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var firsts []uint32
		if stored, err := s.readStored(rank); err == nil {
			firsts = s.union(rank, stored).firsts
		}
		for i := range sums {
			if !differs[i] {
				continue
			}
			first := i
			if firsts != nil {
				first = int(firsts[i])
			}
			sums[first].Calls = wire.AddSat(sums[first].Calls, each[i])
			if first == i {
				sums[i].Ranks++
			}
		}
	}
	return nil
}

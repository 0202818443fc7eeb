package query

import (
	"context"

	"github.com/reprise-trace/reprise/semantics"
)

// A question is what is asked of each rank, several at once, by its number in a list, and
// what becomes of the answers when all ranks have been read.
type question struct {
	rank   func(i int, r *semantics.Rank)
	finish func()
}

// ask reads each rank of a list once for all questions.
func (o *Options) ask(ctx context.Context, m *semantics.Model, ranks []int, list ...question) error {
	err := o.eachRank(ctx, m, ranks, func(i int, r *semantics.Rank) {
		for _, q := range list {
			q.rank(i, r)
		}
	})
	if err != nil {
		return err
	}
	for _, q := range list {
		q.finish()
	}
	return nil
}

// Messages are the answers of [OpenTraffic] or [OpenMatrix], of [OpenCommunicators] and of
// [OpenSizes].
type Messages struct {
	Traffic       *Traffic // nil if there is a Matrix
	Matrix        *Matrix  // nil if there is a Traffic
	Communicators []CommunicatorUse
	Sizes         *Sizes
}

// OpenMessages answers several questions about messages and reads each rank once for all
// of them, which for ranks that do not repeat themselves takes longest. Traffic is by
// pairs of ranks, or by so many bins unless these are 0.
func OpenMessages(ctx context.Context, m *semantics.Model, bins int, o Options) (*Messages, error) {
	ranks := o.ranks(m.Trace())
	all := &Messages{Sizes: new(Sizes)}
	list := []question{all.Sizes.question(ranks), communicatorsQuestion(&all.Communicators, ranks)}
	if bins == 0 {
		all.Traffic = new(Traffic)
		list = append(list, all.Traffic.question(m, ranks))
	} else {
		var err error
		if all.Matrix, err = newMatrix(m.Trace().Ranks(), bins); err != nil {
			return nil, err
		}
		list = append(list, all.Matrix.question(ranks))
	}
	if err := o.ask(ctx, m, ranks, list...); err != nil {
		return nil, err
	}
	return all, nil
}

package query

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// RanksWithout returns the ranks that made calls but none of a function: without
// MPI_Finalize, those that did not come to it, or did not record it. Ranks that cannot be
// read are left out. It reads the grammars of shapes, no ranks.
func RanksWithout(ctx context.Context, t *reprise.Trace, function string, o Options) (rankenc.Set, error) {
	merged := t
	without := make([]rankenc.Set, merged.Shapes())
	err := o.each(ctx, merged.Shapes(), func(number int) error {
		s, err := merged.Shape(number)
		if err != nil || slices.ContainsFunc(s.Grammar.FirstUse(), func(n sequitur.Symbol) bool {
			return t.Functions()[merged.FunctionOf(int(n))].Name == function
		}) {
			return nil
		}
		without[number] = o.among(s.Ranks)
		return nil
	})
	return rankenc.UnionOf(without...), err
}

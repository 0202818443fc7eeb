package main

import (
	"context"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// A cutShort is the ranks of a run of MPI that have no call of MPI_Finalize: their processes
// died, or recording was off. The call that each was in is not in the trace: a call is
// recorded when it returns.
type cutShort struct {
	Unfinished string `json:"ranks_without_finalize,omitzero"` // as a list

	unfinished rankenc.Set
}

// findUnfinished finds the ranks, of those that a query is about.
func (c *cutShort) findUnfinished(ctx context.Context, trace *reprise.Trace, q query.Options) (err error) {
	if trace.Run().Source != collect.Source {
		return nil
	}
	c.unfinished, err = query.RanksWithout(ctx, trace, "MPI_Finalize", query.Options{Ranks: q.Ranks})
	c.Unfinished = c.unfinished.String()
	return err
}

// printUnfinished names the ranks, if there are any.
func (c *cutShort) printUnfinished(w io.Writer) {
	if c.unfinished.Len() > 0 {
		fmt.Fprintf(w, "without MPI_Finalize, to which they did not come or which was not recorded: %s\n", text.Ranks(c.unfinished))
	}
}

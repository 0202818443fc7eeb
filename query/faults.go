package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// maxShown is of how many calls without a partner Faults has the text.
const maxShown = 10

// Faults tells which calls of a run have no partner, or else which wait for each other for ever,
// a text each; the first 10 texts have the call. It is empty if there are none, if the functions
// have no known meaning, and if the run is too long to be replayed.
func Faults(ctx context.Context, t *trace.Trace) (list []string, err error) {
	model, err := semantics.Open(ctx, t)
	if err != nil || !model.Known() {
		return nil, err
	}
	m, err := OpenMatch(ctx, model, Options{})
	if err != nil {
		return nil, err
	}
	unmatched := m.Unmatched
	if err := m.Firsts(ctx, unmatched[:min(len(unmatched), maxShown)], Options{}); err != nil {
		return nil, err
	}
	for _, u := range unmatched {
		text := fmt.Sprintf("rank %d of %d would call what has no partner", u.Rank, t.Ranks())
		if u.First != nil {
			rank, err := t.Folded(u.Rank, nil)
			if err != nil {
				return nil, err
			}
			for c, err := range rank.Calls(*u.First) {
				if err != nil {
					return nil, err
				}
				text += ", " + c.String()
				break
			}
		}
		list = append(list, text)
	}
	if len(list) > 0 {
		return list, nil
	}
	stuck := new(replay.DeadlockError)
	if _, err := replay.Run(ctx, model, replay.Instant{}); !errors.As(err, &stuck) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, nil // a run that is too long to replay is none that is wrong
	}
	for _, w := range stuck.Waiting {
		list = append(list, "a deadlock: "+w.String())
	}
	return list, nil
}

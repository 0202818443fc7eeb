package extrapolate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// check returns an [Error] if messages of a run do not match, or if it comes to a deadlock, and a trace that it is made of
// does neither.
func (r *Result) check(ctx context.Context, from *trace.Trace) error {
	var file bytes.Buffer
	if _, err := layout.Unread(r.parts.WriteContext(ctx, &file)); err != nil {
		return err
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), int64(min(from.Memory(), math.MaxInt64)))
	if err != nil {
		return err
	}
	wrong, err := faults(ctx, tr)
	if err != nil || len(wrong) == 0 {
		return err
	}
	known, err := faults(ctx, from)
	if err != nil || len(known) > 0 {
		return err
	}
	return &Error{Problems: wrong}
}

// faults returns which calls of a run have no partner, or else which wait for ever.
func faults(ctx context.Context, t *trace.Trace) (list []string, err error) {
	model, err := semantics.Open(ctx, t)
	if err != nil || !model.Known() {
		return nil, err
	}
	m, err := query.OpenMatch(ctx, model, query.Options{})
	if err != nil {
		return nil, err
	}
	unmatched := m.Unmatched
	if err := m.Firsts(ctx, unmatched[:min(len(unmatched), maxProblems)], query.Options{}); err != nil {
		return nil, err
	}
	for _, u := range unmatched {
		text := fmt.Sprintf("rank %d of %d would call what has no partner", u.Rank, t.Ranks())
		if u.First != nil {
			rank, err := t.Rank(u.Rank)
			if err != nil {
				return nil, err
			}
			for c, err := range rank.CallsFrom(*u.First) {
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

package extrapolate

import (
	"bytes"
	"context"
	"math"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/trace"
)

// check returns the faults of a run if a trace that it is made of has none.
func (r *Result) check(ctx context.Context, from *trace.Trace,
	faults func(context.Context, *trace.Trace) ([]string, error)) ([]string, error) {
	if faults == nil {
		return nil, nil
	}
	var file bytes.Buffer
	unread, err := layout.Unread(r.parts.WriteContext(ctx, &file))
	if err != nil {
		return nil, err
	}
	r.written, r.unread = file.Bytes(), unread
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()),
		trace.Options{Memory: int64(min(from.Memory(), math.MaxInt64))})
	if err != nil {
		return nil, err
	}
	wrong, err := faults(ctx, tr)
	if err != nil || len(wrong) == 0 {
		return nil, err
	}
	known, err := faults(ctx, from)
	if err != nil || len(known) > 0 {
		return nil, err
	}
	return wrong, nil
}

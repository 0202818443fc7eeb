package extrapolate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// counted is a context that is cancelled when it has been asked so often.
type counted struct {
	context.Context
	left *atomic.Int64
}

func (c counted) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelled cancels Make wherever it asks whether to go on.
func TestCancelled(t *testing.T) {
	never := func(int) bool { return false }
	var traces []*trace.Trace
	for _, ranks := range []int{4, 6, 8, 10, 16} {
		traces = append(traces, chain(t, ranks, func(rank int) bool { return rank%2 == 1 }, never))
	}
	cancelled := 0
	for asked := int64(0); ; asked += 1 + asked/int64(tier.Number(2, 16)) {
		ctx := counted{context.Background(), new(atomic.Int64)}
		ctx.left.Store(asked)
		r, err := extrapolate.Make(ctx, traces, extrapolate.Options{Ranks: 12, Check: query.Faults})
		switch {
		case errors.Is(err, context.Canceled):
			cancelled++
			continue
		case ctx.left.Load() < 0:
			t.Errorf("cancelled when asked %d times: result %v, error %v", asked, r != nil, err)
			continue
		case err != nil:
			t.Fatal(err)
		}
		break
	}
	if cancelled == 0 {
		t.Error("never cancelled")
	}
	t.Log(cancelled, "places")
}

package events

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// Options configure [Open]. The zero Options is the default configuration: all calls.
type Options struct {
	// Ranks are the ranks to take. An empty set means all.
	Ranks rankenc.Set

	// From and To bound the stretch of time to take the calls of: those that end after
	// From and begin before To, in nanoseconds since the run began. To zero means the
	// end.
	From, To int64

	// Progress is told, every few thousand calls, how many were taken so far. Its error
	// ends the work. Nil means nobody is told.
	Progress func(calls uint64) error
}

// A Trace is what was chosen of a trace. It must not be used by two goroutines at once.
type Trace struct {
	ctx     context.Context
	trace   *reprise.Trace
	options Options
	printer *reprise.Printer
	times   *query.Times
	calls   uint64 // taken so far
}

// Open returns what o chooses of t. When ctx is done, going through the calls ends
// with its error.
func Open(ctx context.Context, t *reprise.Trace, o Options) (*Trace, error) {
	if o.To == 0 {
		o.To = math.MaxInt64
	}
	if o.From < 0 || o.To <= o.From {
		return nil, fmt.Errorf("there is no time from %d to %d ns", o.From, o.To)
	}
	times, err := query.OpenTimes(t)
	if err != nil {
		return nil, err
	}
	if o.Ranks.Len() == 0 {
		o.Ranks = rankenc.World(t.Ranks())
	}
	return &Trace{ctx: ctx, trace: t, options: o, printer: t.Printer(reprise.PrintOptions{Absolute: true}), times: times}, nil
}

// Source returns the trace of which t is a choice.
func (t *Trace) Source() *reprise.Trace { return t.trace }

// Ranks returns an iterator over the ranks that were chosen and made calls, in
// ascending order.
func (t *Trace) Ranks() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, rank := range t.options.Ranks.All() {
			if _, ok := t.trace.Merged().ShapeOf(int(rank)); ok && !yield(int(rank)) {
				return
			}
		}
	}
}

// Calls returns how many calls were taken so far.
func (t *Trace) Calls() uint64 { return t.calls }

// callsPerStep is how many calls pass between two looks at the context.
const callsPerStep = 4096

// step counts a call.
func (t *Trace) step() error {
	if t.calls++; t.calls%callsPerStep != 0 {
		return nil
	}
	if t.options.Progress != nil {
		if err := t.options.Progress(t.calls); err != nil {
			return err
		}
	}
	return t.ctx.Err()
}

package events

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// Options configure [Open]. The zero Options is the default configuration: all calls.
type Options struct {
	// Ranks are the ranks to take. An empty set means all.
	Ranks rankenc.Set

	// Between is when the calls are that are wanted. Nil means all calls.
	Between *Interval

	// Lost is told of a rank that cannot be read, which is left out, or of which some
	// times cannot be read: these calls take no time, right after the call before. Its
	// error ends the work. Nil means to end it with the error.
	Lost func(rank int, times bool, err error) error

	// Progress is told, every few thousand calls and at the end, how many were taken so
	// far. Its error ends the work. Nil means nobody is told.
	Progress func(calls uint64) error
}

// An Interval is a stretch of time in nanoseconds since the run began: that of the calls
// between From and To, as [query.Overlaps] has it, by the times that the trace tells.
// Those of an [Event] may be others, also after To, so that the calls of a thread lie
// apart or in one another.
type Interval struct{ From, To int64 }

// A Trace is what was chosen of a trace. It must not be used by two goroutines at once.
type Trace struct {
	ctx     context.Context
	trace   *reprise.Trace
	options Options
	printer *reprise.Printer
	times   *query.Times
	calls   uint64 // taken so far
	passed  uint64 // those and others

	names     map[*cst.Function][]string // of arguments
	numbering *query.Numbering           // of messages; nil if they have none
}

// Open returns what o chooses of t. When ctx is done, going through the calls ends
// with its error.
func Open(ctx context.Context, t *reprise.Trace, o Options) (*Trace, error) {
	if o.Between == nil {
		o.Between = &Interval{0, math.MaxInt64}
	}
	if o.Between.From < 0 || o.Between.To < o.Between.From {
		return nil, fmt.Errorf("there is no time from %d to %d ns", o.Between.From, o.Between.To)
	}
	times, err := query.OpenTimes(t)
	if err != nil {
		return nil, err
	}
	if o.Ranks.Len() == 0 {
		o.Ranks = rankenc.World(t.Ranks())
	}
	printer := t.Printer(reprise.PrintOptions{Absolute: true})
	return &Trace{ctx: ctx, trace: t, options: o, printer: printer, times: times, names: make(map[*cst.Function][]string)}, nil
}

// Source returns the trace of which t is a choice.
func (t *Trace) Source() *reprise.Trace { return t.trace }

// Ranks returns an iterator over the ranks that were chosen and made calls, in ascending
// order. An error ends it.
func (t *Trace) Ranks() iter.Seq2[*Rank, error] {
	return func(yield func(*Rank, error) bool) {
		for _, rank := range t.options.Ranks.All() {
			if _, ok := t.trace.Merged().ShapeOf(int(rank)); !ok {
				continue
			}
			r, err := t.open(int(rank))
			if err != nil {
				if err = t.lose(int(rank), false, err); err == nil {
					continue
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := t.Done(); err != nil {
			yield(nil, err)
		}
	}
}

// Done tells Options.Progress how many calls were taken so far. Ranks does so at its end:
// who goes through calls after that, when these are done.
func (t *Trace) Done() error {
	if t.options.Progress == nil {
		return nil
	}
	return t.options.Progress(t.calls)
}

// lose tells of what cannot be read.
func (t *Trace) lose(rank int, times bool, err error) error {
	if t.options.Lost == nil || t.ctx.Err() != nil {
		return err
	}
	return t.options.Lost(rank, times, err)
}

// Begin returns when the run began, by the clock of the trace, in nanoseconds; 0 if that
// is not known.
func (t *Trace) Begin() int64 {
	begin, err := t.times.Begin()
	if err != nil {
		return 0
	}
	return begin
}

// callsPerStep is how many calls pass between two looks at the context.
const callsPerStep = 4096

// step passes a call, which is taken or not.
func (t *Trace) step(taken bool) error {
	if taken {
		t.calls++
	}
	if t.passed++; t.passed%callsPerStep != 0 {
		return nil
	}
	if t.options.Progress != nil {
		if err := t.options.Progress(t.calls); err != nil {
			return err
		}
	}
	return t.ctx.Err()
}

package replay_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// fibonacci returns the grammar of a sequence of two terminals, whose rules are each the two before: it has
// no loops, and with 58 rules it has 1.5·10¹² calls.
func fibonacci(t tester, rules byte) *sequitur.Grammar {
	t.Helper()
	const ruleBefore, ruleBeforeThat = 0<<2 | 2, 1<<2 | 2
	data := []byte{rules, 2, 0 << 2, 1 << 2, 2, ruleBefore, 0 << 2} // the rules, and the first two: 0 1, and that and 0
	for range rules - 2 {
		data = append(data, 2, ruleBefore, ruleBeforeThat)
	}
	g, err := sequitur.Parse(data, sequitur.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// endlessRun returns a run of two ranks with two collective operations that take turns as fibonacci says, of
// which the order may be lost.
func endlessRun(t tester, lost bool) *semantics.Model {
	t.Helper()
	var parts []merge.Part
	for rank := range 2 {
		var r testtrace.Recording
		r.MPI(1, "MPI_Barrier", "comm", world)
		r.MPI(1, "MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", world)
		p := r.Finish(rank)
		p.Grammar = fibonacci(t, 58)
		if lost {
			p.Bounded = &format.Bounded{Stretches: map[int][]format.Stretch{rank: {{First: 0, Calls: p.Grammar.Len()}}}}
		}
		parts = append(parts, p)
	}
	return open(t, testtrace.Write(t, merge.Run{Ranks: 2}, parts))
}

// TestLongCancelled checks that a replay of calls that cannot be skipped says how many it has executed, and
// that it ends within a few turns when its context does, as does one of calls whose order is lost.
func TestLongCancelled(t *testing.T) {
	model := endlessRun(t, false)
	cause := errors.New("enough")
	for _, o := range []replay.Options{{}, {CriticalPath: true},
		{Ended: func(*replay.Call, replay.Time, replay.Time) {}}} {
		stopping, stop := context.WithCancelCause(ctx)
		executed, at, told := uint64(0), uint64(0), uint64(0)
		o.Progress = func(calls uint64) {
			if calls < told || calls > executed {
				t.Fatalf("%d calls after %d, of %d", calls, told, executed)
			}
			if told, at = calls, executed; calls > 1<<17 {
				stop(cause)
			}
		}
		_, err := replay.RunWith(stopping, model, counted{mixed{seed: 1}, &executed}, o)
		if !errors.Is(err, cause) || told < 1<<17 || executed > at+1024 {
			t.Errorf("%v: %d calls are executed after %d, told %d", err, executed-at, at, told)
		}
	}
	stopping, stop := context.WithCancelCause(ctx)
	stop(cause)
	if _, err := replay.Run(stopping, endlessRun(t, true), mixed{seed: 1}); !errors.Is(err, cause) {
		t.Error(err)
	}
	if _, err := replay.Run(ctx, endlessRun(t, true), mixed{seed: 1}); !errors.Is(err, replay.ErrTooMany) {
		t.Error(err)
	}
}

// TestProgressSkipped checks that skipped calls count as done.
func TestProgressSkipped(t *testing.T) {
	p := programs.Stencil2D(2, 2, 1<<30)
	model := open(t, testtrace.Write(t, p.Run(), p.Parts()))
	last := uint64(0)
	res, err := replay.RunWith(ctx, model, replay.Instant{}, replay.Options{Progress: func(calls uint64) {
		last = calls
	}})
	if err != nil || last < res.Calls/2 || last > res.Calls {
		t.Errorf("%v, %d of %d calls are told", err, last, res.Calls)
	}
}

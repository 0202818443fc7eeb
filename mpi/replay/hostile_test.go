package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// meant are the functions of MPI that mean something to a replay.
var meant = func() (list []spec.Function) {
	for _, f := range spec.Functions() {
		for _, word := range []string{"end", "ecv", "Start", "Wait", "Test", "cast", "ather", "educe",
			"arrier", "Win_", "Put", "Get", "probe", "Probe", "Request_free", "ancel", "Comm_split",
			"Comm_dup", "Finalize"} {
			if strings.Contains(f.Name, word) {
				list = append(list, f)
				break
			}
		}
	}
	return list
}()

// drawValue draws a value of a type, with numbers that are often equal.
func drawValue(t *rapid.T, typ cst.Type) cst.Value {
	n := rapid.OneOf(rapid.Int64Range(-3, 2), rapid.SampledFrom([]int64{-9, -33, 1 << 62, -1 << 63})).Draw(t, "n")
	switch typ.Kind {
	case cst.KindFloat:
		return cst.Float(1)
	case cst.KindString:
		return cst.String("s")
	case cst.KindBytes:
		return cst.Bytes(nil)
	case cst.KindRank:
		return cst.Rank(n)
	case cst.KindTag:
		return cst.Tag(n)
	case cst.KindHandle:
		return cst.Handle(n)
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: n})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: n, Tag: n})
	case cst.KindArray:
		var elems []cst.Value
		for range rapid.IntRange(0, 3).Draw(t, "elems") {
			elems = append(elems, drawValue(t, *typ.Elem))
		}
		return cst.Array(elems...)
	}
	return cst.Int(n)
}

// TestAnything checks that calls that no program makes are replayed to their end, or to what
// they wait for, the same way with events and without.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []merge.Part
		functions := rapid.SliceOfN(rapid.SampledFrom(meant), 1, 6).Draw(t, "functions")
		for rank := range rapid.IntRange(1, 3).Draw(t, "ranks") {
			var r testtrace.Recording
			drawCalls(t, &r, functions, 12, func(p spec.Param) cst.Value {
				if p.Name == "comm" && rapid.Bool().Draw(t, "world") {
					return cst.Handle(-3)
				}
				return drawValue(t, p.Type)
			})
			parts = append(parts, r.Finish(rank))
		}
		testAnything(t, testtrace.Write(t,
			merge.Run{Ranks: rapid.SampledFrom([]int{3, 1 << 30}).Draw(t, "size")}, parts))
	})
}

// TestAnyLocks does so with calls on windows, which often have arguments that mean something.
func TestAnyLocks(t *testing.T) {
	choices := map[string][]cst.Value{
		"lock_type": {cst.Int(1), cst.Int(2)}, "assert": {cst.Int(0), cst.Int(0), cst.Int(0), cst.Int(1)},
		"win": {cst.Handle(0), cst.Handle(0), cst.Handle(1)}, "request": {cst.Handle(0), cst.Handle(1)},
		"comm": {cst.Handle(-3)},
		"rank": {cst.Rank(0), cst.Rank(1), cst.Rank(7)}, "target_rank": {cst.Rank(0), cst.Rank(1), cst.Rank(2)},
	}
	var functions []spec.Function
	for _, f := range spec.Functions() {
		switch spec.Base(f.Name) {
		case "Win_lock", "Win_lock_all", "Win_unlock", "Win_unlock_all", "Win_flush", "Win_flush_all", "Put",
			"Rput", "Wait", "Barrier":
			functions = append(functions, f)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var parts []merge.Part
		for rank := range 3 {
			var r testtrace.Recording
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 1)
			drawCalls(t, &r, functions, 20, func(p spec.Param) cst.Value {
				if list := choices[p.Name]; list != nil && rapid.IntRange(0, 19).Draw(t, "other") > 0 {
					return rapid.SampledFrom(list).Draw(t, "argument")
				}
				return drawValue(t, p.Type)
			})
			parts = append(parts, r.Finish(rank))
		}
		testAnything(t, testtrace.Write(t, merge.Run{Ranks: 3}, parts))
	})
}

// drawCalls draws calls of functions, with arguments as a function draws them.
func drawCalls(t *rapid.T, r *testtrace.Recording, functions []spec.Function, most int,
	argument func(spec.Param) cst.Value) {
	for range rapid.IntRange(1, most).Draw(t, "calls") {
		f := rapid.SampledFrom(functions).Draw(t, "function")
		made := cst.Function{Name: f.Name}
		var args []cst.Value
		if thread := rapid.IntRange(0, 2).Draw(t, "thread"); thread > 0 {
			made.Params, args = append(made.Params, cst.Param{Name: trace.ThreadParam,
				Type: cst.Type{Kind: cst.KindInt}}), append(args, cst.Int(int64(thread)))
		}
		for _, p := range f.Params {
			made.Params = append(made.Params, cst.Param{Name: p.Name, Type: p.Type, Direction: p.Direction})
			args = append(args, argument(p))
		}
		if rapid.IntRange(0, 9).Draw(t, "in flight") == 0 {
			made.Params, args = append(made.Params, spec.InFlight.Param()), append(args, cst.Int(0))
		}
		r.Call(r.Declare(made), args...)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
}

func testAnything(t *rapid.T, tr *trace.Trace) {
	soon, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	model, err := semantics.Open(soon, tr)
	if err != nil {
		t.Fatal(err)
	}
	any := &recording{t: t, times: make(map[call][2]replay.Time)}
	for _, number := range tr.RankSet().All() {
		rank := int(number)
		now := replay.Time(rapid.Int64Range(-5, 5).Draw(t, "first"))
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for position := range r.Len() {
			start := now + replay.Time(rapid.Int64Range(-3, 9).Draw(t, "gap"))
			now = start + replay.Time(rapid.Int64Range(0, 9).Draw(t, "duration"))
			any.times[call{rank, position}] = [2]replay.Time{start, now}
		}
	}
	if _, err := replay.Waits(soon, model, any, nil); err != nil {
		t.Fatal(err)
	}
	for _, machine := range []replay.Machine{replay.Instant{Synchronous: true}, uneven{}} {
		res, err := replay.Run(soon, model, machine)
		if err != nil && !errors.As(err, new(*replay.DeadlockError)) {
			t.Fatal(err)
		}
		calls := uint64(0)
		var last error
		for event, err := range replay.Events(soon, model, machine) {
			if last = err; err == nil && event.Message == nil {
				calls++
			}
		}
		if (last == nil) != (err == nil) || err == nil && calls != res.Calls {
			t.Fatalf("%d calls, %v, with events; %d, %v without", calls, last, res.Calls, err)
		}
	}
}

package query

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// duplicates returns the trace of two ranks that make n communicators one after the other,
// which all have the same id.
func duplicates(t tester, n int) *reprise.Trace {
	var parts []merge.Part
	for rank := range 2 {
		var r tracer.Recorder
		dup, barrier, free := r.Declare(mpiFunctions[7]), r.Declare(mpiFunctions[5]), r.Declare(mpiFunctions[8])
		for range n {
			r.Call(dup, cst.Handle(-3), cst.Handle(0))
			r.Call(barrier, cst.Handle(0))
			r.Call(free, cst.Handle(0))
		}
		parts = append(parts, r.Finish(rank))
	}
	return openParts(t, merge.Run{Ranks: 2}, parts)
}

// Communicators that share an id are matched by going through the calls once, not once for
// each of them.
func TestMatchManyCommunicators(t *testing.T) {
	const n = 20_000
	trace := duplicates(t, n)
	begin := time.Now()
	m := openMatch(t, trace)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("%d communicators took %v", n, took)
	}
	if len(m.Instances) < n {
		t.Fatalf("%d communicators", len(m.Instances))
	}
	for _, i := range m.Instances {
		if len(i.Different) > 0 || i.Communicator.Name != "world" && i.Count != 1 && i.Count != 2 {
			t.Fatalf("%s: %+v", i.Communicator.Name, i)
		}
	}
	checkInstances(t, m, matchSlowly(t, m.model), 1000)
}

// A query that goes through calls stops when it is cancelled.
func TestMatchCancelled(t *testing.T) {
	model := openModel(t, duplicates(t, 50_000))
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	r, err := model.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	m := &Match{model: model}
	if _, err := m.operationsOf(ctx, r); !errors.Is(err, enough) {
		t.Errorf("operations: %v", err)
	}
	all, err := m.operationsOf(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.walk(ctx); !errors.Is(err, enough) {
		t.Errorf("walk: %v", err)
	}
	if _, err := OpenMatch(ctx, model, Options{}); !errors.Is(err, enough) {
		t.Errorf("match: %v", err)
	}
}

// The first calls of many channels are found together, with memory in proportion to them.
func TestFirstsMemory(t *testing.T) {
	const tags = 4000
	var parts []merge.Part
	for rank := range 2 {
		var r tracer.Recorder
		send := r.Declare(mpiFunctions[0])
		for tag := range int64(tags) {
			if rank == 0 {
				r.Call(send, cst.Int(1), cst.Handle(-33), cst.Rank(1), cst.Tag(tag), cst.Handle(-3))
			}
		}
		r.Call(r.Declare(mpiFunctions[5]), cst.Handle(-3))
		parts = append(parts, r.Finish(rank))
	}
	m := openMatch(t, openParts(t, merge.Run{Ranks: 2}, parts))
	if len(m.Unmatched) != tags {
		t.Fatalf("%d unmatched", len(m.Unmatched))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, err := m.Firsts(t.Context(), m.Unmatched, Options{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range m.Unmatched {
		if list[i] != uint64(u.Tag) {
			t.Fatalf("the first with tag %d is call %d", u.Tag, list[i])
		}
	}
	if took := (after.TotalAlloc - before.TotalAlloc) / tags; took > 10_000 {
		t.Errorf("%d bytes for each of %d channels", took, tags)
	}
}

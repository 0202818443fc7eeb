package query

import (
	"context"
	"errors"
	"math/bits"
	"runtime"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// duplicates returns the trace of two ranks that make n communicators one after the other,
// which all have the same id, in no loop: what they do between is a sequence without cubes.
func duplicates(t tester, n int) *trace.Trace {
	var parts []merge.Part
	for rank := range 2 {
		var r tracer.Recorder
		dup, barrier, free := r.Declare(mpiFunctions[7]), r.Declare(mpiFunctions[5]), r.Declare(mpiFunctions[8])
		for i := range n {
			r.Call(dup, cst.Handle(-3), cst.Handle(0))
			r.Call(barrier, cst.Handle(0))
			r.Call(free, cst.Handle(0))
			if bits.OnesCount(uint(i))%2 == 0 {
				r.Call(barrier, cst.Handle(-3))
			}
		}
		parts = append(parts, r.Finish(rank))
	}
	return openParts(t, merge.Run{Ranks: 2}, parts)
}

// looped returns the trace of two ranks that repeat the calls of some rounds so many times.
func looped(t tester, rounds uint64, record func(rank int, call func(function int, args ...cst.Value))) *trace.Trace {
	var parts []merge.Part
	for rank := range 2 {
		var r tracer.Recorder
		record(rank, func(function int, args ...cst.Value) { r.Call(r.Declare(mpiFunctions[function]), args...) })
		p := r.Finish(rank)
		var runs []sequitur.Run
		for _, s := range p.Grammar.AppendSymbols(nil) {
			runs = append(runs, sequitur.Run{Symbol: s, Count: 1})
		}
		var b sequitur.Builder
		b.AppendLoop(runs, rounds)
		p.Grammar = b.Finish()
		parts = append(parts, p)
	}
	return openParts(t, merge.Run{Ranks: 2}, parts)
}

// twoIDs is a round in which one id is that of a communicator and then of another, which is
// made of the first one's duplicate.
func twoIDs(rank int, call func(function int, args ...cst.Value)) {
	const send, recv, barrier, bcast, dup, free = 0, 1, 5, 6, 7, 8
	for range 3 {
		call(dup, cst.Handle(-3), cst.Handle(0))
		call(barrier, cst.Handle(0))
		call(free, cst.Handle(0))
	}
	call(barrier, cst.Handle(-3))
	call(dup, cst.Handle(-3), cst.Handle(1))
	call(dup, cst.Handle(1), cst.Handle(0))
	call(barrier, cst.Handle(0))
	call(bcast, cst.Int(1), cst.Rank(0), cst.Handle(0))
	if rank == 0 {
		call(send, cst.Int(1), cst.Handle(-33), cst.Rank(1), cst.Tag(3), cst.Handle(0))
	} else {
		call(recv, cst.Int(1), cst.Handle(-33), cst.Rank(0), cst.Tag(3), cst.Handle(0), cst.StatusOf(cst.Status{}))
	}
	call(free, cst.Handle(0))
	call(free, cst.Handle(1))
}

// Loops that make communicators of one id after the other are gone through.
func TestMatchLoops(t *testing.T) {
	const rounds = 200
	m := openMatch(t, looped(t, rounds, twoIDs))
	if len(m.Instances) != 1+5*rounds || len(m.Unmatched) > 0 || m.Messages != rounds {
		t.Fatalf("%d communicators, %d messages, %v", len(m.Instances), m.Messages, m.Unmatched)
	}
	checkInstances(t, m, matchSlowly(t, m.model), 37)
}

// Of a loop that makes too many communicators to be told apart, operations on the world are
// matched, and the rest is told, at once.
func TestMatchTooMany(t *testing.T) {
	const rounds = 1 << 28
	m := openMatch(t, looped(t, rounds, twoIDs))
	if err := m.model.Unresolved(); !errors.Is(err, format.ErrLimit) {
		t.Errorf("unresolved: %v", err)
	}
	if len(m.Instances) != 1 || m.Instances[0].Communicator != m.model.World() ||
		m.Instances[0].Count != 5*rounds || len(m.Instances[0].Different) > 0 {
		t.Errorf("%+v", m.Instances)
	}
	if m.Messages != 0 {
		t.Errorf("%d messages", m.Messages)
	}
}

// Communicators that share an id are matched by going through the calls once, not once for
// each of them.
func TestMatchManyCommunicators(t *testing.T) {
	n := 20_000
	if !tier.Nightly {
		n /= 10
	}
	tr := duplicates(t, n)
	begin := time.Now()
	m := openMatch(t, tr)
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
	err := m.Firsts(t.Context(), m.Unmatched, Options{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range m.Unmatched {
		if *u.First != uint64(u.Tag) {
			t.Fatalf("the first with tag %d is call %d", u.Tag, *u.First)
		}
	}
	if took := (after.TotalAlloc - before.TotalAlloc) / tags; took > 10_000 {
		t.Errorf("%d bytes for each of %d channels", took, tags)
	}
}

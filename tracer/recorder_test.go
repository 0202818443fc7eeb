package tracer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

var (
	send = cst.Function{Name: "send", Params: []cst.Param{
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "data", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})},
	}}
	barrier = cst.Function{Name: "barrier"}
)

// A call is an element of the model of a Recorder.
type call struct {
	f    cst.Function
	args []cst.Value
}

// expand lists the calls of a part.
func expand(p merge.Part) []call {
	var calls []call
	for _, s := range p.Grammar.All() {
		fn, args := p.Table.Signature(s)
		calls = append(calls, call{p.Table.Functions()[fn], args})
	}
	return calls
}

func equalCalls(a, b []call) bool {
	return slices.EqualFunc(a, b, func(c, d call) bool {
		return c.f.Equal(d.f) && slices.EqualFunc(c.args, d.args, cst.Value.Equal)
	})
}

// TestRecorder checks a Recorder against a slice, across Finish.
func TestRecorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			r        Recorder
			want     []call
			parts    []merge.Part
			finished [][]call // what parts hold
		)
		record := func(f cst.Function, args ...cst.Value) {
			r.Call(r.Declare(f), args...)
			want = append(want, call{f, args})
		}
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				data := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 2), cst.Int), 0, 2).Draw(t, "data")
				record(send, cst.Rank(rapid.Int64Range(0, 2).Draw(t, "dest")), cst.Array(data...))
			},
			"loop": func(t *rapid.T) {
				for range rapid.IntRange(0, 9).Draw(t, "rounds") {
					record(barrier)
					record(send, cst.Rank(7), cst.Array())
				}
			},
			"snapshot": func(t *rapid.T) {
				parts, finished = append(parts, r.Snapshot(len(parts))), append(finished, slices.Clone(want))
			},
			"finish": func(t *rapid.T) {
				parts, finished = append(parts, r.Finish(len(parts))), append(finished, want)
				want = nil
				if n := r.Declare(barrier); n != 0 {
					t.Fatalf("function %d in an empty Recorder", n)
				}
			},
			"": func(t *rapid.T) { // parts handed out earlier never change
				if r.Len() != uint64(len(want)) {
					t.Fatalf("Len = %d, want %d", r.Len(), len(want))
				}
				for rank, p := range parts {
					if got := expand(p); p.Rank != rank || !equalCalls(got, finished[rank]) {
						t.Fatalf("part %d of rank %d holds %v, want %v", rank, p.Rank, got, finished[rank])
					}
				}
			},
		})
		if got := expand(r.Finish(0)); !equalCalls(got, want) {
			t.Fatalf("recorded %v, want %v", got, want)
		}
	})
}

// TestRefused checks that a call that is refused leaves nothing behind but an error.
func TestRefused(t *testing.T) {
	var r Recorder
	fn := r.Declare(send)
	r.Call(fn, cst.Rank(1), cst.Array(cst.Int(2)))
	tests := map[string]func(){
		"NoFunction":      func() { r.Call(fn + 1) },
		"TooFew":          func() { r.Call(fn, cst.Rank(1)) },
		"TooMany":         func() { r.Call(fn, cst.Rank(1), cst.Array(), cst.Int(0)) },
		"Kind":            func() { r.Call(fn, cst.Rank(1), cst.Int(2)) },
		"KindOfElement":   func() { r.Call(fn, cst.Rank(1), cst.Array(cst.Int(2), cst.Rank(2))) },
		"InvalidFunction": func() { r.Declare(cst.Function{Params: make([]cst.Param, 1)}) },
	}
	n := 0
	for name, f := range tests {
		n++
		if f(); r.Err() == nil || !strings.Contains(r.Err().Error(), fmt.Sprint(n, " calls")) {
			t.Errorf("%s: %v", name, r.Err())
		}
	}
	p := r.Finish(0)
	if p.Grammar.Len() != 1 || p.Table.Len() != 1 || len(p.Table.Functions()) != 1 {
		t.Errorf("%d calls, %d signatures, %d functions", p.Grammar.Len(), p.Table.Len(), len(p.Table.Functions()))
	}
}

// TestSteadyLoop checks that a loop allocates nothing once it is known, and that
// what it leaves does not grow with its rounds.
func TestSteadyLoop(t *testing.T) {
	var r Recorder
	fn, wait := r.Declare(send), r.Declare(barrier)
	data := cst.Array(cst.Int(1), cst.Int(2))
	round := func() {
		for dest := range int64(4) {
			r.Call(fn, cst.Rank(dest), data)
		}
		r.Call(wait)
	}
	for range 100 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
	p := r.Finish(0)
	if n := p.Grammar.Symbols(); n > 6 || p.Table.Len() != 5 {
		t.Errorf("%d symbols, %d signatures:\n%v", n, p.Table.Len(), p.Grammar)
	}
}

// TestSetGroup checks that parts have the groups that were set before, and that
// an empty Recorder has none.
func TestSetGroup(t *testing.T) {
	var r Recorder
	r.SetGroup("comm", 5, merge.Group{Rank: 1, Size: 2})
	first := r.Snapshot(0)
	r.SetGroup("comm", 5, merge.Group{Rank: 0, Size: 3})
	second := r.Finish(0)
	h := merge.GroupHandle{Class: "comm", Value: 5}
	if a, b := first.Groups[h], second.Groups[h]; a != (merge.Group{Rank: 1, Size: 2}) ||
		b != (merge.Group{Rank: 0, Size: 3}) {
		t.Errorf("groups %v and %v", a, b)
	}
	if g := r.Finish(0).Groups; len(g) != 0 {
		t.Errorf("an empty Recorder has groups %v", g)
	}
}

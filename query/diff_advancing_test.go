package query

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/advancing"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// advancingTrace returns the trace of ranks that make these calls.
func advancingTrace(t *rapid.T, ranks [][]advancing.Call) *trace.Trace {
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Ranks: len(ranks)}); err != nil {
		t.Fatal(err)
	}
	for rank, calls := range ranks {
		var r tracer.Recorder
		var numbers []int
		for _, f := range advancing.Functions {
			numbers = append(numbers, r.Declare(f))
		}
		for _, c := range calls {
			r.Call(numbers[c.Function], c.Args...)
		}
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(b.Bytes()), int64(b.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestDiffAdvancing compares calls whose arguments advance with the same calls, and with those of which some
// have another number, are another call or are missing.
func TestDiffAdvancing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program, ranks := advancing.Draw(t), rapid.IntRange(1, 3).Draw(t, "ranks")
		a, b := make([][]advancing.Call, ranks), make([][]advancing.Call, ranks)
		var o DiffOptions
		o.Ignore.Addresses = rapid.Bool().Draw(t, "ignore addresses")
		for rank := range a {
			a[rank] = program.Calls(rank, 400)
			b[rank] = slices.Clone(a[rank])
			for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "changes") {
				b[rank] = changed(t, b[rank])
			}
		}
		tr := advancingTrace(t, a)
		d, err := OpenDiff(t.Context(), tr, advancingTrace(t, b), o)
		if err != nil {
			t.Fatal(err)
		}
		first := -1
		for rank := range a {
			at := firstOther(a[rank], b[rank], o.Ignore.Addresses)
			made := len(a[rank]) > 0 && len(b[rank]) > 0
			if got := d.Different.Contains(rank); got != (at >= 0 && made) {
				t.Fatalf("rank %d differs from call %d on: %t", rank, at, got)
			}
			if at >= 0 && made && first < 0 {
				first = rank
				if d.First == nil || d.First.Rank != rank || d.First.Position != uint64(at) {
					t.Fatalf("rank %d differs from call %d on, not %+v", rank, at, d.First)
				}
				if at < len(a[rank]) {
					call := readRank(t, tr, rank).CallAt(uint64(at))
					if want := string(tr.Printer(trace.PrintOptions{}).AppendCall(nil, call)); d.First.A != want {
						t.Fatalf("call %d of rank %d is %s, not %s", at, rank, want, d.First.A)
					}
				}
			}
		}
	})
}

// changed returns calls with a change.
func changed(t *rapid.T, calls []advancing.Call) []advancing.Call {
	if len(calls) == 0 {
		return calls
	}
	at := rapid.IntRange(0, len(calls)-1).Draw(t, "changed")
	other := calls[rapid.IntRange(0, len(calls)-1).Draw(t, "as")]
	switch rapid.IntRange(0, 3).Draw(t, "change") {
	case 0:
		return slices.Delete(slices.Clone(calls), at, at+1)
	case 1:
		calls[at] = other
	case 2:
		calls[at].Args = more(calls[at].Args)
	default: // streams may begin with another value, and be the same else
		for i := at; i < len(calls); i++ {
			if calls[i].Function == other.Function {
				calls[i].Args = more(calls[i].Args)
			}
		}
	}
	return calls
}

// more returns arguments with larger numbers.
func more(args []cst.Value) []cst.Value {
	args = slices.Clone(args)
	for i, v := range args {
		switch v.Kind() {
		case cst.KindInt:
			args[i] = cst.Int(v.Int() + 1)
		case cst.KindPointer:
			p := v.Pointer()
			p.Displacement++
			args[i] = cst.PointerTo(p)
		}
	}
	return args
}

// firstOther returns the first call that differs, −1 if none does.
func firstOther(a, b []advancing.Call, ignoreAddresses bool) int {
	same := func(x, y advancing.Call) bool {
		return x.Function == y.Function && slices.EqualFunc(x.Args, y.Args, func(v, w cst.Value) bool {
			return v.Equal(w) || ignoreAddresses && v.Kind() == cst.KindPointer
		})
	}
	for i := range min(len(a), len(b)) {
		if !same(a[i], b[i]) {
			return i
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return min(len(a), len(b))
}

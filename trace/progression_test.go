package trace_test

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestPrintProgressions checks how loops of calls are printed whose arguments advance: those of a rank, and of
// all ranks.
func TestPrintProgressions(t *testing.T) {
	type call func(rank int64, do func(buffer, count int64))
	for name, c := range map[string]struct {
		run       call
		rank, all string // of the first signature, of rank 1 and of all ranks
	}{
		"rows": {func(rank int64, do func(buffer, count int64)) {
			for range 3 {
				for j := range int64(40) {
					do(408+408*j, 1)
				}
				do(-1, 7)
			}
		}, "f(p=heap#0+408+408·i, n=1)", "f(p=heap#0+408+408·i, n=1)"},
		"ranks": {func(rank int64, do func(buffer, count int64)) {
			for k := range int64(40) {
				do(0, 16*(4*k+rank))
			}
		}, "f(p=heap#0+0, n=16+64·i)", "f(p=heap#0+0, n=16·rank+64·i)"},
		"nested": {func(rank int64, do func(buffer, count int64)) {
			for i := range int64(30) {
				for j := range int64(20) {
					do(1000*i+8*j, 100-j)
				}
			}
		}, "f(p=heap#0+1000·i+8·j (i<30, j<20), n=100-i (i<20))",
			"f(p=heap#0+1000·i+8·j (i<30, j<20), n=100-i (i<20))"},
		"triangle": {func(rank int64, do func(buffer, count int64)) {
			for i := range int64(20) {
				for j := range i {
					do(8*j, 1)
				}
			}
		}, "f(p={segment=0, displacement={0 … 144 by call}, device=0}, n=1)",
			"f(p={segment=0, displacement={0 … 144 by call}, device=0}, n=1)"},
	} {
		tr := recordedTrace(t, nil, 4, nil, func(rank int, r *tracer.Recorder) {
			f := r.Declare(cst.Function{Name: "f", Params: []cst.Param{
				{Name: "p", Type: cst.Type{Kind: cst.KindPointer}}, {Name: "n", Type: cst.Type{Kind: cst.KindInt}},
			}})
			c.run(int64(rank), func(buffer, count int64) {
				p := cst.Pointer{Displacement: buffer}
				if buffer < 0 {
					p = cst.Pointer{Segment: 1}
				}
				r.Call(f, cst.PointerTo(p), cst.Int(count))
			})
		})
		r, err := tr.Rank(1)
		if err != nil {
			t.Fatal(err)
		}
		p := tr.Printer(trace.PrintOptions{})
		folded, err := tr.Folded(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if folded.Terminals() > 2 || folded.Len() != r.Len() {
			t.Errorf("%s: %d calls of %d terminals", name, folded.Len(), folded.Terminals())
		}
		if got := string(p.AppendCall(nil, folded.Call(0))); got != c.rank {
			t.Errorf("%s: rank 1 has %s, not %s", name, got, c.rank)
		}
		if got := tr.Signature(folded.Signature(0)).String(); got != c.all {
			t.Errorf("%s: all ranks have %s, not %s", name, got, c.all)
		}
		checkProgressions(t, tr, r)
	}
}

// checkProgressions compares the values of calls with the progressions of their arguments.
func checkProgressions(t *testing.T, tr *trace.Trace, r *trace.Rank) {
	t.Helper()
	folded, err := tr.Folded(r.Number(), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(0)
	seen := make(map[uint32]uint64)
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		x := folded.Walk(at).Next().Symbol
		shape, _ := tr.ShapeOf(r.Number())
		s, err := tr.Shape(shape)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range s.Signature(folded.Signature(x)).Args {
			values := []int64{0, 0, 0}
			if a.Type.Kind == cst.KindPointer {
				values[1] = c.Args[i].Pointer().Displacement
			} else {
				values[0] = c.Args[i].Int()
			}
			for k := range a.Values {
				if p, ok := a.Progression(k, r.Number()); ok && p.At(seen[x]) != values[k] {
					t.Fatalf("call %d: %d, and %v says %d", at, values[k], p, p.At(seen[x]))
				}
			}
		}
		seen[x]++
		at++
	}
}

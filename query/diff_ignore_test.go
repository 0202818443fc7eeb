package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestDiffIgnoredCalls compares runs with others that make some calls more, or fewer, of which those of one
// function do not count.
func TestDiffIgnoredCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		callGen := rapid.Custom(func(t *rapid.T) diffCall {
			return diffCall{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
				rapid.SampledFrom([]int64{0, 100}).Draw(t, "number")}
		})
		a := rapid.SliceOfN(callGen, 1, 20).Draw(t, "a")
		b := slices.Clone(a)
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			b = slices.Insert(b, rapid.IntRange(0, len(b)).Draw(t, "at"), diffCall{"c", 0})
		}
		if rapid.Bool().Draw(t, "differs") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "where")] = callGen.Draw(t, "call")
		}
		x, y := rapidTrace(t, [][]diffCall{a}, []string{"a", "b", "c"}, 0),
			rapidTrace(t, [][]diffCall{b}, []string{"c", "b", "a"}, 7)
		d, err := OpenDiff(t.Context(), x, y, DiffOptions{Ignore: Ignored{Functions: []string{"c"}}})
		if err != nil {
			t.Fatal(err)
		}
		i, j := 0, 0
		for {
			for i < len(a) && a[i].name == "c" {
				i++
			}
			for j < len(b) && b[j].name == "c" {
				j++
			}
			if i == len(a) || j == len(b) || a[i] != b[j] {
				break
			}
			i, j = i+1, j+1
		}
		if equal := i == len(a) && j == len(b); d.Equal() != equal {
			t.Fatalf("equal: %v", d.Equal())
		} else if equal {
			return
		}
		if f := d.First; f.Position != uint64(i) || f.PositionB != uint64(j) {
			t.Fatalf("the first difference is at %d and %d, not %d and %d", f.Position, f.PositionB, i, j)
		}
		checkDiffCall(t, d.First.A, a, i)
		checkDiffCall(t, d.First.B, b, j)
		for _, c := range d.Calls {
			if c.Name[0] == 'c' {
				t.Fatalf("the number of calls of c counts: %v", c)
			}
		}
	})
}

// TestDiffIgnore compares calls that differ in what can be ignored.
func TestDiffIgnore(t *testing.T) {
	site := cst.Param{Name: "site", Type: cst.HandleOf("site")}
	address := cst.Param{Name: "buf", Type: cst.Type{Kind: cst.KindPointer}}
	flag := cst.Param{Name: "flag", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out}
	name := cst.Param{Name: "filename", Type: cst.Type{Kind: cst.KindString}}
	at := func(segment int64) cst.Value { return cst.PointerTo(cst.Pointer{Segment: segment}) }
	open := func(name string, params []cst.Param, args ...cst.Value) *trace.Trace {
		r := new(tracer.Recorder)
		if args != nil {
			r.Call(r.Declare(cst.Function{Name: name, Params: params}), args...)
		}
		r.Call(r.Declare(cst.Function{Name: "MPI_Finalize"}))
		return openParts(t, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)})
	}
	test := func(what string, a, b *trace.Trace, ignore Ignored, equal bool) {
		t.Helper()
		d, err := OpenDiff(t.Context(), a, b, DiffOptions{Ignore: ignore})
		if err != nil || d.Equal() != equal {
			t.Errorf("%s: equal %v, %v", what, d.Equal(), err)
		}
	}
	send := []cst.Param{address}
	x, y, inPlace := open("MPI_Send", send, at(1)), open("MPI_Send", send, at(2)), open("MPI_Send", send, at(-2))
	test("addresses", x, y, Ignored{}, false)
	test("addresses", x, y, Ignored{Addresses: true}, true)
	test("an address and a constant", x, inPlace, Ignored{Addresses: true}, false)
	x, y = open("MPI_Send", []cst.Param{site}, cst.Handle(1)), open("MPI_Send", []cst.Param{site}, cst.Handle(2))
	test("sites", x, y, Ignored{}, false)
	test("sites", x, y, Ignored{Sites: true}, true)
	test("a site and none", x, open("MPI_Send", nil, []cst.Value{}...), Ignored{Sites: true}, true)
	x, y = open("MPI_File_open", []cst.Param{name}, cst.String("a")),
		open("MPI_File_open", []cst.Param{name}, cst.String("b"))
	test("files", x, y, Ignored{}, false)
	test("files", x, y, Ignored{Files: true}, true)
	none := open("", nil)
	for _, poll := range []string{"MPI_Test", "MPI_Iprobe", "MPI_Parrived", "MPI_Win_test"} {
		test(poll, open(poll, []cst.Param{flag}, cst.Int(0)), none, Ignored{}, false)
		test(poll, open(poll, []cst.Param{flag}, cst.Int(0)), none, Ignored{Polls: true}, true)
		test(poll, open(poll, []cst.Param{flag}, cst.Int(1)), none, Ignored{Polls: true}, false)
	}
	status := func(d cst.Direction) []cst.Param {
		return []cst.Param{{Name: "status", Type: cst.Type{Kind: cst.KindStatus}, Direction: d}}
	}
	of := func(source int64) cst.Value { return cst.StatusOf(cst.Status{Source: source}) }
	x, y = open("MPI_Recv", status(cst.Out), of(1)), open("MPI_Recv", status(cst.Out), of(2))
	test("statuses", x, y, Ignored{Polls: true}, false)
	test("statuses", x, y, Ignored{Completions: true}, true)
	test("a receive and none", x, none, Ignored{Completions: true}, false)
	test("a count and none", open("MPI_Get_count", status(cst.In), of(1)), none, Ignored{Completions: true}, true)
	for name, up := range map[string]bool{"MPI_Waitany": true, "MPI_Testany": true, "MPI_Wait": false,
		"MPI_Startall": false} {
		index := []cst.Param{{Name: "index", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out}}
		if name == "MPI_Wait" {
			index[0].Name = "request"
		}
		test(name, open(name, index, cst.Int(0)), none, Ignored{Polls: true}, false)
		test(name, open(name, index, cst.Int(0)), none, Ignored{Completions: true}, up)
	}
	test("no poll", open("MPI_Initialized", []cst.Param{flag}, cst.Int(0)), none, Ignored{Polls: true}, false)
}

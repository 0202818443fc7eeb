package trace_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// mpiNames are names of numbers as a trace of MPI has them.
var mpiNames = []format.Name{
	{Kind: cst.KindRank, Value: -1, Name: "MPI_ANY_SOURCE"},
	{Kind: cst.KindRank, Value: -2, Name: "MPI_PROC_NULL"},
	{Kind: cst.KindTag, Value: -1, Name: "MPI_ANY_TAG"},
	{Kind: cst.KindInt, Value: -32766, Name: "MPI_UNDEFINED"},
	{Kind: cst.KindHandle, Class: "comm", Value: -3, Name: "MPI_COMM_WORLD"},
	{Kind: cst.KindHandle, Class: "datatype", Value: -20, Name: "MPI_DOUBLE"},
	{Kind: cst.KindHandle, Class: "request", Value: -1, Name: "MPI_REQUEST_NULL"},
	{Kind: cst.KindHandle, Class: "constant", Value: -2, Name: "MPI_STATUS_IGNORE"},
	{Kind: cst.KindHandle, Class: "comm", Value: 7, Name: "my comm, 7"},
	{Kind: cst.KindHandle, Class: "comm", Value: 8, Name: "twice"},
	{Kind: cst.KindHandle, Class: "comm", Value: 9, Name: "twice"},
	{Kind: cst.KindPointer, Value: -2, Name: "MPI_IN_PLACE"},
	{Kind: cst.KindPointer, Value: -16, Name: "stack"},
}

func param(name string, t cst.Type, direction cst.Direction) cst.Param {
	return cst.Param{Name: name, Type: t, Direction: direction}
}

// recordedTrace returns a trace of what the ranks of a run record.
func recordedTrace(t testing.TB, names []format.Name, ranks int,
	groups func(rank int) map[merge.GroupHandle]merge.Group, record func(rank int, r *tracer.Recorder)) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		record(rank, &r)
		p := r.Finish(rank)
		if groups != nil {
			p.Groups = groups(rank)
		}
		parts = append(parts, p)
	}
	return testtrace.Write(t, merge.Run{Ranks: ranks, Names: names}, parts)
}

// printed returns the calls of a rank as text.
func printed(t testing.TB, tr *trace.Trace, rank int, o trace.PrintOptions) []string {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	p := tr.Printer(o)
	var lines []string
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		line := string(p.AppendCall(nil, c))
		for i := range c.Args {
			if arg := string(p.AppendArgument(nil, c, i)); !strings.Contains(line, arg) {
				t.Errorf("argument %d of %s is %s alone", i, line, arg)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// Functions that make requests.
var (
	isend = cst.Function{Name: "MPI_Isend",
		Params: []cst.Param{param("tag", cst.Type{Kind: cst.KindTag}, cst.In),
			param("request", cst.HandleOf("request"), cst.Out)}}
	irecv = cst.Function{Name: "MPI_Irecv", Params: isend.Params}
)

// TestPrintRanksInGroups checks that rank is that in the communicator that a call
// names, if that is where ranks have an expression.
func TestPrintRanksInGroups(t *testing.T) {
	const ranks, size = 64, 16
	send := cst.Function{Name: "send", Params: []cst.Param{
		param("to", cst.Type{Kind: cst.KindRank}, cst.In),
		param("from", cst.Type{Kind: cst.KindRank}, cst.In), param("comm", cst.HandleOf("comm"), cst.In),
	}}
	order := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
	groups := func(rank int) map[merge.GroupHandle]merge.Group {
		return map[merge.GroupHandle]merge.Group{{Class: "comm", Value: 0}: {Rank: order[rank] % size, Size: size}}
	}
	tr := recordedTrace(t, mpiNames, ranks, groups, func(rank int, r *tracer.Recorder) {
		r.Call(r.Declare(send), cst.Rank(int64((order[rank]+1)%size)),
			cst.Rank(int64((order[rank]+size-1)%size)), cst.Handle(0))
	})
	for rank := range ranks {
		want := "send(to=rank+1, from=rank-1, comm=comm#0)"
		switch order[rank] % size {
		case 0:
			want = "send(to=rank+1, from=(rank-1) mod N, comm=comm#0)"
		case size - 1:
			want = "send(to=(rank+1) mod N, from=rank-1, comm=comm#0)"
		}
		if got := printed(t, tr, rank, trace.PrintOptions{})[0]; got != want {
			t.Errorf("rank %d: %s, want %s", rank, got, want)
		}
	}
}

// drawType draws a type of arguments.
func drawType(t *rapid.T) cst.Type {
	kinds := []cst.Kind{cst.KindInt, cst.KindFloat, cst.KindString, cst.KindBytes, cst.KindRank, cst.KindTag,
		cst.KindHandle, cst.KindPointer, cst.KindStatus}
	typ := cst.Type{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	if typ.Kind == cst.KindHandle {
		typ.Class = rapid.SampledFrom([]string{"comm", "request", "datatype", "", "a#1"}).Draw(t, "class")
	}
	if rapid.IntRange(0, 4).Draw(t, "array") == 0 {
		typ = cst.ArrayOf(typ)
	}
	return typ
}

// drawValue draws a value that is often one of few.
func drawValue(t *rapid.T, typ cst.Type) cst.Value {
	number := func() int64 {
		return rapid.OneOf(rapid.Int64Range(-3, 9), rapid.SampledFrom(
			[]int64{-9, -16, symbolic.FirstUnknown, symbolic.FirstUnknown - 1, 1 << 62}),
			rapid.Int64()).Draw(t, "number")
	}
	text := func() string { return rapid.SampledFrom([]string{"", "a", ", b=1", "\"", "[1]"}).Draw(t, "text") }
	switch typ.Kind {
	case cst.KindInt:
		return cst.Int(number())
	case cst.KindFloat:
		return cst.Float(float64(number()))
	case cst.KindString:
		return cst.String(text())
	case cst.KindBytes:
		return cst.Bytes([]byte(text()))
	case cst.KindRank:
		return cst.Rank(number())
	case cst.KindTag:
		return cst.Tag(number())
	case cst.KindHandle:
		return cst.Handle(number())
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: number(), Displacement: number(), Device: number()})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: number(), Tag: number(), Error: number()})
	}
	var list []cst.Value
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		list = append(list, drawValue(t, *typ.Elem))
	}
	return cst.Array(list...)
}

// drawNames draws names, some of which could be mistaken for something else.
func drawNames(t *rapid.T) []format.Name {
	list := slices.Clone(mpiNames)
	words := []string{"rank", "world", "heap", "heap#3", "heap#3+0", "comm#0", "3", "-3", "x+1", "a b",
		"request", "isend#0", "[1]", "{}", "stack"}
	for range rapid.IntRange(0, 6).Draw(t, "names") {
		typ := drawType(t)
		switch typ.Kind {
		case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle, cst.KindPointer:
			n := format.Name{Kind: typ.Kind, Class: typ.Class,
				Value: rapid.Int64Range(-3, 9).Draw(t, "value"), Name: rapid.SampledFrom(words).Draw(t, "name")}
			list = append(list, n)
		}
	}
	return list
}

// TestPrintUnambiguous checks that different calls of a rank have different texts,
// without line breaks, and that equal ones have the same.
func TestPrintUnambiguous(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := cst.Function{Name: rapid.SampledFrom([]string{"f", "MPI_Isend", "MPI_Request", "f(a=1)"}).Draw(
			rt, "function")}
		for i := range rapid.IntRange(1, 3).Draw(rt, "parameters") {
			name := rapid.SampledFrom([]string{"p", "result", "p=1, q"}).Draw(rt, "name")
			f.Params = append(f.Params, param(fmt.Sprint(name, i), drawType(rt),
				rapid.SampledFrom([]cst.Direction{cst.In, cst.Out}).Draw(rt, "direction")))
		}
		ranks := rapid.IntRange(1, 4).Draw(rt, "ranks")
		n := rapid.IntRange(1, 12).Draw(rt, "calls")
		tr := recordedTrace(t, drawNames(rt), ranks, nil, func(_ int, r *tracer.Recorder) {
			fn := r.Declare(f)
			for range n {
				args := make([]cst.Value, len(f.Params))
				for i, p := range f.Params {
					args[i] = drawValue(rt, p.Type)
				}
				r.Call(fn, args...)
			}
		})
		for _, o := range []trace.PrintOptions{{}, {Absolute: true}} {
			for number := range ranks {
				r, err := tr.Rank(number)
				if err != nil {
					rt.Fatal(err)
				}
				p, texts := tr.Printer(o), make(map[string]uint32)
				for c, err := range r.Calls(0) {
					if err != nil {
						t.Fatal(err)
					}
					text := string(p.AppendCall(nil, c))
					if strings.ContainsAny(text, "\n\t") {
						rt.Fatalf("%q has a line break", text)
					}
					if other, ok := texts[text]; ok && other != c.Terminal {
						rt.Fatalf("%s is both %v and %v", text, r.Call(other), c)
					}
					texts[text] = c.Terminal
				}
				for text, terminal := range texts {
					if again := string(p.AppendCall([]byte("x"), r.Call(terminal))); again != "x"+text {
						rt.Fatalf("%s, then %s", text, again)
					}
				}
			}
		}
	})
}

// TestPrintWithoutTrace checks that a call that was not read from a trace can be
// printed, and two Printers by several goroutines at once.
func TestPrintWithoutTrace(t *testing.T) {
	tr := recordedTrace(t, mpiNames, 2, nil, func(rank int, r *tracer.Recorder) {
		for i := range 3000 { // more than is kept
			r.Call(r.Declare(isend), cst.Tag(int64(i)), cst.Handle(8))
		}
	})
	c := trace.Call{Function: &isend, Args: []cst.Value{cst.Tag(-1), cst.Handle(8)}}
	if got, want := string(tr.Printer(trace.PrintOptions{}).AppendCall(nil, c)),
		"MPI_Isend(tag=MPI_ANY_TAG, request=request#1)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rank, err := tr.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	printers := []*trace.Printer{tr.Printer(trace.PrintOptions{}), tr.Printer(trace.PrintOptions{Absolute: true})}
	var work sync.WaitGroup
	for i := range 4 {
		work.Add(1)
		go func() {
			defer work.Done()
			for c := range rank.Calls(0) {
				k := c.Position
				if got, want := string(printers[i%2].AppendCall(nil, c)),
					fmt.Sprintf("MPI_Isend(tag=%d, request=isend#0)", k); got != want {
					t.Errorf("%s, want %s", got, want)
					return
				}
			}
		}()
	}
	work.Wait()
}

// TestCanonical checks the texts of signatures of a recorded run: those of neighbours in a
// ring, and the requests by the functions that make them.
func TestCanonical(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	p := tr.Printer(trace.PrintOptions{})
	for n, want := range map[int]string{
		3: "MPI_Irecv(buf=heap#0+0, count=1, datatype=MPI_DOUBLE, source=(rank-1) mod N, tag=1, comm=MPI_COMM_WORLD, request=irecv#0)",
		7: "MPI_Waitall(count=4, array_of_requests=[irecv#0 irecv#1 isend#0 isend#1], array_of_statuses=MPI_STATUSES_IGNORE)",
	} {
		for range 2 { // made, and kept
			if got := p.Canonical(n); got != want {
				t.Errorf("signature %d is %s, want %s", n, got, want)
			}
		}
	}
}

// TestPrintSignatureOfRank checks that the signatures of a shape of one rank are
// written as its calls are.
func TestPrintSignatureOfRank(t *testing.T) {
	values := cst.Function{Name: "MPI_Waitall", Params: []cst.Param{
		param("requests", cst.ArrayOf(cst.HandleOf("request")), cst.InOut), param("comm", cst.HandleOf("comm"), cst.In),
		param("buf", cst.Type{Kind: cst.KindPointer}, cst.In), param("source", cst.Type{Kind: cst.KindRank}, cst.In),
		param("statuses", cst.ArrayOf(cst.Type{Kind: cst.KindStatus}), cst.Out),
		param("status", cst.Type{Kind: cst.KindStatus}, cst.Out),
	}}
	first, again := cst.Handle(requestid.Join(0, 0)), cst.Handle(requestid.Join(1, 3))
	status := cst.StatusOf(cst.Status{Source: 2, Tag: -9})
	tr := recordedTrace(t, mpiNames, 3, nil, func(rank int, r *tracer.Recorder) {
		r.Call(r.Declare(isend), cst.Tag(1), first)
		r.Call(r.Declare(irecv), cst.Tag(1), again)
		r.Call(r.Declare(values), cst.Array(first, again, cst.Handle(-1)), cst.Handle(5),
			cst.PointerTo(cst.Pointer{Segment: -16, Displacement: int64(rank)}),
			cst.Rank(-1), cst.Array(status, cst.StatusOf(cst.Status{Source: -9, Tag: -9})), status)
		for range rank {
			r.Call(r.Declare(isend), cst.Tag(5), cst.Handle(-1))
		}
	})
	p := tr.Printer(trace.PrintOptions{Absolute: true})
	for number := range tr.Shapes() {
		shape, err := tr.Shape(number)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		signatures := shape.Grammar.FirstUse()
		if shape.Ranks.Len() != 1 || len(signatures) != r.Terminals() {
			t.Fatalf("shape %d is of %v, with %d signatures, not %d", number, shape.Ranks, len(signatures),
				r.Terminals())
		}
		for terminal, n := range signatures {
			got, err := p.Signature(r, shape.Signature(int(n)))
			if want := string(p.AppendCall(nil, r.Call(uint32(terminal)))); err != nil || got != want {
				t.Errorf("signature %d is %s, %v, want %s", n, got, err, want)
			}
		}
	}
}

// BenchmarkPrint writes the calls of a rank as text, and as [cst.AppendCall] does.
func BenchmarkPrint(b *testing.B) {
	pointer, integer := cst.Type{Kind: cst.KindPointer}, cst.Type{Kind: cst.KindInt}
	f := cst.Function{Name: "MPI_Isend", Params: []cst.Param{
		param("buf", pointer, cst.In), param("count", integer, cst.In),
		param("datatype", cst.HandleOf("datatype"), cst.In),
		param("dest", cst.Type{Kind: cst.KindRank}, cst.In), param("tag", cst.Type{Kind: cst.KindTag}, cst.In),
		param("comm", cst.HandleOf("comm"), cst.In), param("request", cst.HandleOf("request"), cst.Out),
	}}
	for _, signatures := range []int{10, 20_000} {
		tr := recordedTrace(b, mpiNames, 2, nil, func(rank int, r *tracer.Recorder) {
			fn := r.Declare(f)
			for i := range 100_000 {
				i := int64(i % signatures)
				r.Call(fn, cst.PointerTo(cst.Pointer{Segment: i % 7}), cst.Int(i), cst.Handle(-20),
					cst.Rank(int64(rank)+1), cst.Tag(2000), cst.Handle(-3), cst.Handle(8*(i%10)))
			}
		})
		rank, err := tr.Rank(1)
		if err != nil {
			b.Fatal(err)
		}
		run := func(name string, add func(dst []byte, c trace.Call) []byte) {
			b.Run(fmt.Sprintf("form=%s/signatures=%d", name, signatures), func(b *testing.B) {
				b.ReportAllocs()
				var line []byte
				size, calls := 0, 0
				for b.Loop() {
					for c := range rank.Calls(0) {
						line = add(line[:0], c)
						size += len(line)
						calls++
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
				b.ReportMetric(float64(size)/float64(calls), "B/call")
				b.ReportMetric(0, "ns/op")
			})
		}
		p := tr.Printer(trace.PrintOptions{})
		run("people", p.AppendCall)
		run("plain", func(dst []byte, c trace.Call) []byte { return cst.AppendCall(dst, *c.Function, c.Args) })
	}
}

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
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// mpiNames are names of numbers as a trace of MPI has them.
var mpiNames = []merge.Name{
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
func recordedTrace(t testing.TB, names []merge.Name, ranks int, groups func(rank int) map[merge.GroupHandle]merge.Group, record func(rank int, r *tracer.Recorder)) *trace.Trace {
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
	for c, err := range r.Calls() {
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

func TestPrintValues(t *testing.T) {
	kind := func(k cst.Kind) cst.Type { return cst.Type{Kind: k} }
	pointer := func(segment, displacement, device int64) cst.Value {
		return cst.PointerTo(cst.Pointer{Segment: segment, Displacement: displacement, Device: device})
	}
	status := func(source, tag, err int64) cst.Value {
		return cst.StatusOf(cst.Status{Source: source, Tag: tag, Error: err})
	}
	tests := []struct {
		typ   cst.Type
		value cst.Value
		want  string
	}{
		{kind(cst.KindInt), cst.Int(-3), "-3"},
		{kind(cst.KindInt), cst.Int(-32766), "MPI_UNDEFINED"},
		{kind(cst.KindTag), cst.Tag(2000), "2000"},
		{kind(cst.KindTag), cst.Tag(-1), "MPI_ANY_TAG"},
		{kind(cst.KindRank), cst.Rank(5), "5"},
		{kind(cst.KindRank), cst.Rank(-1), "MPI_ANY_SOURCE"},
		{kind(cst.KindRank), cst.Rank(-7), "-7"},
		{kind(cst.KindFloat), cst.Float(1.5), "1.5"},
		{kind(cst.KindString), cst.String("a\"b"), `"a\"b"`},
		{kind(cst.KindBytes), cst.Bytes([]byte{1, 255}), "0x01ff"},
		{cst.HandleOf("comm"), cst.Handle(-3), "MPI_COMM_WORLD"},
		{cst.HandleOf("comm"), cst.Handle(0), "comm#0"},
		{cst.HandleOf("comm"), cst.Handle(7), `"my comm, 7"`},
		{cst.HandleOf("comm"), cst.Handle(8), "comm#8"},
		{cst.HandleOf("datatype"), cst.Handle(-20), "MPI_DOUBLE"},
		{cst.HandleOf("datatype"), cst.Handle(-3), "datatype#-3"},
		{cst.HandleOf("constant"), cst.Handle(-2), "MPI_STATUS_IGNORE"},
		{cst.HandleOf(""), cst.Handle(3), "handle#3"},
		{cst.HandleOf("a b"), cst.Handle(3), `"a b"#3`},
		{cst.HandleOf("request"), cst.Handle(-1), "MPI_REQUEST_NULL"},
		{cst.HandleOf("request"), cst.Handle(-2), "request#-2"},
		{cst.HandleOf("request"), cst.Handle(symbolic.JoinRequest(7, 0)), "request#7"},
		{cst.HandleOf("request"), cst.Handle(symbolic.JoinRequest(7, 100)), "request#7.100"},
		{kind(cst.KindPointer), pointer(3, 0, 0), "heap#3+0"},
		{kind(cst.KindPointer), pointer(3, -8, 1), "heap#3-8@1"},
		{kind(cst.KindPointer), pointer(-2, 0, 0), "MPI_IN_PLACE"},
		{kind(cst.KindPointer), pointer(-16, 16, 0), "stack+16"},
		{kind(cst.KindPointer), pointer(-16, -16, 2), "stack-16@2"},
		{kind(cst.KindPointer), pointer(-17, 1, 0), "segment#-17+1"},
		{kind(cst.KindPointer), pointer(symbolic.FirstUnknown, 0, 0), "memory#0+0"},
		{kind(cst.KindPointer), pointer(symbolic.FirstUnknown-5, 4, 0), "memory#5+4"},
		{kind(cst.KindStatus), status(3, 7, 0), "{source=3, tag=7}"},
		{kind(cst.KindStatus), status(-9, 7, 0), "{tag=7}"},
		{kind(cst.KindStatus), status(-2, -9, 0), "{source=MPI_PROC_NULL}"},
		{kind(cst.KindStatus), status(-9, -9, 0), "{}"},
		{kind(cst.KindStatus), status(-9, -1, 15), "{tag=MPI_ANY_TAG, error=15}"},
		{cst.ArrayOf(cst.HandleOf("request")), cst.Array(cst.Handle(-1), cst.Handle(8)), "[MPI_REQUEST_NULL request#1]"},
		{cst.ArrayOf(cst.ArrayOf(kind(cst.KindRank))), cst.Array(cst.Array(), cst.Array(cst.Rank(1))), "[[] [1]]"},
		{cst.ArrayOf(kind(cst.KindStatus)), cst.Array(status(-9, -9, 0), status(1, 2, 0)), "[{} {source=1, tag=2}]"},
	}
	tr := recordedTrace(t, mpiNames, 1, nil, func(_ int, r *tracer.Recorder) {
		for _, tt := range tests {
			r.Call(r.Declare(cst.Function{Name: "f", Params: []cst.Param{param("x", tt.typ, cst.In)}}), tt.value)
		}
	})
	for i, got := range printed(t, tr, 0, trace.PrintOptions{Absolute: true}) {
		if want := "f(x=" + tests[i].want + ")"; got != want {
			t.Errorf("%v %v is printed as %s, want %s", tests[i].typ, tests[i].value, got, want)
		}
	}
}

// TestPrintCalls checks the form of calls.
func TestPrintCalls(t *testing.T) {
	integer := cst.Type{Kind: cst.KindInt}
	tr := recordedTrace(t, nil, 1, nil, func(_ int, r *tracer.Recorder) {
		r.Call(r.Declare(cst.Function{Name: "MPI_Barrier"}))
		r.Call(r.Declare(cst.Function{Name: "MPI_Aint_add", Params: []cst.Param{param("a", integer, cst.In), param("result", integer, cst.Out)}}), cst.Int(1), cst.Int(3))
		r.Call(r.Declare(cst.Function{Name: "rand", Params: []cst.Param{param("result", integer, cst.Out)}}), cst.Int(4))
		r.Call(r.Declare(cst.Function{Name: "f", Params: []cst.Param{param("result", integer, cst.In)}}), cst.Int(4))
		r.Call(r.Declare(cst.Function{Name: "f", Params: []cst.Param{param("result", integer, cst.Out), param("x", integer, cst.In)}}), cst.Int(4), cst.Int(5))
		r.Call(r.Declare(cst.Function{Name: "sql.DB/Query", Params: []cst.Param{param("", integer, cst.In), param("a=b", integer, cst.In)}}), cst.Int(4), cst.Int(5))
		r.Call(r.Declare(cst.Function{Name: "GET /(x)"}))
		r.Call(r.Declare(cst.Function{Name: "N", Params: []cst.Param{param("rank", integer, cst.In)}}), cst.Int(0))
	})
	want := []string{
		"MPI_Barrier()", "MPI_Aint_add(a=1) = 3", "rand() = 4", "f(result=4)", "f(result=4, x=5)", `sql.DB/Query(""=4, "a=b"=5)`, `"GET /(x)"()`, "N(rank=0)",
	}
	if got := printed(t, tr, 0, trace.PrintOptions{}); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Functions that make and complete requests.
var (
	isend   = cst.Function{Name: "MPI_Isend", Params: []cst.Param{param("tag", cst.Type{Kind: cst.KindTag}, cst.In), param("request", cst.HandleOf("request"), cst.Out)}}
	irecv   = cst.Function{Name: "MPI_Irecv", Params: isend.Params}
	several = cst.Function{Name: "several", Params: []cst.Param{param("requests", cst.ArrayOf(cst.HandleOf("request")), cst.Out)}}
	request = cst.Function{Name: "MPI_Request", Params: isend.Params}
	wait    = cst.Function{Name: "MPI_Wait", Params: []cst.Param{param("request", cst.HandleOf("request"), cst.InOut)}}
)

// TestPrintRequests checks that requests are called after the functions that make
// them, wherever these stand.
func TestPrintRequests(t *testing.T) {
	id := func(pool, index int64) cst.Value { return cst.Handle(symbolic.JoinRequest(pool, index)) }
	tr := recordedTrace(t, mpiNames, 1, nil, func(_ int, r *tracer.Recorder) {
		w, s, v := r.Declare(wait), r.Declare(isend), r.Declare(irecv)
		r.Call(w, id(4, 1))
		r.Call(s, cst.Tag(1), id(0, 0))
		r.Call(v, cst.Tag(1), id(1, 0))
		r.Call(s, cst.Tag(2), id(2, 0))
		r.Call(s, cst.Tag(2), id(2, 5))
		r.Call(r.Declare(several), cst.Array(id(4, 1), id(3, 0)))
		r.Call(r.Declare(request), cst.Tag(1), id(5, 0))
		r.Call(w, id(2, 5))
		r.Call(w, id(9, 0))
		r.Call(w, cst.Handle(-1))
	})
	want := []string{
		"MPI_Wait(request=several#1.1)", "MPI_Isend(tag=1, request=isend#0)", "MPI_Irecv(tag=1, request=irecv#0)",
		"MPI_Isend(tag=2, request=isend#1)", "MPI_Isend(tag=2, request=isend#1.5)", "several(requests=[several#1.1 several#0])",
		"MPI_Request(tag=1, request=request#5)", "MPI_Wait(request=isend#1.5)", "MPI_Wait(request=request#9)", "MPI_Wait(request=MPI_REQUEST_NULL)",
	}
	if got := printed(t, tr, 0, trace.PrintOptions{}); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestPrintRanks checks when ranks are written as expressions, and of what.
func TestPrintRanks(t *testing.T) {
	rank := cst.Type{Kind: cst.KindRank}
	send := cst.Function{Name: "send", Params: []cst.Param{param("to", rank, cst.In), param("comm", cst.HandleOf("comm"), cst.In)}}
	const world, row = -3, 0
	tests := []struct {
		name           string
		comm           int64
		to             func(rank int) int64
		one, last, abs string // of rank 1, of rank 7, and as a number of rank 1
	}{
		{"Shift", world, func(r int) int64 { return int64(r) + 1 }, "rank+1", "rank+1", "2"},
		{"Self", world, func(r int) int64 { return int64(r) }, "rank", "rank", "1"},
		{"Ring", world, func(r int) int64 { return int64(r+1) % 8 }, "rank+1", "(rank+1) mod N", "2"},
		{"Xor", world, func(r int) int64 { return int64(r) ^ 3 }, "rank xor 3", "rank xor 3", "2"},
		{"Root", world, func(r int) int64 { return 4 }, "4", "4", "4"},
		{"Linear", world, func(r int) int64 { return 2*int64(r) + 3 }, "5", "17", "5"},
		{"None", world, func(r int) int64 { return []int64{3, 5, 0, 1, 7, 9, 2, 2}[r] }, "5", "2", "5"},
		{"OffRim", world, func(r int) int64 {
			if r == 7 {
				return -2
			}
			return int64(r) + 1
		}, "rank+1", "MPI_PROC_NULL", "2"},
		{"RingInRow", row, func(r int) int64 { return int64(r+1) % 8 }, "2", "0", "2"},
		{"Torus", world, func(r int) int64 { return int64(r+4)%8 - int64(r)%4 + int64(r+1)%4 }, "rank+5", "rank-7", "6"},
		{"WorldInRow", row, func(r int) int64 { return int64(r) + 1 }, "world+1", "world+1", "2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := recordedTrace(t, mpiNames, 8, nil, func(rank int, r *tracer.Recorder) {
				r.Call(r.Declare(send), cst.Rank(tt.to(rank)), cst.Handle(tt.comm))
			})
			comm := "MPI_COMM_WORLD"
			if tt.comm == row {
				comm = "comm#0"
			}
			for _, w := range []struct {
				rank int
				o    trace.PrintOptions
				to   string
			}{{1, trace.PrintOptions{}, tt.one}, {7, trace.PrintOptions{}, tt.last}, {1, trace.PrintOptions{Absolute: true}, tt.abs}} {
				if got, want := printed(t, tr, w.rank, w.o)[0], fmt.Sprintf("send(to=%s, comm=%s)", w.to, comm); got != want {
					t.Errorf("rank %d: %s, want %s", w.rank, got, want)
				}
			}
		})
	}
}

// TestPrintRanksInGroups checks that rank is that in the communicator that a call
// names, if that is where ranks have an expression.
func TestPrintRanksInGroups(t *testing.T) {
	const ranks, size = 64, 16
	send := cst.Function{Name: "send", Params: []cst.Param{
		param("to", cst.Type{Kind: cst.KindRank}, cst.In), param("from", cst.Type{Kind: cst.KindRank}, cst.In), param("comm", cst.HandleOf("comm"), cst.In),
	}}
	order := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
	groups := func(rank int) map[merge.GroupHandle]merge.Group {
		return map[merge.GroupHandle]merge.Group{{Class: "comm", Value: 0}: {Rank: order[rank] % size, Size: size}}
	}
	tr := recordedTrace(t, mpiNames, ranks, groups, func(rank int, r *tracer.Recorder) {
		r.Call(r.Declare(send), cst.Rank(int64((order[rank]+1)%size)), cst.Rank(int64((order[rank]+size-1)%size)), cst.Handle(0))
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
	kinds := []cst.Kind{cst.KindInt, cst.KindFloat, cst.KindString, cst.KindBytes, cst.KindRank, cst.KindTag, cst.KindHandle, cst.KindPointer, cst.KindStatus}
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
		return rapid.OneOf(rapid.Int64Range(-3, 9), rapid.SampledFrom([]int64{-9, -16, symbolic.FirstUnknown, symbolic.FirstUnknown - 1, 1 << 62}), rapid.Int64()).Draw(t, "number")
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
func drawNames(t *rapid.T) []merge.Name {
	list := slices.Clone(mpiNames)
	words := []string{"rank", "world", "heap", "heap#3", "heap#3+0", "comm#0", "3", "-3", "x+1", "a b", "request", "isend#0", "[1]", "{}", "stack"}
	for range rapid.IntRange(0, 6).Draw(t, "names") {
		typ := drawType(t)
		switch typ.Kind {
		case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle, cst.KindPointer:
			n := merge.Name{Kind: typ.Kind, Class: typ.Class, Value: rapid.Int64Range(-3, 9).Draw(t, "value"), Name: rapid.SampledFrom(words).Draw(t, "name")}
			list = append(list, n)
		}
	}
	return list
}

// TestPrintUnambiguous checks that different calls of a rank have different texts,
// without line breaks, and that equal ones have the same.
func TestPrintUnambiguous(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := cst.Function{Name: rapid.SampledFrom([]string{"f", "MPI_Isend", "MPI_Request", "f(a=1)"}).Draw(rt, "function")}
		for i := range rapid.IntRange(1, 3).Draw(rt, "parameters") {
			name := rapid.SampledFrom([]string{"p", "result", "p=1, q"}).Draw(rt, "name")
			f.Params = append(f.Params, param(fmt.Sprint(name, i), drawType(rt), rapid.SampledFrom([]cst.Direction{cst.In, cst.Out}).Draw(rt, "direction")))
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
				for c, err := range r.Calls() {
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
	if got, want := string(tr.Printer(trace.PrintOptions{}).AppendCall(nil, c)), "MPI_Isend(tag=MPI_ANY_TAG, request=request#1)"; got != want {
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
			for c := range rank.Calls() {
				k := c.Position
				if got, want := string(printers[i%2].AppendCall(nil, c)), fmt.Sprintf("MPI_Isend(tag=%d, request=isend#0)", k); got != want {
					t.Errorf("%s, want %s", got, want)
					return
				}
			}
		}()
	}
	work.Wait()
}

// BenchmarkPrint writes the calls of a rank as text, and as [cst.AppendCall] does.
func BenchmarkPrint(b *testing.B) {
	pointer, integer := cst.Type{Kind: cst.KindPointer}, cst.Type{Kind: cst.KindInt}
	f := cst.Function{Name: "MPI_Isend", Params: []cst.Param{
		param("buf", pointer, cst.In), param("count", integer, cst.In), param("datatype", cst.HandleOf("datatype"), cst.In),
		param("dest", cst.Type{Kind: cst.KindRank}, cst.In), param("tag", cst.Type{Kind: cst.KindTag}, cst.In),
		param("comm", cst.HandleOf("comm"), cst.In), param("request", cst.HandleOf("request"), cst.Out),
	}}
	for _, signatures := range []int{10, 20_000} {
		tr := recordedTrace(b, mpiNames, 2, nil, func(rank int, r *tracer.Recorder) {
			fn := r.Declare(f)
			for i := range 100_000 {
				i := int64(i % signatures)
				r.Call(fn, cst.PointerTo(cst.Pointer{Segment: i % 7}), cst.Int(i), cst.Handle(-20), cst.Rank(int64(rank)+1), cst.Tag(2000), cst.Handle(-3), cst.Handle(8*(i%10)))
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
					for c := range rank.Calls() {
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

package reprise_test

import (
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/tracer"
)

// TestPrintSignature checks what becomes of the texts of arguments.
func TestPrintSignature(t *testing.T) {
	kind := func(k cst.Kind) cst.Type { return cst.Type{Kind: k} }
	comm, requests := cst.HandleOf("comm"), cst.ArrayOf(cst.HandleOf("request"))
	p := recordedTrace(t, mpiNames, 1, nil, func(int, *tracer.Recorder) {}).Printer(reprise.PrintOptions{})
	for _, tt := range []struct {
		typ        cst.Type
		text, want string
	}{
		{kind(cst.KindInt), "5", "5"},
		{kind(cst.KindRank), "rank+1", "rank+1"},
		{kind(cst.KindString), `"seg0+8"`, `"seg0+8"`},
		{comm, "0", "comm#0"},
		{comm, "MPI_COMM_WORLD", "MPI_COMM_WORLD"},
		{comm, "{0, 1}", "{0, 1}"},
		{comm, "{0 on 0-3, 5 on 4}", "{0 on 0-3, 5 on 4}"},
		{comm, "rank xor 1", "rank xor 1"},
		{comm, "99999999999999999999", "99999999999999999999"},
		{requests, "[]", "[]"},
		{requests, "[MPI_REQUEST_NULL 8 16]", "[MPI_REQUEST_NULL request#1 request#2]"},
		{requests, "[64 by rank]", "[64 by rank]"},
		{requests, "[0 8 16 … 64 elements]", "[request#0 request#1 request#2 … 64 elements]"},
		{requests, "[0 8 1… … 64 elements]", "[request#0 request#1 1… … 64 elements]"},
		{requests, "[123… … 64 elements]", "[123… … 64 elements]"},
		{cst.ArrayOf(requests), "[[0 8] []]", "[[request#0 request#1] []]"},
		{kind(cst.KindPointer), "seg3-8@1", "heap#3-8@1"},
		{kind(cst.KindPointer), "stack+8", "stack+8"},
		{kind(cst.KindPointer), "{segment=0, displacement={0, 8}, device=0}", "{segment=0, displacement={0, 8}, device=0}"},
		{cst.ArrayOf(kind(cst.KindPointer)), "[seg3+0 MPI_IN_PLACE]", "[heap#3+0 MPI_IN_PLACE]"},
		{kind(cst.KindStatus), "{source=-9, tag=-9, error=0}", "{}"},
		{kind(cst.KindStatus), "{source=-2, tag=-1, error=15}", "{source=MPI_PROC_NULL, tag=MPI_ANY_TAG, error=15}"},
		{kind(cst.KindStatus), "{source={rank+1 on 0-2, 0 on 3}, tag=-9, error=0}", "{source={rank+1 on 0-2, 0 on 3}}"},
		{kind(cst.KindStatus), "{source=-1, tag={1 … 9 by call}, error=0}", "{source=MPI_ANY_SOURCE, tag={1 … 9 by call}}"},
		{kind(cst.KindStatus), "{by call}", "{by call}"},
		{cst.ArrayOf(kind(cst.KindStatus)), "[{source=-9, tag=-9, error=0} {source=1, tag=-9, error=0}]", "[{} {source=1}]"},
	} {
		f := cst.Function{Name: "f", Params: []cst.Param{param("x", tt.typ, cst.In)}}
		if got := p.Signature(nil, merge.Signature{Function: &f, Args: []string{tt.text}}); got.Args[0] != tt.want {
			t.Errorf("%v %s becomes %s, want %s", tt.typ, tt.text, got.Args[0], tt.want)
		}
	}
}

// TestPrintSignatureOfRank checks that the signatures of a shape of one rank are
// written as its calls are.
func TestPrintSignatureOfRank(t *testing.T) {
	values := cst.Function{Name: "MPI_Waitall", Params: []cst.Param{
		param("requests", cst.ArrayOf(cst.HandleOf("request")), cst.InOut), param("comm", cst.HandleOf("comm"), cst.In),
		param("buf", cst.Type{Kind: cst.KindPointer}, cst.In), param("source", cst.Type{Kind: cst.KindRank}, cst.In),
		param("statuses", cst.ArrayOf(cst.Type{Kind: cst.KindStatus}), cst.Out), param("status", cst.Type{Kind: cst.KindStatus}, cst.Out),
	}}
	first, again := cst.Handle(symbolic.JoinRequest(0, 0)), cst.Handle(symbolic.JoinRequest(1, 3))
	status := cst.StatusOf(cst.Status{Source: 2, Tag: -9})
	trace := recordedTrace(t, mpiNames, 3, nil, func(rank int, r *tracer.Recorder) {
		r.Call(r.Declare(isend), cst.Tag(1), first)
		r.Call(r.Declare(irecv), cst.Tag(1), again)
		r.Call(r.Declare(values), cst.Array(first, again, cst.Handle(-1)), cst.Handle(5), cst.PointerTo(cst.Pointer{Segment: -16, Displacement: int64(rank)}),
			cst.Rank(-1), cst.Array(status, cst.StatusOf(cst.Status{Source: -9, Tag: -9})), status)
		for range rank {
			r.Call(r.Declare(isend), cst.Tag(5), cst.Handle(-1))
		}
	})
	p := trace.Printer(reprise.PrintOptions{Absolute: true})
	for number := range trace.Merged().Shapes() {
		shape, err := trace.Merged().Shape(number)
		if err != nil {
			t.Fatal(err)
		}
		r, err := trace.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		signatures := shape.Grammar.FirstUse()
		if shape.Ranks.Len() != 1 || len(signatures) != r.Table().Len() {
			t.Fatalf("shape %d is of %v, with %d signatures, not %d", number, shape.Ranks, len(signatures), r.Table().Len())
		}
		for terminal, n := range signatures {
			s, err := shape.Signature(int(n))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := p.Signature(r, s).String(), string(p.AppendCall(nil, r.Call(uint32(terminal)))); got != want {
				t.Errorf("signature %d is %s, want %s", n, got, want)
			}
		}
	}
}

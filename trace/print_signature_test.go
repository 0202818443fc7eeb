package trace_test

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestPrintSignature checks how arguments are written of which the ranks have these
// values.
func TestPrintSignature(t *testing.T) {
	kind := func(k cst.Kind) cst.Type { return cst.Type{Kind: k} }
	comm, requests := cst.HandleOf("comm"), cst.ArrayOf(cst.HandleOf("request"))
	same := func(v cst.Value) func(int) cst.Value { return func(int) cst.Value { return v } }
	request := func(n int) cst.Value { return cst.Handle(symbolic.JoinRequest(int64(n), 0)) }
	status := func(source, tag, code int64) cst.Value {
		return cst.StatusOf(cst.Status{Source: source, Tag: tag, Error: code})
	}
	for _, tt := range []struct {
		typ   cst.Type
		value func(rank int) cst.Value
		want  string
	}{
		{kind(cst.KindInt), same(cst.Int(5)), "5"},
		{kind(cst.KindRank), func(rank int) cst.Value { return cst.Rank(int64(rank) + 1) }, "rank+1"},
		{kind(cst.KindString), same(cst.String("seg0+8")), `"seg0+8"`},
		{comm, same(cst.Handle(0)), "comm#0"},
		{comm, func(rank int) cst.Value { return cst.Handle(int64(rank*rank) % 3) }, "{comm#0, comm#1}"},
		{comm, func(rank int) cst.Value { return cst.Handle(int64(rank*rank*rank+rank) % 5) }, "{comm#0, comm#2, comm#3}"},
		{comm, func(rank int) cst.Value { return cst.Handle(int64(rank / 4 * 5)) }, "5·(rank div 4)"},
		{requests, same(cst.Array()), "[]"},
		{requests, same(cst.Array(cst.Handle(-1), request(1), request(2))), "[MPI_REQUEST_NULL request#1 request#2]"},
		{requests, func(rank int) cst.Value { return cst.Array(request(rank), request(1)) }, "[2 by rank]"},
		{requests, same(cst.Array(slices.Repeat([]cst.Value{request(1)}, 64)...)), "[request#1 request#1 request#1 request#1 request#1 request#1 request#1 … 64 elements]"},
		{cst.ArrayOf(requests), same(cst.Array(cst.Array(request(0), request(1)), cst.Array())), "[[request#0 request#1] []]"},
		{kind(cst.KindPointer), same(cst.PointerTo(cst.Pointer{Segment: 3, Displacement: -8, Device: 1})), "heap#3-8@1"},
		{kind(cst.KindPointer), func(rank int) cst.Value { return cst.PointerTo(cst.Pointer{Displacement: int64(rank*rank) % 3 * 8}) },
			"{segment=0, displacement={0, 8}, device=0}"},
		{kind(cst.KindStatus), same(status(-9, -9, 0)), "{}"},
		{kind(cst.KindStatus), same(status(-2, -1, 15)), "{source=MPI_PROC_NULL, tag=MPI_ANY_TAG, error=15}"},
		{kind(cst.KindStatus), func(rank int) cst.Value { return status([]int64{1, 2, 3, 4, 0}[rank], -9, 0) }, "{source=(rank+1) mod N}"},
		{kind(cst.KindStatus), func(rank int) cst.Value { return status(-1, int64(rank/4), 0) }, "{source=MPI_ANY_SOURCE, tag=(rank div 4)}"},
		{cst.ArrayOf(kind(cst.KindStatus)), same(cst.Array(status(-9, -9, 0), status(1, -9, 0))), "[{} {source=1}]"},
	} {
		f := cst.Function{Name: "f", Params: []cst.Param{param("x", tt.typ, cst.In)}}
		tr := recordedTrace(t, mpiNames, 5, nil, func(rank int, r *tracer.Recorder) { r.Call(r.Declare(f), tt.value(rank)) })
		if got := tr.Signature(0).String(); got != "f(x="+tt.want+")" {
			t.Errorf("%v: %s, want %s", tt.typ, got, tt.want)
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
	tr := recordedTrace(t, mpiNames, 3, nil, func(rank int, r *tracer.Recorder) {
		r.Call(r.Declare(isend), cst.Tag(1), first)
		r.Call(r.Declare(irecv), cst.Tag(1), again)
		r.Call(r.Declare(values), cst.Array(first, again, cst.Handle(-1)), cst.Handle(5), cst.PointerTo(cst.Pointer{Segment: -16, Displacement: int64(rank)}),
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
			t.Fatalf("shape %d is of %v, with %d signatures, not %d", number, shape.Ranks, len(signatures), r.Terminals())
		}
		for terminal, n := range signatures {
			got, err := p.Signature(r, shape.Signature(int(n)))
			if want := string(p.AppendCall(nil, r.Call(uint32(terminal)))); err != nil || got != want {
				t.Errorf("signature %d is %s, %v, want %s", n, got, err, want)
			}
		}
	}
}

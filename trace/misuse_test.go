package trace_test

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	file := testtrace.File(t, p.Run(), p.Parts())
	tr := testtrace.Open(t, file)
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := tr.Shape(0)
	if err != nil {
		t.Fatal(err)
	}
	call, signature := rank.Call(1), tr.Signature(1)
	misuse.Walk{
		Package: "trace",
		Functions: []any{
			trace.Open, trace.OpenReader, trace.OpenContainer,
		},
		Values: []any{
			tr, rank, shape, bytes.NewReader(file), new(merge.Accumulator), signature, signature.Args[0],
			call, call.Function, call.Args[0], trace.Call{}, trace.Call{Function: call.Function},
			trace.Call{Args: call.Args}, trace.Argument{}, trace.Constant, &trace.Damage{},
		},
	}.Run(t)
}

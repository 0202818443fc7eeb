package reprise_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	file := testtrace.File(t, p.Run(), p.Parts())
	trace := testtrace.Open(t, file)
	rank, err := trace.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	call, signature := rank.Call(1), trace.Signature(1)
	misuse.Walk{
		Package: "reprise",
		Functions: []any{
			reprise.Merge, reprise.PartFiles, reprise.Open, reprise.OpenFile, reprise.FileOptions, reprise.OpenReader,
			reprise.OpenContainer,
		},
		Values: []any{
			trace, rank, bytes.NewReader(file), new(merge.Accumulator), trace.Calls(0), signature, signature.Args[0],
			call, call.Function, call.Args[0], reprise.Call{}, reprise.Call{Function: call.Function},
			reprise.Call{Args: call.Args}, reprise.Argument{}, reprise.Constant, &reprise.Damage{},
			&reprise.PartError{Err: io.EOF},
		},
	}.Run(t)
}

package semantics_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	trace := testtrace.Write(t, p.Run(), p.Parts())
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	rank, err := trace.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	read, err := model.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	call := rank.Call(0)
	misuse.Walk{
		Package:   "semantics",
		Functions: []any{semantics.Open, semantics.OpenWith, semantics.HasAmount, semantics.AmountOf},
		Values:    []any{trace, model, rank, read, &call, read.At(0, 0), *call.Function},
	}.Run(t)
}

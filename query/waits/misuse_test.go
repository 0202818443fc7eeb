package waits_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/waits"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	model := must.Get(semantics.Open(t.Context(), testtrace.Write(t, p.Run(), p.Parts())))
	misuse.Walk{
		Package:   "waits",
		Functions: []any{waits.Open, waits.Bounds},
		Values: []any{model, waits.Options{}, waits.Cause{}, waits.Victim{}, waits.Path{}, waits.Step{},
			waits.Delay{}, waits.Site{}, waits.Bound{}, &waits.ClocksError{}},
	}.Run(t)
}

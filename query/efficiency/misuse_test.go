package efficiency_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/efficiency"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	model, err := semantics.Open(context.Background(), testtrace.Write(t, p.Run(), p.Parts()))
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "efficiency",
		Functions: []any{efficiency.Open, efficiency.Compare},
		Values: []any{model, efficiency.Options{}, efficiency.Factors{}, efficiency.Part{},
			efficiency.Phase{}, efficiency.Scaling{}},
	}.Run(t)
}

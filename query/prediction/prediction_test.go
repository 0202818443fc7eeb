package prediction_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/prediction"
	"github.com/reprise-trace/reprise/trace"
)

// TestComputingOf checks by what computing is known, and of which ranks it is not.
func TestComputingOf(t *testing.T) {
	f := testtrace.Function("f")
	calls := [][]testtrace.Call{{{Function: f, Start: 0, Duration: 5}}, {{Function: f, Start: 1, Duration: 7}}}
	for _, tt := range []struct {
		name      string
		trace     *trace.Trace
		want      string
		uncounted int
	}{
		{"timed", testtrace.Record(t, merge.Run{}, true, calls), "series", 0},
		{"untimed", testtrace.Record(t, merge.Run{}, false, calls), "none", 2},
		{"amounts", testtrace.TI(t, "0 init\n0 compute 1000\n0 finalize\n"), prediction.Amounts, 0},
	} {
		computing, uncounted, err := prediction.ComputingOf(tt.trace)
		if err != nil || computing != tt.want || uncounted.Len() != tt.uncounted {
			t.Errorf("%s: computing is known by %s, not of %v, %v", tt.name, computing, uncounted, err)
		}
	}
}

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	tr := testtrace.TI(t, "0 init\n0 compute 1000\n0 finalize\n")
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "prediction",
		Functions: []any{prediction.Open, prediction.ComputingOf},
		Values:    []any{tr, model, prediction.Options{Machine: loggps.Default()}},
	}.Run(t)
}

package proxy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestSwitchedOff checks that calls which switch recording are left out, as those are missing that were made
// meanwhile, and that other levels and keys are not.
func TestSwitchedOff(t *testing.T) {
	calls := []testtrace.Call{
		testtrace.MPICall("MPI_Init"),
		testtrace.MPICall("MPI_Pcontrol", "level", 0),
		testtrace.MPICall("MPI_Barrier", "comm", "MPI_COMM_WORLD"),
		testtrace.MPICall("MPI_Pcontrol", "level", 17),
		testtrace.MPICall("MPI_Pcontrol", "level", 1),
	}
	trace := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{calls, calls})
	p, err := Generate(context.Background(), trace, Options{Name: "run.rpz"})
	if err != nil {
		t.Fatal(err)
	}
	want := []LeftOut{{Function: "MPI_Pcontrol",
		Reason: "switches recording off or on, so that calls are missing", Calls: 4}}
	if !slices.Equal(p.LeftOut, want) || p.Calls != 6 || !strings.Contains(p.Files[0].Text, "MPI_Pcontrol(17)") {
		t.Errorf("%d calls, left out %v:\n%s", p.Calls, p.LeftOut, p.Files[0].Text)
	}
}

// TestRowsOnce checks that arrays that vary from call to call, alike on all ranks, are written once.
func TestRowsOnce(t *testing.T) {
	calls := []testtrace.Call{testtrace.MPICall("MPI_Init")}
	for i := range 12 {
		calls = append(calls, testtrace.MPICall("MPI_Scatterv", "sendcounts", []any{1000 + i*i, 7}, "displs",
			[]any{0, i}, "root", 0, "comm", "MPI_COMM_WORLD"))
	}
	trace := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{calls, calls})
	p, err := Generate(context.Background(), trace, Options{Name: "run.rpz"})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(p.Files[0].Text, "1049"); n != 1 {
		t.Errorf("%d times:\n%s", n, p.Files[0].Text)
	}
}

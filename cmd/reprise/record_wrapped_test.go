package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
)

// TestRecordWrapped records a program whose calls are all made through functions that wrap MPI: sites are where
// these are called, with and without what led there, and record says so.
func TestRecordWrapped(t *testing.T) {
	m := theMPI(t)
	program := filepath.Join(t.TempDir(), "wrapped")
	if output, err := exec.Command(m.CC, "-g", "-O1", "-fno-optimize-sibling-calls", "-o", program,
		filepath.Join("..", "..", "mpi", "interpose", "testdata", "wrapped.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for _, sites := range []string{"caller", "stack"} {
		trace := filepath.Join(t.TempDir(), "run.rpz")
		got := outcome(t, recorder(t, m, []string{"--json", "--sites", sites, "-o", trace}, m.Launch(2, program)...))
		var s record.Summary
		if err := json.Unmarshal([]byte(got.stderr[max(0, strings.IndexByte(got.stderr, '{')):]), &s); err != nil {
			t.Fatal(err, got.stderr)
		}
		if !slices.Equal(s.Wrapping, []string{"stub_MPI_Barrier", "stub_MPI_Finalize", "stub_MPI_Init"}) {
			t.Errorf("--sites %s: %q wrap MPI", sites, s.Wrapping)
		}
		calls := must(t, "cat", trace, "--format", "text")
		if strings.Contains(calls, "stub_MPI") || strings.Count(calls, " ones") != 2*3 ||
			strings.Count(calls, " others") != 2*2 {
			t.Errorf("--sites %s: %s", sites, calls)
		}
	}
}

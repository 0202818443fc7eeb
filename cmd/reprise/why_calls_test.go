package main

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestWhyCalls checks that why speaks of MPI only where a trace has calls of MPI.
func TestWhyCalls(t *testing.T) {
	t.Chdir(t.TempDir())
	for function, want := range map[string]string{"read": " in recorded calls.", "MPI_Barrier": " in MPI."} {
		var calls []testtrace.Call
		for i := range int64(5) {
			calls = append(calls,
				testtrace.Call{Function: cst.Function{Name: function}, Start: 1000 * i, Duration: 900})
		}
		file := testtrace.RecordFile(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{calls})
		writeFile(t, "run.rpz", string(file))
		if got := must(t, "why", "run.rpz"); !strings.Contains(strings.SplitN(got, "\n", 2)[0], want) {
			t.Errorf("%s: %s", function, got)
		}
	}
}

//go:build linux

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/mpitest"
)

// TestDiffRecorded records a program twice, once with times: the traces are equal. With
// another number of ranks they are not.
func TestDiffRecorded(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		record := func(name, times string, ranks int) string {
			trace := filepath.Join(directory, name)
			cmd := recorder(t, m, []string{"--times", times, "-o", trace},
				m.Launch(ranks, m.Build(t, "ring.c"), filepath.Join(directory, "file"))...)
			cmd.Env = append(cmd.Env, "OMPI_MCA_osc=^sm")
			if got := outcome(t, cmd); got.status != 0 {
				t.Fatal(got.stderr)
			}
			return trace
		}
		a, b := record("a.rpz", "statistics", 2), record("b.rpz", "none", 2)
		if got := must(t, "diff", a, b); !strings.HasPrefix(got, "equal: ") || !strings.HasSuffix(got, " of 2 ranks\n") {
			t.Error(got)
		}
		r := invoke(t, "", "diff", a, record("c.rpz", "none", 3), "--json")
		var got diffInfo
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.status != exitFailure || got.Equal || got.B.Only != "2" || got.B.Ranks != 3 {
			t.Errorf("status %d, %v, %+v", r.status, err, got)
		}
	})
}

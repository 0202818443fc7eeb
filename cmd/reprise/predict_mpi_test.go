//go:build linux

package main

import (
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/query"
)

// TestPredictAcross records operations between the halves of a run, and checks who waits for whom: what
// others than the root in its half compute makes nobody wait, but for the other half in an operation of all.
func TestPredictAcross(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		trace := filepath.Join(t.TempDir(), "run.rpz")
		if r := outcome(t, recorder(t, m, []string{"-o", trace, "--times", "exact"},
			m.Launch(4, m.Build(t, "sides.c"))...)); r.status != 0 {
			t.Fatalf("%+v", r)
		}
		a := predicted(t, trace, "-o", filepath.Join(t.TempDir(), "predicted.rpz"))
		const half = query.Nanoseconds(500e6)
		late := a.Ranks[0].Computing - a.Ranks[1].Computing
		if len(a.Ranks) != 4 || late < half {
			t.Fatalf("%+v", a)
		}
		for _, r := range a.Ranks {
			if waits := r.Rank >= 2; waits != (r.Waiting > half) {
				t.Errorf("rank %d waits for %.0f ns", r.Rank, float64(r.Waiting))
			}
		}
	})
}

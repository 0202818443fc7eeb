package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/query"
)

// recordedRegions returns how often ranks come to the regions with names of a run of a program, and how many calls of
// all ranks are in them.
func recordedRegions(t *testing.T, m *mpitest.MPI, program string) map[string][2]uint64 {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "run.rpz")
	if got := outcome(t, recorder(t, m, []string{"-o", trace}, m.Launch(2, program)...)); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	var a struct {
		Regions []query.Region `json:"by_region"`
	}
	// with a warning, if the program switches recording off
	decodeJSON(t, &a, "profile", trace, "--by", "region", "--json")
	found := make(map[string][2]uint64)
	for _, g := range a.Regions {
		if g.Kind == query.NamedRegion {
			found[g.Name] = [2]uint64{g.MinTrips, g.Calls}
		}
	}
	if got := must(t, "info", trace); !strings.Contains(got, "MPI_Pcontrol") {
		t.Error(got)
	}
	return found
}

// checkRegions compares regions that were recorded.
func checkRegions(t *testing.T, got, want map[string][2]uint64) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("region %s: %d, not %d", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// TestRecordRegions records regions to which programs in C give names, and calls of MPI_Pcontrol without one. Each
// region has the call that ends it.
func TestRecordRegions(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			mpitest.SkipUnderRace(t)
			dir := t.TempDir()
			library := filepath.Join(dir, "libannotations.so")
			source := filepath.Join("..", "..", "internal", "test", "mpitest", "programs", "annotations.c")
			if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			program := m.Build(t, "regions.c", "-Wl,--no-as-needed", library, "-ldl")
			checkRegions(t, recordedRegions(t, m, program), map[string][2]uint64{
				"setup": {1, 2 * 2}, "inner": {10, 2 * 10 * 4}, "solve": {10, 2 * 10 * (2 + 1 + 3 + 1 + 1)},
				"nvtx": {4, 2 * 4 * 6}, "caliper": {1, 2 * (4*7 + 1)}, "header": {1, 2 * (1 + 6 + 1 + 1)},
				"extended": {1, 2 * (6 + 1)},
			})
			os.Remove(library)
		})
	}
}

// TestRecordRegionsOfFortran records regions to which a program in Fortran gives names.
func TestRecordRegionsOfFortran(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			mpitest.SkipUnderRace(t)
			checkRegions(t, recordedRegions(t, m, m.Build(t, "regions.f")), map[string][2]uint64{
				"step": {5, 2 * 5 * 2}, "padded": {5, 2 * 5 * 2},
			})
		})
	}
}

//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestRecordUnrecorded records programs that call functions that reprise does not know, in each way to
// record: record says so once. It says nothing of a program that calls none.
func TestRecordUnrecorded(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		extension := func(name string, flags ...string) string {
			path := filepath.Join(directory, name)
			line := append(flags, "-w", "-o", path, "testdata/extension.c")
			if out, err := exec.Command(m.CC, line...).CombinedOutput(); err != nil {
				t.Skipf("%v\n%s", err, out)
			}
			return path
		}
		check := func(name, want string, cmd *exec.Cmd) {
			t.Helper()
			got := outcome(t, cmd)
			if got.status != 0 ||
				strings.Count(got.stderr, "does not know") != strings.Count(want, "does not know") ||
				!strings.Contains(got.stderr, want) {
				t.Errorf("%s: %+v, want %s", name, got, want)
			}
		}
		trace := filepath.Join(directory, "run.rpz")
		check("known", "", recorder(t, m, []string{"-o", trace}, m.Launch(2, m.Build(t, "polling.c"))...))
		if m.Name != "openmpi" {
			return
		}
		const one = "reprise: warning: the program uses 1 MPI function that reprise does not know (MPIX_Allreduce_init): calls of them are not in the trace\n"
		program := extension("one")
		check("one", one, recorder(t, m, []string{"-q", "-o", trace}, m.Launch(2, program)...))
		if i := infoOf(t, trace); callsOf(i, "MPI_Start") != 2 || callsOf(i, "MPIX_Allreduce_init") != 0 {
			t.Errorf("%+v", i)
		}
		check("merge", one, recorder(t, m, []string{"-q", "--merge", "mpi", "-o", trace}, m.Launch(2, program)...))
		line := m.Launch(2, process(t).Path, "record", "-q", "--parts", filepath.Join(directory, "parts"),
			"--", program)
		parts := exec.CommandContext(t.Context(), line[0], line[1:]...)
		parts.Env = append(mpitest.LaunchEnvironment(t), runMain+"=1", "MPICC="+m.CC)
		check("parts", one, parts)
		check("many", "uses 7 MPI functions that reprise does not know (MPIX_Allreduce_init, MPIX_Barrier_init, MPIX_Bcast_init, MPIX_Exscan_init, MPIX_Query_cuda_support and 2 more): calls of them are not in the trace\n",
			recorder(t, m, []string{"-q", "-o", trace}, m.Launch(2, extension("many", "-DMANY"))...))
	})
}

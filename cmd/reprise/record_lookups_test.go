//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestLookups records programs that are not linked with MPI, and look up its functions in each way that the
// loader has.
func TestLookups(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		program, plugin := filepath.Join(directory, "lookups"), filepath.Join(directory, "plugin.so")
		for _, line := range [][]string{
			{"cc", "-w", "-o", program, "testdata/lookups.c", "-ldl"},
			{m.CC, "-w", "-shared", "-fPIC", "-o", plugin, "testdata/plugin.c"},
		} {
			if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		library := map[string]string{"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}[m.Name]
		for kind, from := range map[string]string{
			"local": library, "default": library, "next": library, "namespace": library, "dependent": plugin,
			"plugin": plugin, "deep": plugin,
		} {
			t.Run(kind, func(t *testing.T) {
				trace := filepath.Join(directory, kind+".rpz")
				if kind == "namespace" {
					if out, err := exec.Command(program, kind, from).CombinedOutput(); err != nil {
						t.Skipf("this MPI does not run in a namespace of its own: %v\n%s", err, out)
					}
				}
				got := outcome(t, recorder(t, m, []string{"-o", trace}, m.Launch(2, program, kind, from)...))
				if failed := got.status != 0; failed != (kind == "deep") { // nothing is recorded
					t.Fatalf("%+v", got)
				}
				if kind == "deep" {
					if _, err := os.Stat(trace); err == nil ||
						!strings.Contains(got.stderr, "with dlmopen or RTLD_DEEPBIND") {
						t.Errorf("%+v", got)
					}
				} else if i := infoOf(t, trace); i.Size != 2 || callsOf(i, "MPI_Initialized") != 2 ||
					callsOf(i, "MPI_Finalize") != 2 {
					t.Errorf("%+v\n%s", i, got.stderr)
				}
			})
		}
	})
}

// TestSanitizers records programs with the sanitizers that want to be the first library that is loaded.
func TestSanitizers(t *testing.T) {
	m := theMPI(t)
	directory := t.TempDir()
	for _, name := range []string{"address", "leak", "undefined"} {
		program, trace := filepath.Join(directory, name), filepath.Join(directory, name+".rpz")
		if out, err := exec.Command(m.CC, "-w", "-fsanitize="+name, "-o", program, "-x", "c",
			"testdata/sanitized.c").CombinedOutput(); err != nil {
			t.Logf("%s: %v\n%s", name, err, out)
			continue
		}
		cmd := recorder(t, m, []string{"-o", trace}, m.Launch(2, program)...)
		cmd.Env = append(cmd.Env, "ASAN_OPTIONS=detect_leaks=0", "LSAN_OPTIONS=detect_leaks=0")
		if got := outcome(t, cmd); got.status != 0 || callsOf(infoOf(t, trace), "MPI_Finalize") != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

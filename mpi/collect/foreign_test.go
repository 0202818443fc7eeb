package collect_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// A foreign is a program that others wrote, or with a library that others wrote, as Debian
// links it with Open MPI.
type foreign struct {
	name    string
	command func(t *testing.T, m *mpitest.MPI, result string) []string // that writes a result
	prints  bool                                                       // the same in every run
}

var foreigners = []foreign{
	{name: "mpi4py", prints: true, command: func(t *testing.T, _ *mpitest.MPI, result string) []string {
		python := "/usr/bin/python3" // Debian's, which has Debian's modules
		if err := exec.Command(python, "-c", "import mpi4py").Run(); err != nil {
			t.Skip("no mpi4py: ", err)
		}
		return []string{python, source(t, "python.py"), result}
	}},
	{name: "hdf5", prints: true, command: func(t *testing.T, m *mpitest.MPI, result string) []string {
		libraries, _ := filepath.Glob("/usr/lib/*/hdf5/openmpi/libhdf5.so")
		if len(libraries) == 0 {
			t.Skip("no parallel HDF5")
		}
		program := filepath.Join(t.TempDir(), "hdf5")
		if out, err := exec.Command(m.CC, "-I/usr/include/hdf5/openmpi", source(t, "hdf5.c"), "-o", program,
			libraries[0]).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return []string{program, result}
	}},
	{name: "lammps", command: func(t *testing.T, _ *mpitest.MPI, result string) []string {
		program, err := exec.LookPath("lmp")
		if err != nil {
			t.Skip(err)
		}
		return []string{program, "-in", source(t, "lammps.in"), "-var", "result", result, "-log", "none"}
	}},
}

// source returns the path of a file of the test data.
func source(t *testing.T, name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", "foreign", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestForeign records programs of others: they do the same with and without a recorder,
// and the trace has the calls that an independent counter counts, as the raw records have
// them, with all messages and collective operations matched.
func TestForeign(t *testing.T) {
	e2e.Programs(t)
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		if m.Name != "openmpi" {
			return
		}
		for _, f := range foreigners {
			t.Run(f.name, func(t *testing.T) {
				m.Parallel(t)
				directory := t.TempDir()
				results := []string{filepath.Join(directory, "plain"), filepath.Join(directory, "recorded")}
				library, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
				if err != nil {
					t.Fatal(err)
				}
				spool, counts := t.TempDir(), t.TempDir()
				plain := runForeign(t, m, f, results[0], mpitest.Options{})
				recorded := runForeign(t, m, f, results[1], mpitest.Options{
					Preload: []string{m.Counter(t), library.Path},
					Env:     []string{"REPRISE_SPOOL=" + spool, mpitest.CountIn(counts)},
				})
				if recorded.Status != 0 || plain.Status != 0 {
					t.Fatalf("status %d, without a recorder %d\n%s", recorded.Status, plain.Status, recorded.Rest)
				}
				for rank := range plain.Ranks {
					if f.prints && recorded.Ranks[rank] != plain.Ranks[rank] {
						t.Errorf("rank %d printed %q, without a recorder %q", rank, recorded.Ranks[rank],
							plain.Ranks[rank])
					}
				}
				compareFiles(t, results[0], results[1])
				checkForeign(t, collectRun(t, spool, counts))
			})
		}
	})
}

func runForeign(t *testing.T, m *mpitest.MPI, f foreign, result string, o mpitest.Options) *mpitest.Output {
	line := f.command(t, m, result)
	o.Ranks = m.Ranks(3)
	return m.Run(t, o, line[0], line[1:]...)
}

func compareFiles(t *testing.T, a, b string) {
	t.Helper()
	was, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	is, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(was) == 0 || !bytes.Equal(is, was) {
		t.Errorf("a result of %d bytes, without a recorder another of %d", len(is), len(was))
	}
}

func checkForeign(t *testing.T, r *recording) {
	t.Helper()
	if lines := r.counts.Differences(countsOf(t, r.trace)); len(lines) > 0 {
		t.Errorf("counted, and in the trace: %q", lines)
	}
	if n, err := collect.Compare(t.Context(), r.spool, callsOf(t, r.trace)); err != nil || n != r.summary.Calls {
		t.Errorf("%d of %d calls are as recorded: %v", n, r.summary.Calls, err)
	}
	checkMatch(t, r)
	t.Logf("%d calls, %d bytes", r.summary.Calls, len(r.file))
}

// checkMatch checks that all messages of a correct program match, without guesses.
func checkMatch(t *testing.T, r *recording) {
	t.Helper()
	model, err := semantics.Open(t.Context(), r.trace)
	if err != nil {
		t.Fatal(err)
	}
	match, err := query.OpenMatch(t.Context(), model, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(match.Unmatched) > 0 || match.Assumed+match.Unknown > 0 {
		t.Errorf("not matched: %+v; %d assumed, %d of unknown ranks", match.Unmatched, match.Assumed, match.Unknown)
	}
}

//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestRecordHandled ends a recorder by a signal that the program handles: it comes to its
// own end, and its trace and status are those of a program that ended well.
func TestRecordHandled(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		directory := t.TempDir()
		trace, said := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "said")
		cmd := recorder(t, m, []string{"-o", trace}, m.Build(t, "signals.c"), "wait")
		stderr := create(t, said)
		cmd.Stderr = stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, said, "waits\n")
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || strings.Contains(readFile(t, said), "early") {
			t.Errorf("%v\n%s", err, readFile(t, said))
		}
		if i := infoOf(t, trace); callsOf(i, "MPI_Isend") != 100 || callsOf(i, "MPI_Finalize") != 1 {
			t.Errorf("%+v", i)
		}
	})
}

// TestRecordOutlived records a program that goes on when its launcher has ended: the
// trace is that of the calls until then, and the program comes to its end.
func TestRecordOutlived(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		directory := t.TempDir()
		trace, printed, said := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "printed"),
			filepath.Join(directory, "said")
		const launcher = `"$0" wait >"$1" 2>"$2" & echo $!; until grep -q waits "$2"; do sleep 0.1; done; exit 4`
		got := outcome(t, recorder(t, m, []string{"-o", trace}, "sh", "-c", launcher, m.Build(t, "signals.c"),
			printed, said))
		process, err := strconv.Atoi(strings.TrimSpace(got.stdout))
		if err != nil || got.status != 4 ||
			!strings.Contains(got.stderr, "the trace ends early: rank 0 did not reach MPI_Finalize") {
			t.Fatalf("%+v: %v", got, err)
		}
		if i := infoOf(t, trace); callsOf(i, "MPI_Isend") != 100 || callsOf(i, "MPI_Finalize") != 0 {
			t.Errorf("%+v", i)
		}
		if err := syscall.Kill(process, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		await(t, printed, "told to stop 1 times\nend\n")
	})
}

// create makes a file that a process writes to.
func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// await waits until a file has a text.
func await(t *testing.T, path, want string) {
	t.Helper()
	for range 300 {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: no %q in %q", path, want, readFile(t, path))
}

// TestRecordMade records calls from code that a program makes while it runs.
func TestRecordMade(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		for _, sites := range []string{"caller", "stack"} {
			trace := filepath.Join(t.TempDir(), "run.rpz")
			if got := outcome(t, recorder(t, m, []string{"-o", trace, "--sites", sites},
				m.Build(t, "made.c"))); got.status != cli.ExitOK {
				t.Fatalf("%+v", got)
			}
			profile := must(t, "profile", "--by", "site", trace)
			for _, want := range []string{`MPI_Barrier, code in no file +5 `,
				`MPI_Barrier, made\.c:47 main +3 `, `MPI_Barrier, made\.c:50 main +1 `} {
				if !regexp.MustCompile(want).MatchString(profile) {
					t.Errorf("--sites %s: no %q in\n%s", sites, want, profile)
				}
			}
		}
	})
}

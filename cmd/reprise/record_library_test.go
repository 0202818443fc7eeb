//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// countedCompiler makes a compiler command that writes a line to a file each time that it is run. The
// interposer it copies, as it takes long to build.
func countedCompiler(t *testing.T, m *mpitest.MPI, directory string) (mpicc, count string) {
	t.Helper()
	library, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
	if err != nil {
		t.Fatal(err)
	}
	mpicc, count = filepath.Join(directory, "mpicc"), filepath.Join(directory, "count")
	const script = `#!/bin/sh
echo >>%s
case "$*" in
*-fno-builtin-malloc*) while [ "$1" != -o ]; do shift; done; exec cp %s "$2" ;;
esac
exec %s "$@"
`
	writeScript(t, mpicc, fmt.Sprintf(script, count, library.Path, m.CC))
	return mpicc, count
}

// TestWarmStart checks that one process runs compilers at the first start, and none at the second, however a
// run is recorded.
func TestWarmStart(t *testing.T) {
	m := theMPI(t)
	directory, self := t.TempDir(), process(t).Path
	mpicc, count := countedCompiler(t, m, directory)
	program := m.Build(t, "ring.c")
	output := func(i int) string { return filepath.Join(directory, fmt.Sprint(i, ".rpz")) }
	parts := func(i int) string { return filepath.Join(directory, fmt.Sprint(i, ".parts")) }
	for _, tt := range []struct {
		name string
		line func(i int) []string
		most int // compilers at the first start
	}{
		{"Output", func(i int) []string {
			return append([]string{self, "record", "-q", "-o", output(i), "--"}, m.Launch(2, program)...)
		}, 4},
		{"Parts", func(i int) []string {
			return append(m.Launch(3, self, "record", "-q", "--parts", parts(i), "--"), program)
		}, 4},
		{"Merge", func(i int) []string {
			return append([]string{self, "record", "-q", "--merge", "mpi", "--spool", directory, "-o",
				output(i), "--"}, m.Launch(2, program)...)
		}, 5},
		{"Finalize", func(i int) []string {
			return append([]string{self, "record", "-q", "--merge", "finalize", "--spool", directory, "-o",
				output(i), "--"}, m.Launch(2, program)...)
		}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cache := t.TempDir()
			for i, most := range []int{tt.most, 0} {
				line := tt.line(i)
				cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
				cmd.Env = append(mpitest.LaunchEnvironment(t), "XDG_CACHE_HOME="+cache, runMain+"=1", "MPICC="+mpicc)
				if got := outcome(t, cmd); got.status != 0 {
					t.Fatalf("%+v", got)
				}
				runs, _ := os.ReadFile(count)
				if len(runs) > most || i == 0 && len(runs) == 0 {
					t.Errorf("start %d ran %d compilers, of at most %d", i, len(runs), most)
				}
				_ = os.Remove(count)
				switch tt.name {
				case "Parts":
					if names := namesOf(t, parts(i)); strings.Join(names,
						" ") != "rank0000000.part.rpz rank0000001.part.rpz rank0000002.part.rpz" {
						t.Errorf("the directory of the parts has %q", names)
					}
				default:
					if info := infoOf(t, output(i)); info.Size != 2 {
						t.Errorf("%+v", info)
					}
				}
				for _, name := range namesOf(t, directory) {
					if strings.HasPrefix(name, ".") {
						t.Errorf("%s is left", name)
					}
				}
				_ = os.Remove(output(i))
				_ = os.RemoveAll(parts(i))
			}
		})
	}
}

// TestNodeWithoutCompiler starts recorders of which one, or all, have no compiler and nothing that is kept:
// they take what another lays beside the parts, or the program runs unrecorded.
func TestNodeWithoutCompiler(t *testing.T) {
	m := theMPI(t)
	directory, self := t.TempDir(), process(t).Path
	mpicc, _ := countedCompiler(t, m, directory)
	program := m.Build(t, "ring.c")
	const bare = `if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ]; then export MPICC=/no/mpicc XDG_CACHE_HOME="$0.cache"
while [ ! -e "$0/.recorder/library.json" ] && [ -n "$WAIT" ]; do sleep 0.05; done; fi; exec "$@"`
	for _, tt := range []struct {
		name, mpicc, wait string
		parts             int
	}{{"One", mpicc, "1", 3}, {"All", "/no/mpicc", "", 0}} {
		t.Run(tt.name, func(t *testing.T) {
			parts := filepath.Join(t.TempDir(), "run.parts")
			line := m.Launch(3, "sh", "-c", bare, parts, self, "record", "-q", "--parts", parts, "--", program)
			cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
			cmd.Env = append(mpitest.LaunchEnvironment(t), "XDG_CACHE_HOME="+t.TempDir(), runMain+"=1",
				"MPICC="+tt.mpicc, "WAIT="+tt.wait)
			got := outcome(t, cmd)
			if got.status != 0 ||
				strings.Count(got.stderr, launching.Host()+
					": the program runs and is not recorded here: ") != 3-tt.parts {
				t.Errorf("%+v", got)
			}
			if names := namesOf(t, parts); len(names) != tt.parts {
				t.Errorf("the directory of the parts has %q", names)
			}
		})
	}
}

// namesOf returns what is in a directory.
func namesOf(t *testing.T, directory string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

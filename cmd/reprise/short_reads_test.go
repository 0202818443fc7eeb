package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestManyReads completes more reads of a file in one call than are kept: of that call it is not
// known how many bytes it read, and no number is in its place.
func TestManyReads(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		if m.Name != "mpich" { // one tells what is kept of any
			continue
		}
		mpitest.SkipUnderRace(t)
		dir := t.TempDir()
		trace, table := filepath.Join(dir, "run.rpz"), filepath.Join(dir, "run.csv")
		line := append(m.Launch(1, m.Build(t, "manyreads.c")), filepath.Join(dir, "data"), "65537")
		if got := outcome(t, recorder(t, m, []string{"-o", trace, "--times", "none"}, line...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		must(t, "export", trace, "-o", table, "--columns", "function,file_read_bytes")
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Fields(string(text))
		if i := slices.Index(rows, "MPI_Waitall,"); i < 0 ||
			slices.ContainsFunc(rows[i+1:], func(row string) bool { return strings.HasPrefix(row, "MPI_Waitall") }) {
			t.Errorf("the bytes of MPI_Waitall are not left out: %q", rows[max(0, len(rows)-5):])
		}
	}
}

// TestShortReads records a program that reads a file beyond its end: the bytes that it reads are those that
// it was given.
func TestShortReads(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		mpitest.SkipUnderRace(t)
		dir := t.TempDir()
		trace, table := filepath.Join(dir, "run.rpz"), filepath.Join(dir, "run.csv")
		line := append(m.Launch(1, m.Build(t, "shortreads.c")), filepath.Join(dir, "data"))
		got := outcome(t, recorder(t, m, []string{"-o", trace}, line...))
		if got.status != 0 {
			t.Fatalf("%+v", got)
		}
		must(t, "export", trace, "-o", table, "--columns", "file_read_bytes")
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for row := range strings.Lines(string(text)) {
			n := 0
			fmt.Sscan(row, &n)
			sum += n
		}
		if fmt.Sprint(sum) != strings.TrimSpace(got.stdout) {
			t.Errorf("%s: %d bytes, want %s", m.Name, sum, got.stdout)
		}
	}
}

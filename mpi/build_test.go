package mpi

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/header"
)

func TestBuildInterposer(t *testing.T) {
	mpicc := compilers(t)[0]
	first := interposer(t, mpicc)
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	// The second time, it is there already.
	library, err := BuildInterposer(context.Background(), mpicc, filepath.Dir(first))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(library.Path)
	if err != nil || library.Path != first || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Errorf("built %s again as %s", first, library.Path)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(first), "building-*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestBuildInterposerErrors(t *testing.T) {
	if _, err := BuildInterposer(context.Background(), "/no/such/mpicc", t.TempDir()); err == nil {
		t.Error("built without a compiler")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	// A compiler that knows no mpi.h.
	if _, err := BuildInterposer(context.Background(), "cc", t.TempDir()); err == nil || !strings.Contains(err.Error(), "mpi.h") {
		t.Errorf("built without mpi.h: %v", err)
	}
}

// TestUnknown checks that functions that are not recorded are named.
func TestUnknown(t *testing.T) {
	h := &header.Header{}
	var err error
	h.Functions, err = header.Parse("int MPI_Barrier(MPI_Comm comm); int MPI_Wait(MPI_Request *r, double *s); int MPI_Novel(int n);")
	if err != nil {
		t.Fatal(err)
	}
	source, library, err := interposerSource(h)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(library.Unknown, " "); got != "MPI_Wait MPI_Novel" || library.Functions != 1 {
		t.Errorf("%d functions, unknown %s", library.Functions, got)
	}
	if text := string(source); !strings.Contains(text, "int MPI_Barrier(MPI_Comm comm)\n{") || strings.Contains(text, "MPI_Novel") {
		t.Error("the source is not that of the functions that are known")
	}
	if _, _, err := interposerSource(&header.Header{}); err == nil {
		t.Error("an mpi.h without functions was accepted")
	}
}

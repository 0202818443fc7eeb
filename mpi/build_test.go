package mpi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/internal/mpitest"
)

func TestBuildInterposer(t *testing.T) {
	mpitest.SkipUnderRace(t)
	directory := t.TempDir()
	// A compiler that is quick, for it writes nothing.
	mpicc := filepath.Join(directory, "mpicc")
	script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\" -fsyntax-only\n", compilers(t)[0])
	if err := os.WriteFile(mpicc, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(directory, "cache", "of", "interposers")
	first, err := BuildInterposer(t.Context(), mpicc, cache)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(first.Path)
	if err != nil || before.Mode().Perm()&0o555 != 0o555 {
		t.Fatal(err, before.Mode())
	}
	// The second time, it is there already.
	second, err := BuildInterposer(t.Context(), mpicc, cache)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(second.Path)
	if err != nil || second.Path != first.Path || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Errorf("built %s again as %s", first.Path, second.Path)
	}
	if files, err := os.ReadDir(cache); err != nil || len(files) != 1 {
		t.Errorf("the cache has %v, %v", files, err)
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
	if text := string(source); !strings.Contains(text, "int wrapper_MPI_Barrier(intptr_t wide_comm)\n{") || strings.Contains(text, "MPI_Novel") {
		t.Error("the source is not that of the functions that are known")
	}
	if _, _, err := interposerSource(&header.Header{}); err == nil {
		t.Error("an mpi.h without functions was accepted")
	}
}

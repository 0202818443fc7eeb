package mpi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/mpitest"
)

// TestFindCompiler starts programs as users do: those in Fortran need not be linked
// with the library for C themselves, and a script says nothing of MPI.
func TestFindCompiler(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, source := range []string{"loop.c", "mpif.f", "usempif08.f90", script} {
			t.Run(filepath.Base(source), func(t *testing.T) {
				program := source
				if source != script {
					program = m.Build(t, source)
				}
				got, err := FindCompiler(t.Context(), m.Command(2, t.TempDir(), program))
				if err != nil || executable(got) != executable(m.CC) {
					t.Errorf("found %q, %v, want %s", got, err, m.CC)
				}
			})
		}
	})
}

// TestFindCompilerErrors says what is missing.
func TestFindCompilerErrors(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		program := m.Build(t, "loop.c")
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
		if got, err := FindCompiler(t.Context(), []string{program}); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
			t.Errorf("found %q, %v", got, err)
		}
	})
}

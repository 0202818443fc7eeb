package mpi_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi"
)

// TestMisuse calls all of the package as it must not be called. No compiler command that it names is there.
func TestMisuse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	command, err := mpi.Inspect(context.Background(), []string{"-", "x"})
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package: "mpi",
		Functions: []any{
			mpi.BuildCalibrator, mpi.BuildInterposer, mpi.BuildProgram, mpi.BuildReducer, mpi.Digest, mpi.Inspect,
			mpi.IsPrivate, mpi.KeptInterposer, mpi.ReadCalibration, mpi.Take,
		},
		Values: []any{
			command, new(mpi.Command), &mpi.Command{Program: "x", Library: "libmpi.so.40"},
			strings.NewReader("reprise-calibrate\trank\t0\t0\t2\nother\nreprise-calibrate\tend\n"), io.Discard,
		},
	}.Run(t)
}

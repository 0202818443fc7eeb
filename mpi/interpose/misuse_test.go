package interpose_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// TestMisuse calls all of the package as it must not be called. No compiler command that it names is there.
func TestMisuse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	command, err := interpose.Inspect(context.Background(), []string{"-", "x"})
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package: "interpose",
		Functions: []any{
			interpose.BuildCalibrator, interpose.Build, interpose.BuildProgram, interpose.BuildReducer,
			interpose.BuildTool,
			interpose.Digest, interpose.Inspect,
			interpose.IsPrivate, interpose.Kept, interpose.ReadCalibration, interpose.Take,
		},
		Values: []any{
			&interpose.Interposer{Path: "x"}, command, new(interpose.Command),
			&interpose.Command{Program: "x", Library: "libmpi.so.40"},
			strings.NewReader("reprise-calibrate\trank\t0\t0\t2\nother\nreprise-calibrate\tend\n"), io.Discard,
		},
	}.Run(t)
}

package simgrid_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi/simgrid"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	read := func() *simgrid.Reader {
		return simgrid.NewReader(strings.NewReader("0 init\n0 send 1 0 8\n0 finalize\n"), simgrid.Options{})
	}
	recording, err := simgrid.ReadRanks(read(), nil)
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package: "simgrid",
		Functions: []any{simgrid.Functions, simgrid.Lookup, simgrid.Open, simgrid.NewReader,
			simgrid.AppendCall, simgrid.Record, simgrid.ReadRanks, simgrid.NewWriter, simgrid.CreateRanks},
		Values: []any{
			read(), recording, &simgrid.ReadError{Err: io.EOF}, simgrid.Call{Function: 1},
			simgrid.NewWriter(new(bytes.Buffer)), strings.NewReader("0 init\n"), new(bytes.Buffer),
			context.Background(),
		},
	}.Run(t)
}

package ti_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/ti"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	read := func() *ti.Reader {
		return ti.NewReader(strings.NewReader("0 init\n0 send 1 0 8\n0 finalize\n"), ti.Options{})
	}
	recording, err := ti.ReadRanks(read(), nil)
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "ti",
		Functions: []any{ti.Functions, ti.Lookup, ti.Open, ti.NewReader, ti.AppendCall, ti.Record, ti.ReadRanks, ti.NewWriter, ti.CreateRanks},
		Values: []any{
			read(), recording, &ti.ReadError{Err: io.EOF}, ti.Call{Function: 1},
			ti.NewWriter(new(bytes.Buffer)), strings.NewReader("0 init\n"), new(bytes.Buffer), context.Background(),
		},
	}.Run(t)
}

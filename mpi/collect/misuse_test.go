package collect_test

import (
	"io"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	collector, err := collect.New(t.TempDir(), collect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "collect",
		Functions: []any{collect.New, collect.IsSpool},
		Values:    []any{collector, new(collect.Collector), &collect.RecordsError{Err: io.EOF}},
	}.Run(t)
}

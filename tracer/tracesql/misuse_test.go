package tracesql_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracesql"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	misuse.Walk{
		Package:   "tracesql",
		Functions: []any{tracesql.Open, tracesql.Connector},
		Values:    []any{new(tracer.Process), echo{}, echo{full: true}},
	}.Run(t)
}

package groups_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4)
	misuse.Walk{
		Package:   "groups",
		Functions: []any{groups.Resolve, groups.WorldName},
		Values:    []any{testtrace.Write(t, p.Run(), p.Parts()), &groups.LimitError{}},
	}.Run(t)
}

package report_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/report"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	misuse.Walk{
		Package:   "report",
		Functions: []any{report.Write, report.OpenView},
		Left:      map[string]string{"View.ServeHTTP": "net/http calls it, as any handler"},
		Values:    []any{testtrace.Write(t, p.Run(), p.Parts()), report.Options{}},
	}.Run(t)
}

package extrapolate_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	var traces []*trace.Trace
	for _, n := range []int{2, 3} {
		p := programs.Stencil2D(n, 2, 2)
		traces = append(traces, testtrace.Write(t, p.Run(), p.Parts()))
	}
	refused := make(map[string]func() error)
	add := func(what string, ranks int, of ...*trace.Trace) {
		refused[what] = func() error {
			_, err := extrapolate.Make(context.Background(), of, extrapolate.Options{Ranks: ranks, Check: query.Faults})
			return err
		}
	}
	add("no trace", 8)
	add("nil", 8, nil)
	add("a trace and nil", 8, traces[0], nil)
	add("a trace twice", 8, traces[0], traces[0])
	add("no ranks", 0, traces...)
	add("-1 ranks", -1, traces...)
	add("more ranks than a run has", math.MaxInt, traces...)
	misuse.Refused(t, "extrapolate", refused)

	misuse.Walk{
		Package: "extrapolate",
		Values:  []any{new(extrapolate.Result), &extrapolate.Error{}, new(bytes.Buffer)},
		Left:    map[string]string{"Make": "a call takes tenths of a second: it is called above"},
	}.Run(t)
}

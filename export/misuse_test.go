package export_test

import (
	"context"
	"io"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/otf2"
	"github.com/reprise-trace/reprise/export/paraver"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/export/simgrid"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/trace"
)

// TestMisuse exports no trace, and to nothing.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	tr := testtrace.Write(t, p.Run(), p.Parts())
	ctx := context.Background()
	calls := make(map[string]func())
	for name, write := range map[string]func(w io.Writer, of *trace.Trace){
		"chrome":         func(w io.Writer, of *trace.Trace) { chrome.Write(ctx, w, of, export.Options{}) },
		"csv":            func(w io.Writer, of *trace.Trace) { csv.Write(ctx, w, of, export.TableOptions{}) },
		"paraver":        func(w io.Writer, of *trace.Trace) { paraver.Write(ctx, w, of, export.Options{}) },
		"paraver rows":   func(w io.Writer, of *trace.Trace) { paraver.WriteRows(ctx, w, of, export.Options{}) },
		"paraver config": func(w io.Writer, of *trace.Trace) { paraver.WriteConfig(w, of) },
		"parquet":        func(w io.Writer, of *trace.Trace) { parquet.Write(ctx, w, of, export.TableOptions{}) },
		"perfetto":       func(w io.Writer, of *trace.Trace) { perfetto.Write(ctx, w, of, export.Options{}) },
		"pprof":          func(w io.Writer, of *trace.Trace) { pprof.Write(ctx, w, of, export.Options{}) },
		"simgrid":        func(w io.Writer, of *trace.Trace) { simgrid.Write(ctx, w, of, simgrid.Options{}) },
	} {
		calls[name+" of no trace"] = func() { write(io.Discard, nil) }
		calls[name+" to nothing"] = func() { write(nil, tr) }
	}
	calls["otf2 of no trace"] = func() { otf2.Write(ctx, t.TempDir(), nil, otf2.Options{}) }
	misuse.Panic(t, "export", calls)
}

// Package testtrace makes traces for tests, in memory:
//
//	trace := testtrace.TI(t, "0 init\n0 finalize\n")
//
// of parts, of lines of SimGrid, of calls with times, of recorded runs of MPI programs,
// and with names and values that no format likes.
package testtrace

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
)

// A TB is a test, a benchmark, or a property under test.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// File returns the file of a trace of parts.
func File(t TB, run merge.Run, parts []merge.Part) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Records returns a trace with a record for each of its sections, however small they are, so that one of them
// can be damaged alone.
func Records(t TB, file []byte) []byte {
	t.Helper()
	out, err := forged.Rewritten(file, func(w *format.Writer, s format.Section, content []byte) {
		w.Add(s.Kind, s.Key, content)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Open returns the trace in a file, which must not change any more.
func Open(t TB, file []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Write returns the trace of parts.
func Write(t TB, run merge.Run, parts []merge.Part) *trace.Trace {
	t.Helper()
	return Open(t, File(t, run, parts))
}

// TI returns the trace of lines of SimGrid.
func TI(t TB, lines string) *trace.Trace {
	t.Helper()
	run, parts, err := simgrid.Record(simgrid.NewReader(strings.NewReader(lines), simgrid.Options{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Write(t, run, parts)
}

// Runs of 4 processes under Open MPI: examples/stencil with 100 steps, with the time of
// every call to the nanosecond, and with statistics of times; and messages.c in testdata,
// with the times of every call, and, as halves, with an argument. Of 3 processes, in the same way:
// startall.c and wildcard.c.
//
//go:embed testdata/*.rpz
var recorded embed.FS

// Stencil returns the run of a recorded MPI program: with times of the kind exact or
// statistics.
func Stencil(t testing.TB, times string) *trace.Trace {
	t.Helper()
	return Recorded(t, "stencil."+times)
}

// SmallStencil is [Stencil] in a small container, whose sections are coded together.
func SmallStencil(t testing.TB, times string) *trace.Trace {
	t.Helper()
	data, err := recorded.ReadFile("testdata/stencil." + times + ".rpz")
	if err != nil {
		t.Fatal(err)
	}
	old, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := format.NewWriter(&file, format.Options{Encoding: format.Primed})
	for _, s := range old.All() {
		content, err := old.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(s.Kind, s.Key, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if file.Bytes()[7] != format.Version {
		t.Fatal("it has records")
	}
	return Open(t, file.Bytes())
}

// Recorded returns a run in testdata.
func Recorded(t testing.TB, name string) *trace.Trace {
	t.Helper()
	file, err := recorded.ReadFile("testdata/" + name + ".rpz")
	if err != nil {
		t.Fatal(err)
	}
	return Open(t, file)
}

// Real returns the trace of a real run, of a file such as ti/lu.W.64.ti.zst beside the
// project. The test is skipped if there is none.
func Real(t testing.TB, name string) *trace.Trace {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(here), "..", "..", "..", "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("there is no ", path)
	}
	in, err := simgrid.Open([]string{path}, simgrid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	run, parts, err := simgrid.Record(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Write(t, run, parts)
}

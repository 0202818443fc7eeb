package tracetest

import (
	"bytes"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
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

// Open returns the trace in a file, which must not change any more.
func Open(t TB, file []byte) *reprise.Trace {
	t.Helper()
	trace, err := reprise.OpenReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// Write returns the trace of parts.
func Write(t TB, run merge.Run, parts []merge.Part) *reprise.Trace {
	t.Helper()
	return Open(t, File(t, run, parts))
}

// TI returns the trace of lines of SimGrid.
func TI(t TB, lines string) *reprise.Trace {
	t.Helper()
	run, parts, err := ti.Record(ti.NewReader(strings.NewReader(lines), ti.Options{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Write(t, run, parts)
}

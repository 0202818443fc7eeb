// Package foreign lets programs that are not ours read what the exports write, for
// tests: Perfetto's trace processor, DuckDB and SimGrid's smpirun. A test skips where they are
// not installed, and says how to install them.
package foreign

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

//go:embed traceprocessor.mjs
var traceProcessorScript []byte

// A TraceProcessor is Perfetto's trace processor.
type TraceProcessor struct {
	stdin  *json.Encoder
	stdout *json.Decoder
	stderr bytes.Buffer
}

// FindTraceProcessor returns the trace processor in the directory that the environment
// variable REPRISE_TRACE_PROCESSOR names, where internal/test/foreign/install puts it, or
// skips the test.
func FindTraceProcessor(t testing.TB) *TraceProcessor {
	t.Helper()
	skipShort(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Perfetto's trace processor needs node: ", err)
	}
	directory := os.Getenv("REPRISE_TRACE_PROCESSOR")
	if directory == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			directory = filepath.Join(cache, "reprise-test", "trace-processor")
		}
	}
	if _, err := os.Stat(filepath.Join(directory, "trace_processor.wasm")); err != nil {
		t.Skip("no trace processor of Perfetto, which internal/test/foreign/install installs: ", err)
	}
	script := filepath.Join(t.TempDir(), "traceprocessor.mjs")
	if err := os.WriteFile(script, traceProcessorScript, 0o666); err != nil {
		t.Fatal(err)
	}
	p := &TraceProcessor{}
	cmd := exec.Command(node, script, directory)
	cmd.Stderr = &p.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin, p.stdout = json.NewEncoder(stdin), json.NewDecoder(stdout)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	return p
}

// Query loads a trace and returns the rows that each query gives. Integers are strings,
// as they may not fit a float64.
func (p *TraceProcessor) Query(t testing.TB, trace string, queries ...string) [][][]any {
	t.Helper()
	err := p.stdin.Encode(struct {
		Trace   string   `json:"trace"`
		Queries []string `json:"queries"`
	}{trace, queries})
	var rows [][][]any
	if err == nil {
		err = p.stdout.Decode(&rows)
	}
	if err != nil {
		time.Sleep(100 * time.Millisecond) // for what it has to say
		t.Fatalf("trace processor: %v\n%s", err, p.stderr.Bytes())
	}
	return rows
}

// Faults is a query for what the trace processor did not like about a trace.
const Faults = "SELECT name, idx, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"

//go:embed duckdb.cjs
var duckDBScript []byte

// A Result is what a query returns: the values of rows as text, nil if they are NULL.
type Result struct {
	Names, Types []string
	Rows         [][]*string
}

// DuckDB runs a query, such as SELECT * FROM 'file.parquet', in the DuckDB that is in the
// directory which the environment variable REPRISE_DUCKDB names, where
// internal/test/foreign/install-duckdb puts it, or skips the test.
func DuckDB(t testing.TB, query string) Result {
	t.Helper()
	skipShort(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("DuckDB needs node: ", err)
	}
	directory := os.Getenv("REPRISE_DUCKDB")
	if directory == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			directory = filepath.Join(cache, "reprise-test", "duckdb")
		}
	}
	module := filepath.Join(directory, "node_modules", "@duckdb", "node-api")
	if _, err := os.Stat(module); err != nil {
		t.Skip("no DuckDB, which internal/test/foreign/install-duckdb installs: ", err)
	}
	script := filepath.Join(t.TempDir(), "duckdb.cjs")
	if err := os.WriteFile(script, duckDBScript, 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c := exec.Command(node, script, module, query)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", query, err, stderr.Bytes())
	}
	var r Result
	d := json.NewDecoder(bytes.NewReader(out))
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		var row []*string
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// skipShort skips what runs other programs, in short runs.
func skipShort(t testing.TB) {
	t.Helper()
	e2e.Programs(t)
}

// Replay has SimGrid's smpirun replay a file with the actions of all ranks on a platform, and returns
// the simulated time in seconds. It skips the test if there is no smpirun.
func Replay(t testing.TB, on Platform, trace string, ranks int) float64 {
	t.Helper()
	skipShort(t)
	s, err := on.Simulate(t.TempDir(), trace, ranks)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.Seconds
}

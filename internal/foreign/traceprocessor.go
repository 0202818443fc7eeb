package foreign

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
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
// variable REPRISE_TRACE_PROCESSOR names, where internal/foreign/install puts it, or
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
		t.Skip("no trace processor of Perfetto, which internal/foreign/install installs: ", err)
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

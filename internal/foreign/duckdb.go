package foreign

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed duckdb.cjs
var duckDBScript []byte

// A Result is what a query returns: the values of rows as text, nil if they are NULL.
type Result struct {
	Names, Types []string
	Rows         [][]*string
}

// DuckDB runs a query, such as SELECT * FROM 'file.parquet', in the DuckDB that is in the
// directory which the environment variable REPRISE_DUCKDB names, where
// internal/foreign/install-duckdb puts it, or skips the test.
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
		t.Skip("no DuckDB, which internal/foreign/install-duckdb installs: ", err)
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
	if testing.Short() {
		t.Skip("short: runs another program")
	}
}

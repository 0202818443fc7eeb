package parquet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"

	reader "github.com/parquet-go/parquet-go"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// withOrigin returns a trace with times that tells who made it and when.
func withOrigin(t testing.TB) *trace.Trace {
	t.Helper()
	f := testtrace.Function("f", testtrace.Param("n", cst.KindInt))
	run := merge.Run{Source: "test", Origin: format.Origin{
		Commands: []string{"./app --size 5"}, Versions: []string{"MPICH 4.0.2"}, Hosts: []string{"n1", "n2"},
		Began: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC),
	}}
	return testtrace.Record(t, run, true,
		[][]testtrace.Call{{{Function: f, Args: []cst.Value{cst.Int(1)}, Start: 1_000, Duration: 10},
			{Function: f, Args: []cst.Value{cst.Int(2)}, Start: 3_500, Duration: 10}}})
}

// TestMetadata checks what files say of the run and of what wrote them, and that DuckDB reads
// it.
func TestMetadata(t *testing.T) {
	data := write(t, withOrigin(t), export.TableOptions{})
	f, err := reader.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"rows": "call", "source": "test", "ranks": "1", "times": "as recorded",
		"began":   "2026-03-01T12:00:00.000000005Z",
		"program": "./app --size 5", "versions": "MPICH 4.0.2", "hosts": "n1\nn2",
	} {
		if got, _ := f.Lookup("reprise." + key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if by := f.Metadata().CreatedBy; !regexp.MustCompile(`^reprise version \S+ \(build \S+\)$`).MatchString(by) {
		t.Errorf("created by %q", by)
	}
	path := filepath.Join(t.TempDir(), "run.parquet")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(t, "SELECT start, start_ns FROM '"+path+
		"' WHERE start > TIMESTAMPTZ '2026-03-01 12:00:00.000001+00'"); len(got) != 1 ||
		!strings.HasSuffix(got[0], " 2500") {
		t.Errorf("calls %q", got)
	}
	if got := foreign.DuckDB(t, "SELECT decode(value) FROM parquet_kv_metadata('"+path+
		"') WHERE decode(key) = 'reprise.times'"); *got.Rows[0][0] != "as recorded" {
		t.Errorf("times are %s", *got.Rows[0][0])
	}
}

// TestStart checks that there are no dates where the trace does not tell when the run began.
func TestStart(t *testing.T) {
	for name, want := range map[string]bool{"exact": true, "statistics": false} {
		data := write(t, testtrace.Stencil(t, name), export.TableOptions{})
		f, err := reader.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if _, got := f.Schema().Lookup("start"); got != want {
			t.Errorf("%s: a column of dates: %v, want %v", name, got, want)
		}
		if _, ok := f.Schema().Lookup("start_ns"); !ok {
			t.Errorf("%s: no times", name)
		}
	}
}

// TestDictionaries checks that texts that repeat have a dictionary in all row groups, also where
// they are many.
func TestDictionaries(t *testing.T) {
	tier.SlowRace(t)
	name := strings.Repeat("x", 200)
	f := cst.Function{Name: "f", Params: []cst.Param{{Name: "s", Type: cst.Type{Kind: cst.KindString}}}}
	n := 1_200_000
	if !tier.Nightly {
		n = 60_000
	}
	var calls []testtrace.Call
	for i := range n {
		calls = append(calls, testtrace.Call{Function: f,
			Args: []cst.Value{cst.String(name + string(rune('a'+i%20)) + string(rune('a'+i/20%1000)))}})
	}
	many := testtrace.Record(t, merge.Run{Source: "test"}, false, [][]testtrace.Call{calls})
	p := programs.Stencil2D(2, 2, uint64(tier.Number(4_000, 20_000)))
	stencil := testtrace.Write(t, p.Run(), p.Parts())
	for name, tr := range map[string]*trace.Trace{"arg_s": many, "arg_comm": stencil} {
		data := write(t, tr, export.TableOptions{Columns: []string{"function", "call", name}})
		r, err := reader.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range r.RowGroups() {
			for _, c := range g.ColumnChunks() {
				pages := c.Pages()
				for page, err := pages.ReadPage(); err == nil; page, err = pages.ReadPage() {
					if page.Dictionary() == nil {
						t.Errorf("%s: a page of column %d has no dictionary", name, c.Column())
					}
				}
				pages.Close()
			}
		}
	}
}

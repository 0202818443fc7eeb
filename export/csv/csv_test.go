package csv_test

import (
	"context"
	reader "encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

func newTable(t testing.TB, tr *trace.Trace, o export.TableOptions) *rows.Table {
	t.Helper()
	table, err := rows.New(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func write(t testing.TB, tr *trace.Trace, o export.TableOptions) string {
	t.Helper()
	var b strings.Builder
	if err := csv.Write(t.Context(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readers read a file of comma-separated values. Those that do not tell a missing value
// from empty text give neither.
var readers = map[string]func(t *testing.T, path string) (names []string, rows int,
	get func(int, string) (string, bool)){
	"encoding-csv": func(t *testing.T, path string) ([]string, int, func(int, string) (string, bool)) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		records, err := reader.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return table(records)
	},
	"Python": func(t *testing.T, path string) ([]string, int, func(int, string) (string, bool)) {
		e2e.Programs(t)
		python, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("no python3: ", err)
		}
		const script = "import csv, json, sys\nprint(json.dumps(list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))))"
		out, err := exec.Command(python, "-c", script, path).Output()
		if err != nil {
			t.Fatal(err)
		}
		var records [][]string
		if err := json.Unmarshal(out, &records); err != nil {
			t.Fatal(err)
		}
		return table(records)
	},
	"DuckDB": func(t *testing.T, path string) ([]string, int, func(int, string) (string, bool)) {
		r := foreign.DuckDB(t, "SELECT * FROM read_csv('"+path+
			"', header=true, all_varchar=true, allow_quoted_nulls=false, delim=',', quote='\"', escape='\"')")
		n, get := exporttest.Result(r)
		return r.Names, n, get
	},
}

// table returns records of which the first has the names of columns.
func table(records [][]string) ([]string, int, func(int, string) (string, bool)) {
	at := make(map[string]int)
	for i, name := range records[0] {
		at[name] = i
	}
	return records[0], len(records) - 1, func(row int, column string) (string, bool) {
		v := records[row+1][at[column]]
		return v, v != ""
	}
}

// TestReaders reads every value back with three readers, and compares what they read with
// the rows of the table.
func TestReaders(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"Recorded": testtrace.Stencil(t, "exact"), "Statistics": testtrace.Stencil(t, "statistics"),
		"Hostile": testtrace.HostileTable(t),
		"Timed":   testtrace.Timed(t, 3, tier.Number(500, 6_000), testtrace.Series),
		"Empty":   testtrace.Write(t, merge.Run{Source: "test"}, nil),
	} {
		for _, by := range []export.By{export.Calls, export.Signatures} {
			o := export.TableOptions{By: by}
			columns, want := exporttest.Read(t, newTable(t, tr, o))
			path := filepath.Join(t.TempDir(), "file.csv")
			if err := os.WriteFile(path, []byte(write(t, tr, o)), 0o600); err != nil {
				t.Fatal(err)
			}
			for reader, read := range readers {
				t.Run(fmt.Sprint(name, by, reader), func(t *testing.T) {
					names, n, get := read(t, path)
					if fmt.Sprint(names) != fmt.Sprint(columns) {
						t.Fatalf("columns %v, want %v", names, columns)
					}
					want := want
					if reader != "DuckDB" {
						want = withoutEmpty(want)
					}
					exporttest.Compare(t, columns, want, n, func(row int, column string) (string, bool) {
						v, ok := get(row, column)
						return regexp.MustCompile(`(^|[;\t\r\n])'`).ReplaceAllString(v, "$1"), ok
					})
				})
			}
		}
	}
}

// withoutEmpty returns rows without what is empty.
func withoutEmpty(all []exporttest.Row) []exporttest.Row {
	some := make([]exporttest.Row, len(all))
	for i, row := range all {
		some[i] = make(exporttest.Row)
		for name, v := range row {
			if v != "" {
				some[i][name] = v
			}
		}
	}
	return some
}

// TestFormulas checks that a spreadsheet takes no text for a formula, and numbers for numbers.
func TestFormulas(t *testing.T) {
	texts := []string{"=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-x", "'=1", "-Inf", " =1", "−1", "＝1",
		"\u00a0=1", "x;=1", "-1", "+2.5e3", "x=1", "x;1"}
	const formulas = 11
	var r tracer.Recorder
	f := r.Declare(cst.Function{Name: "=f", Params: []cst.Param{{Name: "text", Type: cst.Type{Kind: cst.KindString}}}})
	for _, text := range texts {
		r.Call(f, cst.String(text))
	}
	tr := testtrace.Write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{r.Finish(0)})
	all, err := reader.NewReader(
		strings.NewReader(write(t, tr, export.TableOptions{Columns: []string{"function", "arg_text"}}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1+len(texts) || all[0][1] != "arg_text" {
		t.Fatalf("%q", all)
	}
	for i, text := range texts {
		switch got := all[1+i][1]; {
		case all[1+i][0] != "'=f":
			t.Errorf("the function %q", all[1+i][0])
		case (got != text) != (i < formulas):
			t.Errorf("%q for %q", got, text)
		}
	}
}

// TestText checks a file as it is.
func TestText(t *testing.T) {
	got := write(t, testtrace.Timed(t, 2, 1, testtrace.Series),
		export.TableOptions{Columns: []string{"call", "position", "rank", "duration_ns", "arg_dest"}})
	const want = `call,position,rank,duration_ns,arg_dest
"send(dest=(rank+1) mod N, count=0)",0,0,100,1
wait(),1,0,1000,
"send(dest=(rank+1) mod N, count=0)",0,1,100,0
wait(),1,1,1000,
`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestGroups checks that rows do not change where a group of rows ends.
func TestGroups(t *testing.T) {
	p := programs.Stencil2D(2, 2, 60_000)
	tr := testtrace.Write(t, p.Run(), p.Parts())
	if got := write(t, tr,
		export.TableOptions{Columns: []string{"rank", "position", "arg_dest"}}); strings.Count(got,
		"\n") < rows.MaxRows {
		t.Fatal("one group only")
	} else {
		line := func(s string) string { return s[:strings.IndexByte(s, '\n')] }
		rest := got[len(line(got))+1:]
		for number := range tr.Ranks() {
			r, err := tr.Rank(number)
			if err != nil {
				t.Fatal(err)
			}
			for call, err := range r.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				position := call.Position
				want := fmt.Sprintf("%d,%d,", number, position)
				if v, ok := call.Arg("dest"); ok {
					want += v.String()
				}
				if line(rest) != want {
					t.Fatalf("line %q, want %q", line(rest), want)
				}
				rest = rest[len(want)+1:]
			}
		}
		if rest != "" {
			t.Errorf("%d bytes too many", len(rest))
		}
	}
}

// A failing writes some bytes, and then fails.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestErrors(t *testing.T) {
	tr := testtrace.Timed(t, 2, 2000, testtrace.Series)
	for _, n := range []int{0, 100_000, len(write(t, tr, export.TableOptions{})) - 1} {
		f := failing(n)
		if err := csv.Write(t.Context(), &f, tr, export.TableOptions{}); err != io.ErrShortWrite {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	if err := csv.Write(ctx, io.Discard, tr, export.TableOptions{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCancel cancels while rows are written.
func TestCancel(t *testing.T) {
	tr := testtrace.Timed(t, 2, 50_000, testtrace.Statistics)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var done []uint64
	err := csv.Write(ctx, io.Discard, tr, export.TableOptions{Options: export.Options{Progress: func(n uint64) error {
		done = append(done, n)
		cancel(os.ErrClosed)
		return nil
	}}})
	if err != os.ErrClosed || len(done) != 1 || done[0] == 0 || done[0] >= 200_000 {
		t.Errorf("%v after %d rows", err, done)
	}
}

// TestMemory checks that what is held does not grow with the number of calls.
func TestMemory(t *testing.T) {
	tier.Long(t, "10⁷ calls")
	p := programs.Stencil2D(2, 2, 300_000)
	tr := testtrace.Write(t, p.Run(), p.Parts())
	var first, last, next uint64
	err := csv.Write(t.Context(), io.Discard, tr,
		export.TableOptions{Options: export.Options{Progress: func(n uint64) error {
			if n < next {
				return nil
			}
			next = n + rows.MaxRows
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			if last = m.HeapAlloc; first == 0 {
				first = m.HeapAlloc
			}
			return nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	if next < 4*rows.MaxRows || last > first+first/4+8<<20 || last > 100<<20 {
		t.Errorf("%d bytes are held at the end, %d at the beginning", last, first)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, times := range []testtrace.Times{testtrace.Series, testtrace.Statistics} {
		b.Run("times="+string(times), func(b *testing.B) { benchmarkWrite(b, testtrace.Timed(b, 4, 100_000, times)) })
	}
	b.Run("trace=lu.W.16", func(b *testing.B) { benchmarkWrite(b, testtrace.Real(b, "ti/lu.W.16.ti.zst")) })
}

func benchmarkWrite(b *testing.B, tr *trace.Trace) {
	var n uint64
	o := export.TableOptions{Options: export.Options{Progress: func(rows uint64) error { n = rows; return nil }}}
	for b.Loop() {
		if err := csv.Write(b.Context(), io.Discard, tr, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
}

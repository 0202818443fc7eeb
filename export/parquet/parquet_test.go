package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/tier"

	reader "github.com/parquet-go/parquet-go"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// traces returns traces of all kinds.
func traces(t testing.TB) map[string]*trace.Trace {
	t.Helper()
	return map[string]*trace.Trace{
		"Recorded": testtrace.Stencil(t, "exact"), "Statistics": testtrace.Stencil(t, "statistics"),
		"Hostile": testtrace.HostileTable(t), "Distinct": distinct(t, tier.Number(85_000, 150_000)),
		"Empty": testtrace.Write(t, merge.Run{Source: "test"}, nil),
		"Timed": testtrace.Timed(t, 3, tier.Number(1_000, 12_000), testtrace.Series),
	}
}

// distinct returns a trace of n calls of two ranks that all differ, most of them of one rank, so that
// its dictionaries overflow.
func distinct(t testing.TB, n int) *trace.Trace {
	t.Helper()
	f := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "i", Type: cst.Type{Kind: cst.KindInt}}, {Name: "x", Type: cst.Type{Kind: cst.KindFloat}},
		{Name: "s", Type: cst.Type{Kind: cst.KindString}},
	}}
	g := cst.Function{Name: "g", Params: []cst.Param{{Name: "i", Type: cst.Type{Kind: cst.KindInt}}}}
	var parts []merge.Part
	for rank := range 2 {
		var r tracer.Recorder
		f, g := r.Declare(f), r.Declare(g)
		for i := range []int{n * 9 / 10, n / 10}[rank] {
			if i%5 == 0 {
				r.Call(g, cst.Int(int64(-i)))
				continue
			}
			r.Call(f, cst.Int(int64(i)), cst.Float(float64(i)/3), cst.String(fmt.Sprint("text ", i, " of ", rank)))
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, merge.Run{Ranks: 2, Source: "test"}, parts)
}

// write returns a trace as a Parquet file.
func write(t testing.TB, tr *trace.Trace, o export.TableOptions) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := parquet.Write(t.Context(), &file, tr, o); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestReaders reads every value of files back with two libraries, and compares what they
// read with the rows of the table.
func TestReaders(t *testing.T) {
	tier.SlowRace(t)
	for name, tr := range traces(t) {
		for _, by := range []export.By{export.Calls, export.Signatures} {
			if name == "Distinct" && by == export.Signatures {
				continue
			}
			t.Run(fmt.Sprint(name, by), func(t *testing.T) {
				table, err := rows.New(t.Context(), tr, export.TableOptions{By: by})
				if err != nil {
					t.Fatal(err)
				}
				names, want := exporttest.Read(t, table)
				file := write(t, tr, export.TableOptions{By: by})
				t.Run("parquet-go", func(t *testing.T) {
					n, got := readBack(t, file, table)
					exporttest.Compare(t, names, want, n, got)
				})
				t.Run("DuckDB", func(t *testing.T) {
					if !tier.Nightly && len(want) > 10_000 {
						t.Skip("short: a large file")
					}
					path := filepath.Join(t.TempDir(), "file.parquet")
					if err := os.WriteFile(path, file, 0o600); err != nil {
						t.Fatal(err)
					}
					r := foreign.DuckDB(t, "SELECT * FROM '"+path+"'")
					checkTypes(t, table, r)
					n, got := exporttest.Result(r)
					exporttest.Compare(t, names, toMicroseconds(table, want), n, got)
				})
			})
		}
	}
}

// checkTypes checks the types of columns as DuckDB sees them.
func checkTypes(t *testing.T, table *rows.Table, r foreign.Result) {
	t.Helper()
	for i, c := range table.Columns() {
		want := map[rows.Type]string{rows.Int: "BIGINT", rows.Float: "DOUBLE", rows.Text: "VARCHAR",
			rows.Time: "TIMESTAMP WITH TIME ZONE", rows.List: "BIGINT[]"}[c.Type]
		if r.Names[i] != c.Name || r.Types[i] != want {
			t.Errorf("column %s is %s of type %s, want %s", c.Name, r.Names[i], r.Types[i], want)
		}
	}
}

// toMicroseconds returns rows with times as DuckDB has them, which drops nanoseconds of a
// zone.
func toMicroseconds(table *rows.Table, want []exporttest.Row) []exporttest.Row {
	for _, c := range table.Columns() {
		for i, row := range want {
			at, err := time.Parse(time.RFC3339Nano, row[c.Name])
			if c.Type != rows.Time || err != nil {
				continue
			}
			want[i] = maps.Clone(row)
			want[i][c.Name] = at.Truncate(time.Microsecond).Format("2006-01-02 15:04:05.999999+00")
		}
	}
	return want
}

// readBack reads a file with the reader of parquet-go.
func readBack(t *testing.T, data []byte, table *rows.Table) (n int, got func(int, string) (string, bool)) {
	t.Helper()
	f, err := reader.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if by, _ := f.Lookup("reprise.rows"); by != map[export.By]string{export.Calls: "call",
		export.Signatures: "signature", export.Messages: "message"}[table.By()] {
		t.Errorf("rows are %q", by)
	}
	number := make(map[string]int)
	for i, c := range table.Columns() {
		number[c.Name] = i
	}
	columns := make([][]reader.Value, len(table.Columns()))
	for _, g := range f.RowGroups() {
		for i, c := range g.ColumnChunks() {
			values := readChunk(t, c)
			if table.Columns()[i].Type == rows.List {
				values = listed(values)
			}
			columns[i] = append(columns[i], values...)
		}
	}
	return int(f.NumRows()), func(row int, column string) (string, bool) {
		v := columns[number[column]][row]
		switch {
		case v.IsNull():
			return "", false
		case table.Columns()[number[column]].Type == rows.Time:
			return time.Unix(0, v.Int64()).UTC().Format("2006-01-02T15:04:05.000000000Z"), true
		case v.Kind() == reader.Int64:
			return strconv.FormatInt(v.Int64(), 10), true
		case v.Kind() == reader.Double:
			return strconv.FormatFloat(v.Double(), 'g', -1, 64), true
		}
		return string(v.ByteArray()), true
	}
}

// listed returns the lists of rows as text, of which these are the values.
func listed(values []reader.Value) (lists []reader.Value) {
	for _, v := range values {
		switch last := len(lists) - 1; {
		case v.IsNull():
			lists = append(lists, v)
		case v.RepetitionLevel() == 0:
			lists = append(lists, reader.ByteArrayValue(fmt.Appendf(nil, "[%d]", v.Int64())))
		default:
			lists[last] = reader.ByteArrayValue(fmt.Appendf(nil, "%s, %d]",
				bytes.TrimSuffix(lists[last].ByteArray(), []byte("]")), v.Int64()))
		}
	}
	return lists
}

// readChunk reads a column of a row group, and checks its statistics.
func readChunk(t *testing.T, c reader.ColumnChunk) []reader.Value {
	t.Helper()
	all := readAll(t, c)
	f := c.(*reader.FileColumnChunk)
	least, most, nulls, known := span(c.Type(), all)
	if lo, hi, ok := f.Bounds(); ok != known || known && (!reader.Equal(lo, least) || !reader.Equal(hi, most)) {
		t.Errorf("column %d is from %v to %v, %t, want %v and %v, %t", c.Column(), lo, hi, ok, least, most, known)
	}
	if f.NullCount() != nulls {
		t.Errorf("column %d has %d values missing, want %d", c.Column(), f.NullCount(), nulls)
	}
	checkIndex(t, c)
	return all
}

func readAll(t *testing.T, c reader.ColumnChunk) []reader.Value {
	t.Helper()
	pages := c.Pages()
	defer pages.Close()
	var all []reader.Value
	for {
		p, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		values := make([]reader.Value, p.NumValues())
		if n, err := p.Values().ReadValues(values); n != len(values) || err != nil && err != io.EOF {
			t.Fatal(n, err)
		}
		for _, v := range values {
			all = append(all, v.Clone())
		}
	}
	return all
}

// span returns the min and max of values, and how many are missing: known is false if one is
// NaN, or a text too long, or there are none.
func span(typ reader.Type, values []reader.Value) (least, most reader.Value, nulls int64, known bool) {
	known = true
	for _, v := range values {
		switch {
		case v.IsNull():
			nulls++
			continue
		case v.Kind() == reader.Double && math.IsNaN(v.Double()), v.Kind() == reader.ByteArray &&
			len(v.ByteArray()) > 1024:
			known = false
		case v.Kind() == reader.Double && v.Double() == 0: // of which there are two
			v = reader.DoubleValue(0)
		}
		if least.IsNull() || typ.Compare(v, least) < 0 {
			least = v
		}
		if most.IsNull() || typ.Compare(v, most) > 0 {
			most = v
		}
	}
	return least, most, nulls, known && !least.IsNull() &&
		!(most.Kind() == reader.ByteArray && len(most.ByteArray()) == 0)
}

// checkIndex checks the indexes of the pages of a column of a row group.
func checkIndex(t *testing.T, c reader.ColumnChunk) {
	t.Helper()
	offsets, err := c.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	columns, err := c.ColumnIndex()
	pages := c.Pages()
	defer pages.Close()
	row := int64(0)
	for i := 0; ; i++ {
		p, end := pages.ReadPage()
		if end == io.EOF {
			if i != offsets.NumPages() {
				t.Errorf("column %d has %d pages, want %d", c.Column(), offsets.NumPages(), i)
			}
			break
		}
		if offsets.FirstRowIndex(i) != row {
			t.Fatalf("page %d of column %d begins with row %d, want %d", i, c.Column(), offsets.FirstRowIndex(i), row)
		}
		row += p.NumRows()
		values := make([]reader.Value, p.NumValues())
		p.Values().ReadValues(values)
		least, most, nulls, known := span(c.Type(), values)
		switch none := nulls == p.NumValues(); {
		case err != nil && known:
			_, _, _, all := span(c.Type(), readAll(t, c))
			if all {
				t.Fatalf("column %d has no index: %v", c.Column(), err)
			}
		case err != nil:
		case columns.NullPage(i) != none, columns.NullCount(i) != nulls:
			t.Errorf("page %d of column %d has %d values missing, %t, want %d", i, c.Column(),
				columns.NullCount(i), columns.NullPage(i), nulls)
		case known && (!reader.Equal(columns.MinValue(i), least) || !reader.Equal(columns.MaxValue(i), most)):
			t.Errorf("page %d of column %d is from %v to %v, want %v to %v", i, c.Column(),
				columns.MinValue(i), columns.MaxValue(i), least, most)
		}
	}
}

// TestRealTrace checks the number of calls of each function of a large trace.
func TestRealTrace(t *testing.T) {
	tr := testtrace.Real(t, "ti/lu.W.16.ti.zst")
	path := filepath.Join(t.TempDir(), "lu.parquet")
	if err := os.WriteFile(path, write(t, tr, export.TableOptions{}), 0o600); err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int)
	for number := range tr.Ranks() {
		r, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for terminal, n := range r.Occurrences() {
			want[r.Call(terminal).Function.Name] += int(n)
		}
	}
	r := foreign.DuckDB(t, "SELECT function, count(*), sum(position) FROM '"+path+"' GROUP BY 1")
	if len(r.Rows) != len(want) {
		t.Errorf("%d functions, want %d", len(r.Rows), len(want))
	}
	for _, row := range r.Rows {
		if *row[1] != strconv.Itoa(want[*row[0]]) {
			t.Errorf("%s calls of %s, want %d", *row[1], *row[0], want[*row[0]])
		}
	}
}

// TestDeterministic checks that the number of processors does not change the file.
func TestDeterministic(t *testing.T) {
	calls := 300_000
	if !tier.Nightly {
		calls /= 4
	}
	tr := distinct(t, calls)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := write(t, tr, export.TableOptions{})
	for _, n := range []int{2, 7} {
		runtime.GOMAXPROCS(n)
		if !bytes.Equal(write(t, tr, export.TableOptions{}), one) {
			t.Errorf("another file with %d processors", n)
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
	tr := testtrace.Timed(t, 2, 100, testtrace.Series)
	size := len(write(t, tr, export.TableOptions{}))
	for _, n := range []int{0, 4, 100, size - 100, size - 1} {
		f := failing(n)
		if err := parquet.Write(t.Context(), &f, tr, export.TableOptions{}); err != io.ErrShortWrite {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	if err := parquet.Write(ctx, io.Discard, tr, export.TableOptions{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestCancel cancels after the first row group.
func TestCancel(t *testing.T) {
	p := programs.Stencil2D(2, 2, 200_000)
	tr := testtrace.Write(t, p.Run(), p.Parts())
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var done []uint64
	err := parquet.Write(ctx, io.Discard, tr,
		export.TableOptions{Options: export.Options{Progress: func(n uint64) error {
			done = append(done, n)
			cancel(os.ErrClosed)
			return nil
		}}})
	if err != os.ErrClosed || len(done) != 1 || done[0] == 0 {
		t.Errorf("%v after %d rows", err, done)
	}
}

// TestMemory checks that what is held does not grow with the number of calls.
func TestMemory(t *testing.T) {
	tier.Long(t, "10⁷ calls")
	p := programs.Stencil2D(2, 2, 1_000_000/3)
	tr := testtrace.Write(t, p.Run(), p.Parts())
	var held []uint64 // after each row group
	err := parquet.Write(t.Context(), io.Discard, tr,
		export.TableOptions{Options: export.Options{Progress: func(uint64) error {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			held = append(held, m.HeapAlloc)
			return nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	// The next group is read while one is written, so both are held from the second on.
	second, last := held[1], held[len(held)-1]
	if last > second+second/4+8<<20 || last > 200<<20 {
		t.Errorf("bytes that are held after each of %d groups: %d", len(held), held)
	}
}

func BenchmarkWrite(b *testing.B) {
	p := programs.Stencil2D(4, 4, 10_000)
	for name, tr := range map[string]*trace.Trace{
		"trace=Stencil2D": testtrace.Write(b, p.Run(), p.Parts()),
		"trace=Timed":     testtrace.Timed(b, 4, 200_000, testtrace.Series),
		"trace=Estimated": testtrace.Timed(b, 4, 200_000, testtrace.Statistics),
		"trace=Distinct":  distinct(b, 300_000),
	} {
		b.Run(name, func(b *testing.B) { benchmarkWrite(b, tr) })
	}
	b.Run("trace=lu.W.64", func(b *testing.B) { benchmarkWrite(b, testtrace.Real(b, "ti/lu.W.64.ti.zst")) })
}

func benchmarkWrite(b *testing.B, tr *trace.Trace) {
	var n uint64
	o := export.TableOptions{Options: export.Options{Progress: func(rows uint64) error { n = rows; return nil }}}
	for b.Loop() {
		if err := parquet.Write(b.Context(), io.Discard, tr, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
}

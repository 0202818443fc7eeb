package rows_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// newTable returns the table of a trace.
func newTable(t rapid.TB, tr *trace.Trace, o export.TableOptions) *rows.Table {
	t.Helper()
	table, err := rows.New(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// compare checks the rows of a table without what calls mean.
func compare(t *testing.T, tr *trace.Trace, o export.TableOptions, column func(f *cst.Function, i int) string,
	keep func(exporttest.Row) bool) {
	t.Helper()
	names, got := exporttest.Read(t, newTable(t, tr, o))
	names = slices.DeleteFunc(names, isMeaning)
	want := slices.DeleteFunc(wantedRows(t, tr, column), func(r exporttest.Row) bool { return !keep(r) })
	exporttest.Compare(t, names, want, len(got), func(i int, name string) (string, bool) {
		v, ok := got[i][name]
		return v, ok
	})
}

func all(exporttest.Row) bool { return true }

// plain names columns after parameters.
func plain(f *cst.Function, i int) string {
	if f.Params[i].Name == "thread" {
		return ""
	}
	return "arg_" + f.Params[i].Name
}

var meanings = []string{
	"class", "send_to", "send_tag", "send_bytes", "recv_from", "recv_tag", "recv_bytes", "target",
	"put_bytes", "get_bytes",
	"collective_sent_bytes", "collective_received_bytes", "file_written_bytes", "file_read_bytes",
	"communicator", "root",
}

var numberNames = []string{"send_messages", "recv_messages", "requests", "collective"}

func isMeaning(name string) bool {
	return slices.Contains(meanings, name) || slices.Contains(numberNames, name)
}

func TestRows(t *testing.T) {
	stencil := programs.Stencil2D(2, 3, 20)
	for name, tr := range map[string]*trace.Trace{
		"Recorded":   testtrace.Stencil(t, "exact"),
		"Statistics": testtrace.Stencil(t, "statistics"),
		"Synthetic":  testtrace.Write(t, stencil.Run(), stencil.Parts()),
		"Series":     testtrace.Timed(t, 3, 50, testtrace.Series),
		"Histograms": testtrace.Timed(t, 3, 50, testtrace.Histograms),
		"Paths":      testtrace.Timed(t, 3, 50, testtrace.Paths),
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, tr, export.TableOptions{}, plain, all)
			some := rankenc.SetOf(1)
			compare(t, tr, export.TableOptions{Options: export.Options{Ranks: &some}}, plain,
				func(r exporttest.Row) bool { return r["rank"] == "1" })
		})
	}
	for _, name := range []string{"kinds/tikinds.np4.location.ti.txt", "ti/mg.S.16.compute.ti.zst"} {
		t.Run(name, func(t *testing.T) { compare(t, testtrace.Real(t, name), export.TableOptions{}, plain, all) })
	}
}

// TestHostile checks the columns of names and values that a table may not be prepared
// for.
func TestHostile(t *testing.T) {
	tr := testtrace.HostileTable(t)
	compare(t, tr, export.TableOptions{}, testtrace.HostileColumn, all)
	types := map[string]rows.Type{
		"arg_": rows.Int, "arg_x_y": rows.Text, "arg_Count": rows.Int, "arg_count_2": rows.Float,
		"arg_rank": rows.Int, "arg_mixed": rows.Text,
		"arg_f": rows.Float, "arg_list": rows.Text, "arg_size": rows.Int, "arg_tag": rows.Int,
		"arg_thread": rows.Int, "arg_n": rows.Text,
	}
	for _, c := range newTable(t, tr, export.TableOptions{}).Columns() {
		if want, ok := types[c.Name]; ok && c.Type != want {
			t.Errorf("column %s is of type %d, want %d", c.Name, c.Type, want)
		}
		delete(types, c.Name)
	}
	if len(types) > 0 {
		t.Errorf("no columns %v", types)
	}
}

// TestMeanings checks what calls mean against the operations of package semantics, one
// call at a time.
func TestMeanings(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	model, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	if !model.Known() {
		t.Fatal("the functions are not known")
	}
	_, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{}))
	next, sends := 0, 0
	for number := range tr.Ranks() {
		rank, err := model.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for call, err := range rank.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			row, want := got[next], meaningOf(rank.At(position, call.Terminal))
			next++
			for _, name := range meanings {
				w, ok := want[name]
				if g, there := row[name]; there != ok || g != w {
					t.Fatalf("%s of call %d of rank %d, %v, is %q, want %q", name, position, number, call, g, w)
				}
			}
			if want["send_to"] != "" {
				sends++
			}
		}
	}
	if sends == 0 {
		t.Error("nothing is sent")
	}
}

// meaningOf returns the columns of an operation of at most a message each way.
func meaningOf(o *semantics.Operation) exporttest.Row {
	row := make(exporttest.Row)
	if o == nil {
		return row
	}
	set := func(name string, n int64) {
		if n >= 0 {
			row[name] = strconv.FormatInt(n, 10)
		}
	}
	row["class"] = o.Class.String()
	set("root", int64(o.Root))
	if o.Communicator != nil {
		row["communicator"] = o.Communicator.Name
	}
	if o.Class == spec.Collective {
		set("collective_sent_bytes", o.Sent)
		set("collective_received_bytes", o.Received)
	}
	for _, m := range o.Messages {
		way, peer := "send", "send_to"
		if m.Direction == semantics.Receive {
			way, peer = "recv", "recv_from"
		}
		set(peer, int64(m.Peer))
		set(way+"_tag", m.Tag)
		set(way+"_bytes", m.Bytes)
	}
	return row
}

// TestSignatures checks sums against the calls one by one.
func TestSignatures(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"Series":     testtrace.Timed(t, 3, 50, testtrace.Series),
		"Statistics": testtrace.Timed(t, 3, 50, testtrace.Statistics),
		"Paths":      testtrace.Timed(t, 3, 50, testtrace.Paths), "Recorded": testtrace.Stencil(t, "exact"),
		"Hostile": testtrace.HostileTable(t),
	} {
		t.Run(name, func(t *testing.T) {
			testSignatures(t, tr, nil)
			testSignatures(t, tr, &export.Interval{From: 10_000, To: 50_000})
		})
	}
}

type sum struct {
	calls, timed, total, least, most int64
}

func testSignatures(t *testing.T, tr *trace.Trace, between *export.Interval) {
	t.Helper()
	_, calls := exporttest.Read(t, newTable(t, tr, export.TableOptions{Options: export.Options{Between: between}}))
	sums := make(map[string]*sum)
	for _, c := range calls {
		key := c["rank"] + " " + c["call"]
		s := sums[key]
		if s == nil {
			s = &sum{least: math.MaxInt64, most: math.MinInt64}
			sums[key] = s
		}
		s.calls++
		if c["time_source"] == query.Series.String() {
			d, _ := strconv.ParseInt(c["duration_ns"], 10, 64)
			s.timed, s.total, s.least, s.most = s.timed+1, s.total+d, min(s.least, d), max(s.most, d)
		}
	}
	_, got := exporttest.Read(t,
		newTable(t, tr, export.TableOptions{By: export.Signatures, Options: export.Options{Between: between}}))
	if len(got) != len(sums) {
		t.Fatalf("%d rows, want %d", len(got), len(sums))
	}
	for _, row := range got {
		s := sums[row["rank"]+" "+row["call"]]
		if s == nil {
			t.Fatalf("a row of %v", row)
		}
		want := map[string]string{"calls": fmt.Sprint(s.calls)}
		if s.timed > 0 {
			want["total_ns"], want["min_ns"], want["max_ns"] = fmt.Sprint(s.total), fmt.Sprint(s.least),
				fmt.Sprint(s.most)
			want["mean_ns"] = strconv.FormatFloat(float64(s.total)/float64(s.timed), 'g', -1, 64)
		}
		for _, name := range []string{"calls", "total_ns", "mean_ns", "min_ns", "max_ns"} {
			if row[name] != want[name] {
				t.Fatalf("%s of %s is %q, want %q", name, row["call"], row[name], want[name])
			}
		}
	}
}

// TestSummaries checks the statistics of all ranks against those of the trace.
func TestSummaries(t *testing.T) {
	for _, times := range []testtrace.Times{testtrace.Statistics, testtrace.Histograms, testtrace.Paths} {
		tr := testtrace.Timed(t, 4, 30, times)
		_, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{By: export.Signatures}))
		for _, row := range got {
			// 30 waits of each of 4 ranks take 1000 + (i mod 7)·(rank+1).
			if row["function"] != "wait" {
				continue
			}
			if row["all_calls"] != "120" || row["all_min_ns"] != "1000" || row["all_max_ns"] != "1024" {
				t.Errorf("%s: %v", times, row)
			}
			if row["total_ns"] != "" {
				t.Errorf("%s: a sum of what is not known: %v", times, row)
			}
		}
	}
}

// overlapping returns a trace of a rank whose calls overlap: each tenth contains all since
// the one before it, and its duration is not exact.
func overlapping(t *testing.T) *trace.Trace {
	t.Helper()
	codec, err := timing.NewEntropy(0.3)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tracer.New(tracer.Options{Series: must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps)),
		BlockLen: 16})
	if err != nil {
		t.Fatal(err)
	}
	fn := r.Declare(cst.Function{Name: "f", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}})
	for i := range int64(300) {
		if r.CallAt(fn, 1500*i, 1000, cst.Int(i%10)); i%10 == 9 {
			r.CallAt(fn, 1500*(i-9)-100, 9*1500+1200, cst.Int(10))
		}
	}
	return testtrace.Write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{r.Finish(0)})
}

// TestBetween checks the choice by time, and that it does not depend on the way there.
func TestBetween(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"Series":     testtrace.Timed(t, 3, 100, testtrace.Series),
		"Statistics": testtrace.Timed(t, 3, 100, testtrace.Statistics),
		"Threads":    overlapping(t),
	} {
		_, whole := exporttest.Read(t, newTable(t, tr, export.TableOptions{}))
		rapid.Check(t, func(t *rapid.T) {
			in := export.Interval{From: rapid.Int64Range(0, 450_000).Draw(t, "from")}
			in.To = in.From + rapid.Int64Range(0, 100_000).Draw(t, "length")
			chosen := export.Options{Between: &in}
			_, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{Options: chosen}))
			var want []exporttest.Row
			for _, row := range whole {
				start, _ := strconv.ParseInt(row["start_ns"], 10, 64)
				duration, _ := strconv.ParseInt(row["duration_ns"], 10, 64)
				if query.Overlaps(start, duration, in.From, in.To) {
					want = append(want, row)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
			}
			_, sums := exporttest.Read(t, newTable(t, tr, export.TableOptions{By: export.Signatures, Options: chosen}))
			calls := 0
			for _, row := range sums {
				n, _ := strconv.Atoi(row["calls"])
				calls += n
			}
			if calls != len(want) {
				t.Fatalf("%s: %d calls by signature, want %d", name, calls, len(want))
			}
		})
	}
}

func TestColumns(t *testing.T) {
	tr := testtrace.Timed(t, 2, 3, testtrace.Series)
	names, got := exporttest.Read(t,
		newTable(t, tr, export.TableOptions{Columns: []string{"ARG_dest", "rank", "start_ns"}}))
	if !slices.Equal(names, []string{"arg_dest", "rank", "start_ns"}) || len(got) != 12 || len(got[0]) != 3 {
		t.Errorf("columns %v of %d rows", names, len(got))
	}
	for _, wanted := range [][]string{{"rank", "dest"}, {"rank", "RANK"}, {""}} {
		var e *export.ColumnError
		if _, err := rows.New(t.Context(), tr, export.TableOptions{Columns: wanted}); !errors.As(err, &e) ||
			e.Twice != (wanted[len(wanted)-1] == "RANK") {
			t.Errorf("columns %q: %v", wanted, err)
		}
	}
}

// TestManyArguments checks that names of parameters beyond the limit have no columns.
func TestManyArguments(t *testing.T) {
	f := cst.Function{Name: "f"}
	var args []cst.Value
	for i := range rows.MaxArguments + 5 {
		f.Params = append(f.Params, cst.Param{Name: fmt.Sprint("p", i), Type: cst.Type{Kind: cst.KindInt}})
		args = append(args, cst.Int(int64(i)))
	}
	var r tracer.Recorder
	r.Call(r.Declare(f), args...)
	tr := testtrace.Write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{r.Finish(0)})
	names, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{}))
	if last := names[len(names)-1]; last != fmt.Sprint("arg_p", rows.MaxArguments-1) ||
		got[0][last] != fmt.Sprint(rows.MaxArguments-1) {
		t.Errorf("the last of %d columns is %s", len(names), last)
	}
}

// TestCancel checks that the end of a context ends the rows, with its cause, and that
// nothing comes after the last row that is wanted.
func TestCancel(t *testing.T) {
	stencil := programs.Stencil2D(2, 2, 100_000)
	table := newTable(t, testtrace.Write(t, stencil.Run(), stencil.Parts()), export.TableOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	n := 0
	var last error
	for _, err := range table.Groups(ctx) {
		n++
		last = err
		cancel(os.ErrClosed)
	}
	if n != 2 || last != os.ErrClosed {
		t.Errorf("%d groups, then %v", n-1, last)
	}
	for range table.Groups(t.Context()) {
		break
	}
}

// TestGroups checks that groups are bounded, and that there is none without rows.
func TestGroups(t *testing.T) {
	stencil := programs.Stencil2D(2, 2, 100_000)
	tr := testtrace.Write(t, stencil.Run(), stencil.Parts())
	table := newTable(t, tr, export.TableOptions{})
	total := 0
	for g, err := range table.Groups(t.Context()) {
		if err != nil || g.Len() == 0 || g.Len() > rows.MaxRows {
			t.Fatalf("a group of %d rows, %v", g.Len(), err)
		}
		total += g.Len()
		g.Release()
	}
	var want uint64
	for number := range tr.Ranks() {
		r, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		want += r.Len()
	}
	if uint64(total) != want || total <= 2*rows.MaxRows {
		t.Errorf("%d rows, want %d", total, want)
	}
}

// TestSites checks that call sites are called what the trace calls them.
func TestSites(t *testing.T) {
	put := testtrace.Function("put", cst.Param{Name: "site", Type: cst.HandleOf("site")})
	run := merge.Run{Source: "test",
		Names: []format.Name{{Kind: cst.KindHandle, Class: "site", Value: 7,
			Name: "solver.f90:212 exchange_ < main.c:12 main"}}}
	tr := testtrace.Record(t, run, false,
		[][]testtrace.Call{{{Function: put, Args: []cst.Value{cst.Handle(7)}},
			{Function: put, Args: []cst.Value{cst.Handle(8)}}}})
	_, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{Columns: []string{"arg_site"}}))
	if got[0]["arg_site"] != "solver.f90:212 exchange_ < main.c:12 main" || got[1]["arg_site"] != "0x8" {
		t.Errorf("sites %v", got)
	}
}

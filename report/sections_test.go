package report_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/tracer"
)

// TestMatrix compares the cells of the matrix with the traffic, before and after zooming,
// and points at one.
func TestMatrix(t *testing.T) {
	const n = 24
	trace := program(t, programs.Stencil2D(n, n, 10)) // more ranks than cells
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	all, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	traffic := all.Traffic
	b := open(t, file(t, trace, report.Options{}), desktop)
	b.show("matrix")
	bins := eval[int](b, "report.figures.get('matrix').bins")
	if bins != n*n {
		t.Errorf("%d bins", bins)
	}
	bin := func(rank int) int { return rank * bins / (n * n) }
	compare := func() { t.Helper(); compareMatrix(t, b, traffic) }
	compare()
	before := eval[int](b, "report.figures.get('matrix').seen.size")
	for range 3 {
		b.do(chromedp.Click(chromedp.CSS(`#communication button[data-move="in"]`)))
	}
	b.wait("report.figures.get('matrix').seen.size < %d", before)
	compare()
	b.do(chromedp.Click(chromedp.CSS(`#communication button[data-move="all"]`)))
	eval[any](b, "document.querySelector('[data-figure=matrix]').focus()")
	for range 10 {
		b.do(chromedp.KeyEvent("+"))
		for range 5 {
			b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowUp))
		}
	}
	b.wait("report.figures.get('matrix').seen.rows === 4 && report.figures.get('matrix').seen.x === 0 && report.figures.get('matrix').seen.y === 0")
	// The second column of the first row: what the ranks of the first bin send to those of the second.
	at := b.place("matrix", 1.5/4, 0.5/4)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	b.wait("document.getElementById('tip').style.visibility === 'visible'")
	var want query.Volume
	for p := range traffic.All() {
		if bin(p.Source) == 0 && bin(p.Destination) == 1 {
			want.Add(p.Volume)
		}
	}
	text := eval[string](b, "document.getElementById('tip').innerText")
	if !strings.HasPrefix(text, "0 → 1") ||
		!strings.Contains(text, fmt.Sprintf("in %d messages", want.Messages)) || want.Messages == 0 ||
		!strings.Contains(text, fmt.Sprintf("in %d collective block", want.Exchanged.Blocks)) ||
		want.Exchanged.Blocks == 0 {
		t.Errorf("it tells %q, not of %+v", text, want)
	}
}

// compareMatrix compares the cells of the matrix that are seen with the pairs of ranks.
func compareMatrix(t *testing.T, b *tab, traffic *query.Traffic) {
	t.Helper()
	bins := eval[int](b, "report.figures.get('matrix').bins")
	bin := func(rank int) int { return rank * bins / traffic.Ranks }
	shown := eval[struct {
		Size, X, Y, Columns, Rows int
		Cells                     []struct{ I, J, Bytes, Messages, Exchanged, Blocks uint64 }
	}](b, `(g => ({ size: g.size, x: g.x, y: g.y, columns: g.columns, rows: g.rows, cells: [...g.sums].map(([k, s]) => ({ i: Math.floor(k / g.columns), j: k %% g.columns, ...s })) }))(report.figures.get('matrix').seen)`)
	want := make(map[[2]uint64]query.Volume)
	for p := range traffic.All() {
		i, j := bin(p.Source)/shown.Size-shown.Y, bin(p.Destination)/shown.Size-shown.X
		if i < 0 || j < 0 || i >= shown.Rows || j >= shown.Columns {
			continue
		}
		f := want[[2]uint64{uint64(i), uint64(j)}]
		f.Add(p.Volume)
		want[[2]uint64{uint64(i), uint64(j)}] = f
	}
	if len(want) != len(shown.Cells) || len(want) == 0 {
		t.Errorf("%d cells, not %d", len(shown.Cells), len(want))
	}
	for _, c := range shown.Cells {
		if f := want[[2]uint64{c.I, c.J}]; f.Bytes != c.Bytes || f.Messages != c.Messages ||
			f.Exchanged.Bytes != c.Exchanged || f.Exchanged.Blocks != c.Blocks {
			t.Errorf("cell %d, %d: %+v, not %+v", c.I, c.J, c, f)
		}
	}
}

// TestMatrixUniform compares cells of what is the same for many pairs: in groups, to higher
// ranks, and to higher ranks of a communicator with another order.
func TestMatrixUniform(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		const ranks = 40
		var parts []merge.Part
		for rank := range ranks {
			var r testtrace.Recording
			key := rank
			if reversed {
				key = -rank
			}
			r.MPI(1, "MPI_Comm_split", "comm", "MPI_COMM_WORLD", "color", rank%3, "key", key, "newcomm", 0)
			r.MPI(2, "MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", 0)
			r.MPI(3, "MPI_Scan", "count", 1, "datatype", "MPI_INT", "comm", 0)
			r.MPI(1, "MPI_Bcast", "count", 5, "datatype", "MPI_CHAR", "root", 7, "comm", "MPI_COMM_WORLD")
			r.MPI(1, "MPI_Gather", "sendcount", 5, "sendtype", "MPI_CHAR", "root", 9, "comm", "MPI_COMM_WORLD")
			parts = append(parts, r.Finish(rank))
		}
		trace := testtrace.Write(t, merge.Run{Ranks: ranks}, parts)
		model, err := semantics.Open(context.Background(), trace)
		if err != nil {
			t.Fatal(err)
		}
		all, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, file(t, trace, report.Options{}), desktop)
		b.show("matrix")
		if n := eval[int](b, "report.figures.get('matrix').uniform.length"); (n == 0) != reversed {
			t.Errorf("there are %d uniform pairs", n)
		}
		compareMatrix(t, b, all.Traffic)
		b.do(chromedp.Click(chromedp.CSS(`#communication button[data-move="in"]`)))
		b.wait("report.figures.get('matrix').seen.rows < %d", ranks)
		compareMatrix(t, b, all.Traffic)
	}
}

// TestMatrixKinds chooses point-to-point, collective and both, and compares the colours of all
// cells with the pairs of ranks, and the table.
func TestMatrixKinds(t *testing.T) {
	trace := testtrace.TI(t, `0 init
1 init
2 init
0 send 1 0 100 6
1 recv 0 0 100 6
0 alltoallv 60 10 20 30 60 10 20 30 6 6
1 alltoallv 60 20 0 40 60 20 0 40 6 6
2 alltoallv 60 30 40 0 60 30 40 0 6 6
0 allreduce 5 0 6 
1 allreduce 5 0 6 
2 allreduce 5 0 6 
`)
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	all, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := slices.Collect(all.Traffic.All())
	b := open(t, file(t, trace, report.Options{}), desktop)
	b.show("matrix")
	for _, tt := range []struct {
		kind  string
		value func(v query.Volume) [2]uint64 // in bytes and in numbers
	}{
		{"both", func(v query.Volume) [2]uint64 {
			return [2]uint64{v.Bytes + v.Exchanged.Bytes, v.Messages + v.Exchanged.Blocks}
		}},
		{"messages", func(v query.Volume) [2]uint64 { return [2]uint64{v.Bytes, v.Messages} }},
		{"collective", func(v query.Volume) [2]uint64 { return [2]uint64{v.Exchanged.Bytes, v.Exchanged.Blocks} }},
	} {
		b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`#communication button[data-kind=%q]`, tt.kind))))
		for i, of := range []string{"bytes", "messages"} {
			b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`#communication button[data-of=%q]`, of))))
			b.wait("document.querySelector('#communication [data-kind=%s]').getAttribute('aria-pressed') === 'true'", tt.kind)
			b.wait("document.querySelector('#communication [data-of=%s]').getAttribute('aria-pressed') === 'true'", of)
			got := eval[[][3]float64](b, "report.figures.get('matrix').chart.getOption().series[0].data")
			want := make(map[[2]int]uint64)
			for _, p := range pairs {
				if v := tt.value(p.Volume)[i]; v > 0 {
					want[[2]int{p.Destination, p.Source}] = v
				}
			}
			for _, point := range got {
				at := [2]int{int(point[0]), int(point[1])}
				if v := math.Pow(10, point[2]); math.Abs(v-float64(want[at])) > 1e-6*v {
					t.Errorf("%s, %s: %v at %v, want %d", tt.kind, of, v, at, want[at])
				}
			}
			if len(got) != len(want) || len(want) == 0 {
				t.Errorf("%s, %s: %d cells are coloured, want %d", tt.kind, of, len(got), len(want))
			}
		}
	}
	rows := eval[[][]string](b,
		"[...document.querySelectorAll('#communication table')[0].querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.trim()))")
	want := [][]string{
		{"0", "1", "1", "100 B", "1", "20 B", "120 B"}, {"1", "2", "0", "0 B", "1", "40 B", "40 B"},
		{"2", "1", "0", "0 B", "1", "40 B", "40 B"},
		{"0-2", "each other", "0", "0 B", "6", "30 B", "30 B"}, {"0", "2", "0", "0 B", "1", "30 B", "30 B"},
		{"2", "0", "0", "0 B", "1", "30 B", "30 B"},
		{"1", "0", "0", "0 B", "1", "20 B", "20 B"},
	}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("the table is %q\nwant %q", rows, want)
	}
	if text := eval[string](b, "document.querySelector('#communication p').textContent"); !strings.Contains(
		text, "1 message of 100 B. In collective operations, 12 blocks of 210 B") {
		t.Errorf("it says %q", text)
	}
}

// TestMatrixBins compares the matrix of a run of more ranks than pairs are counted of.
func TestMatrixBins(t *testing.T) {
	tier.Long(t, "makes a run of 25,600 ranks")
	trace := program(t, programs.Stencil2D(160, 160, 10))
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	all, err := query.OpenMessages(context.Background(), model, 1024, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sizes, m := all.Sizes, all.Matrix
	began := time.Now()
	html := render(t, trace, report.Options{})
	t.Logf("%d bytes in %v", len(html), time.Since(began).Round(time.Millisecond))
	if len(html) > 5_000_000 {
		t.Errorf("%d bytes", len(html))
	}
	b := open(t, write(t, html), desktop)
	b.show("matrix")
	got := eval[[4]uint64](b,
		"[...report.figures.get('matrix').seen.sums.values()].reduce((s, c) => [s[0] + c.bytes, s[1] + c.messages, s[2] + c.exchanged, s[3] + c.blocks], [0, 0, 0, 0])")
	if want := [4]uint64{sizes.Bytes, sizes.Messages, m.Exchanged.Bytes, m.Exchanged.Blocks}; got != want {
		t.Errorf("the matrix has %v, not %v", got, want)
	}
	named := eval[[][]int](b,
		"(m => [0, 1, m.bins - 1].map((i) => [m.first(i), m.first(i + 1)]))(report.figures.get('matrix'))")
	if bins := eval[int](b, "report.figures.get('matrix').bins"); bins != m.Bins {
		t.Fatalf("%d bins, not %d", bins, m.Bins)
	}
	for k, bin := range []int{0, 1, m.Bins - 1} {
		if first, last := m.Range(bin); named[k][0] != first || named[k][1] != last+1 {
			t.Errorf("bin %d is %v, not %d to %d", bin, named[k], first, last)
		}
	}
}

// TestPlaces compares the table of the places where calls are made with the profile.
func TestPlaces(t *testing.T) {
	site := cst.Param{Name: "site", Type: cst.HandleOf("site"), Direction: cst.In}
	run := merge.Run{Ranks: 3, Source: "test"}
	for n, place := range []string{"<b>.c:7 halo", "step.c:80 step"} {
		run.Names = append(run.Names, format.Name{Kind: cst.KindHandle, Class: "site", Value: int64(n), Name: place})
	}
	var parts []merge.Part
	for rank := range run.Ranks {
		r, err := tracer.New(tracer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.Declare(cst.Function{Name: "exchange", Params: []cst.Param{site}})
		for i := range int64(12) {
			r.CallAt(0, 1000*i, 10+i%2, cst.Handle(i%2))
		}
		parts = append(parts, r.Finish(rank))
	}
	b := open(t, file(t, opened(t, run, parts), report.Options{}), desktop)
	got := eval[[]string](b,
		"[...document.querySelectorAll('#places tbody tr')].flatMap((r) => [...r.cells].slice(0, 5).map((c) => c.textContent))")
	want := []string{"step.c:80 stepexchange", "18", "50.0 %", "3", "198 ns", "<b>.c:7 haloexchange", "18",
		"50.0 %", "3", "180 ns"}
	if !slices.Equal(got, want) {
		t.Errorf("places %q, want %q", got, want)
	}
}

// TestFunctions compares the table and the bars of functions with the profile, and sorts
// the table.
func TestFunctions(t *testing.T) {
	trace := timed(t, 3, 60, tracer.Options{})
	profile, err := query.OpenProfile(context.Background(), trace, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, file(t, trace, report.Options{}), desktop)
	b.show("functions")
	column := func(i int) []string {
		return eval[[]string](b,
			"[...document.querySelectorAll('#functions tbody tr')].map((r) => r.cells[%d].dataset.value ?? r.cells[%[1]d].textContent)", i)
	}
	names := column(0)
	if len(names) != 3 || names[0] != "exchange" && names[0] != "reduce" && names[0] != "compute" {
		t.Fatalf("functions %v", names)
	}
	for _, f := range profile.Functions {
		row := eval[[]string](b,
			"[...document.querySelectorAll('#functions tbody tr')].filter((r) => r.cells[0].textContent === '%s').flatMap((r) => [...r.cells].map((c) => c.dataset.value ?? c.textContent))", f.Name)
		if row[1] != fmt.Sprint(f.Calls) || row[4] != fmt.Sprintf("%.0f", float64(f.Time.Total)) ||
			row[8] != fmt.Sprint(f.Time.Max) || row[9] != fmt.Sprint(f.Time.MaxRank) {
			t.Errorf("%s is %v, not %+v", f.Name, row, f.Time)
		}
	}
	bars := eval[[]float64](b, "report.figures.get('functions').chart.getOption().series[0].data")
	if len(bars) != 3 || bars[0] < bars[1] || bars[1] < bars[2] {
		t.Errorf("bars %v", bars)
	}
	b.do(chromedp.Click(chromedp.CSS(`#functions button[data-of="calls"]`)))
	b.wait("report.figures.get('functions').chart.getOption().series[0].data[0] === %d", profile.Functions[0].Calls)
	b.do(chromedp.Click(chromedp.CSS("#functions th:nth-child(2) button")))
	if got := column(1); got[0] != fmt.Sprint(profile.Functions[0].Calls) {
		t.Errorf("sorted by calls it begins with %v", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#functions th:nth-child(2) button")))
	if got := column(1); got[2] != fmt.Sprint(profile.Functions[0].Calls) {
		t.Errorf("sorted the other way round it ends with %v", got)
	}
	if got := eval[string](b, "document.querySelector('#functions th:nth-child(2)').ariaSort"); got != "ascending" {
		t.Errorf("the order is said to be %q", got)
	}
}

// hostile returns a trace whose names try to get out of where they stand.
func hostile(t *testing.T) *bytes.Reader {
	t.Helper()
	r, err := tracer.New(tracer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		`</script><script>console.log('out')</script>`, `<img src=x onerror=console.log(1)>`,
		`"><svg onload=console.log(2)>`, `'+console.log(3)+'`, `${console.log(4)}`,
		"{{.Title}}", "]]>", "<!--", "\u2028\u2029", "a\x00b\xff", "\u202egnirts",
		strings.Repeat("long ", 50), "rank%d", "constructor", "__proto__",
	}
	for i := range 700 {
		names = append(names, fmt.Sprintf("function %d", i))
	}
	for i, name := range names {
		r.Declare(cst.Function{Name: name, Params: []cst.Param{{Name: name, Type: cst.Type{Kind: cst.KindString}}}})
		for k := range 3 {
			r.CallAt(i, int64(1000*(3*i+k)), int64(len(names)-i), cst.String(name))
		}
	}
	return bytes.NewReader(testtrace.File(t, merge.Run{Ranks: 1, Source: names[0]}, []merge.Part{r.Finish(0)}))
}

// layouts are the windows in which a page is looked at.
var layouts = map[string]window{
	"dark": {width: 1200, height: 900, dark: true}, "phone": telephone,
}

func init() {
	if tier.Nightly {
		layouts["desktop"], layouts["phone-dark"] = desktop, window{width: 375, height: 740, phone: true, dark: true}
	}
}

// TestLoopsOpen opens a loop whose lines stand elsewhere, and a loop in it.
func TestLoopsOpen(t *testing.T) {
	tr := testtrace.TI(t, strings.Repeat("0 send 1 0 1 1\n0 recv 1 0 1 1\n0 wait 2 0 1\n", 4)+"0 barrier\n"+
		strings.Repeat("0 send 1 0 1 1\n0 recv 1 0 1 1\n0 wait 2 0 1\n0 send 1 0 1 1\n0 recv 1 0 1 1\n0 wait 2 0 1\n0 bcast 1 0 1 \n", 50)+
		"0 barrier\n0 barrier\n"+
		strings.Repeat("0 send 1 0 1 1\n0 recv 1 0 1 1\n0 wait 2 0 1\n0 send 1 0 1 1\n0 recv 1 0 1 1\n0 wait 2 0 1\n0 bcast 1 0 1 \n", 7)+"1 barrier\n")
	b := open(t, file(t, tr, report.Options{}), desktop)
	for round := 0; eval[bool](b, "Boolean(document.querySelector('.loops [data-same]'))"); round++ {
		if round > 20 {
			t.Fatal("there is always another")
		}
		eval[any](b, "document.querySelector('.loops [data-same]').open = true")
		b.wait("[...document.querySelectorAll('.loops details[open]')].every((d) => !d.dataset.same)")
	}
	lines := eval[[]string](b,
		"[...document.querySelectorAll('.loops summary')].filter((s) => /^(50|7) ×/.test(s.textContent)).map((s) => [...s.parentElement.querySelectorAll('.call')].map((c) => c.textContent.replace(/\\(.*/, '')).join())")
	if len(lines) != 2 || lines[0] != lines[1] || !strings.Contains(lines[0], "bcast") {
		t.Errorf("the loops are %q", lines)
	}
}

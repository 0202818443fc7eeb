package report_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
)

const ms = int64(1_000_000)

// waiting returns calls of four ranks: in each of ten rounds rank 2 computes longest before a barrier, and rank 0
// before it sends to rank 1. Startup takes longer than all of it, and ranks reach MPI_Finalize one after the other.
func waiting() (ranks [][]testtrace.Call) {
	for rank := range 4 {
		var calls []testtrace.Call
		now := 10 * ms * int64(rank)
		call := func(name string, gap, end int64, pairs ...any) {
			c := testtrace.MPICall(name, pairs...)
			c.Start = now + gap
			c.Duration = end - c.Start
			now, calls = end, append(calls, c)
		}
		call("MPI_Init", 0, 700*ms)
		for i := range int64(10) {
			begin := 700*ms + 50*i*ms
			gap := 3 * ms
			if rank == 2 {
				gap = 20*ms + i*1000
			}
			call("MPI_Barrier", gap, begin+21*ms, "comm", "MPI_COMM_WORLD")
			message := []any{"count", 8, "datatype", "MPI_BYTE", "tag", 0, "comm", "MPI_COMM_WORLD"}
			switch rank {
			case 0:
				call("MPI_Send", 11*ms, begin+33*ms, append(message, "dest", 1)...)
			case 1:
				call("MPI_Recv", 4*ms+i*2000, begin+34*ms, append(message, "source", 0)...)
			}
			call("MPI_Comm_rank", begin+50*ms-now-100, begin+50*ms, "comm", "MPI_COMM_WORLD", "rank", rank)
		}
		call("MPI_Finalize", int64(rank)*ms, 1300*ms)
		ranks = append(ranks, calls)
	}
	return ranks
}

// A rankSums is what a rank spends the run in, by its calls, and the call that waits longest in each function.
type rankSums struct {
	computing, inCalls, waits int64
	longest                   map[string]uint64
	most                      map[string]int64
}

// runSumsOf goes through the calls of all ranks of a trace: the run ends with the last call of MPI_Finalize, until
// which the others are in it. Barriers wait for the last, receives for the send of the same number.
func runSumsOf(t *testing.T, tr *trace.Trace) (sums []rankSums, run int64) {
	t.Helper()
	type timed struct {
		function        string
		start, duration int64
	}
	all, begin, end := make([][]timed, tr.Ranks()), int64(0), int64(0)
	var lastAtBarrier, sends []int64
	for rank := range all {
		r := must.Get(tr.Rank(rank))
		barriers := 0
		times := clockOf(t, tr, rank)
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			start, duration, err := times.Time(c.Position)
			if err != nil {
				t.Fatal(err)
			}
			switch all[rank] = append(all[rank], timed{c.Function.Name, start, duration}); c.Function.Name {
			case "MPI_Init":
				begin = max(begin, start+duration)
			case "MPI_Finalize":
				end = max(end, start)
			case "MPI_Barrier":
				if lastAtBarrier = append(lastAtBarrier, 0); rank > 0 {
					lastAtBarrier = lastAtBarrier[:len(lastAtBarrier)-1]
				}
				lastAtBarrier[barriers] = max(lastAtBarrier[barriers], start)
				barriers++
			case "MPI_Send":
				sends = append(sends, start)
			}
		}
	}
	for _, calls := range all {
		s := rankSums{longest: make(map[string]uint64), most: make(map[string]int64)}
		last, barriers, receives := int64(0), 0, 0
		for i, c := range calls {
			if c.function != "MPI_Init" {
				s.computing += c.start - last
				s.inCalls += min(c.start+c.duration, end) - c.start
			}
			last = c.start + c.duration
			wait := int64(0)
			switch c.function {
			case "MPI_Barrier":
				wait = lastAtBarrier[barriers] - c.start
				barriers++
			case "MPI_Recv":
				wait = sends[receives] - c.start
				receives++
			}
			if s.waits += wait; wait > s.most[c.function] {
				s.most[c.function], s.longest[c.function] = wait, uint64(i)
			}
		}
		sums = append(sums, s)
	}
	return sums, end - begin
}

// TestWaits compares what the page tells of waits and of the time of ranks with sums over the calls, and goes from
// the table to the timeline.
func TestWaits(t *testing.T) {
	tr := testtrace.RecordTimes(t, testtrace.Series, waiting())
	sums, run := runSumsOf(t, tr)
	b := open(t, file(t, tr, report.Options{}), desktop)
	b.show("load")
	bars := eval[[][]float64](b, "report.figures.get('load').chart.getOption().series.map((s) => s.data)")
	if len(bars) != 3 {
		t.Fatalf("%d parts of bars", len(bars))
	}
	var computing, most, waits, inCalls int64
	for rank, s := range sums {
		want := []float64{float64(s.computing), float64(s.waits), float64(s.inCalls - s.waits)}
		for i := range want {
			if got := bars[i][rank]; math.Abs(got-want[i]) > 1 {
				t.Errorf("part %d of rank %d is %v, not %v", i, rank, got, want[i])
			}
		}
		computing, most, waits = computing+s.computing, max(most, s.computing), waits+s.waits
		inCalls += s.inCalls
	}
	percent := func(part, whole int64) string { return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole)) }
	all := run * int64(len(sums))
	facts := eval[map[string]string](b,
		"Object.fromEntries([...document.querySelectorAll('#summary .facts div')].map((d) => [d.querySelector('dt').textContent, d.querySelector('dd').firstChild.textContent]))")
	for name, want := range map[string]string{
		"Run": fmt.Sprintf("%d ms", run/ms), "Parallel efficiency": percent(computing, all),
		"Load balance": percent(computing, most*int64(len(sums))),
		"Waits":        fmt.Sprintf("%.0f ms", float64(waits)/float64(ms)),
	} {
		if facts[name] != want {
			t.Errorf("%s is %q, not %q", name, facts[name], want)
		}
	}
	about := eval[string](b, "document.querySelector('#summary h3 + p').textContent")
	for _, want := range []string{percent(computing, computing+inCalls) + " is computing",
		percent(waits, computing+inCalls) + " waiting", percent(inCalls-waits, computing+inCalls) + " transfer"} {
		if !strings.Contains(about, want) {
			t.Errorf("%q does not say %q", about, want)
		}
	}
	checkWaitRows(t, b, sums)
}

// checkWaitRows compares the rows of the table of waits with sums, and goes to the calls that they link to.
func checkWaitRows(t *testing.T, b *tab, sums []rankSums) {
	t.Helper()
	rows := eval[[][]string](b,
		"[...document.querySelectorAll('#waits tbody tr')].map((r) => [...r.cells].map((c) => c.dataset.value ?? c.textContent))")
	const planted = "computing from MPI_Comm_rank to MPI_Barrier"
	if rows[0][4] != planted {
		t.Errorf("the first row is %q", rows[0])
	}
	byRank := make([]float64, len(sums))
	for i, row := range rows {
		rank := must.Get(strconv.Atoi(row[1]))
		byRank[rank] += must.Get(strconv.ParseFloat(row[2], 64))
		function := row[0][strings.LastIndex(row[0], " ")+1:]
		late, kind := "2", "wait at barrier"
		if function == "MPI_Recv" {
			late, kind = "0", "late sender"
		}
		if must.Get(strconv.ParseFloat(row[2], 64)) > 20e6 && row[5] != late || row[0] != kind+", "+function {
			t.Errorf("row %d is %q, not %s because of rank %s", i, row, kind, late)
		}
		b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#waits tbody tr:nth-child(%d) button.link", i+1))))
		b.wait("(c => c && c.row.rank === %d && c.name === '%s')(report.figures.get('timeline').chosen)",
			rank, function)
		got := eval[uint64](b, "report.figures.get('timeline').chosen.position")
		if want := sums[rank].longest[function]; got != want && row[4] == planted {
			t.Errorf("row %d shows call %d, not %d", i, got, want)
		}
	}
	for rank, s := range sums {
		if math.Abs(byRank[rank]-float64(s.waits)) > 1+1e-6*float64(s.waits) {
			t.Errorf("rank %d waits %v, not %d", rank, byRank[rank], s.waits)
		}
	}
	if len(rows) < 4 {
		t.Errorf("only %d rows", len(rows))
	}
}

// TestWaitStates compares the waits of the timeline with those of the calls: what is told of them, what is drawn, what
// a selection sums up, and where arrows lead.
func TestWaitStates(t *testing.T) {
	tr := testtrace.RecordTimes(t, testtrace.Series, waiting())
	sums, run := runSumsOf(t, tr)
	b := open(t, file(t, tr, report.Options{}), desktop)
	b.show("timeline")
	b.press("#timeline [data-colors]", "Wait states")
	got := eval[[]struct{ Told, Drawn, Rest float64 }](b, `(t => t.rows.map((r) => {
		const times = timesOf(t.trackOf(r), t.span.min, t.span.max);
		return { told: r.waits.times.reduce((a, b) => a + b, 0), drawn: times.slice(1).reduce((a, b) => a + b, 0), rest: times[0] };
	}))(report.figures.get('timeline'))`)
	waits := int64(0)
	for rank, s := range sums {
		all := s.inCalls - s.waits
		for _, c := range waiting()[rank] {
			switch c.Function.Name { // what is before and after the run
			case "MPI_Init":
				all += c.Duration
			case "MPI_Finalize":
				all += c.Start + c.Duration - (700*ms + run)
			}
		}
		if g := got[rank]; g.Told != float64(s.waits) || math.Abs(g.Drawn-g.Told) > 1e5 ||
			math.Abs(g.Rest-float64(all)) > 1e5 {
			t.Errorf("rank %d waits %+v, not %d, and %d are left", rank, g, s.waits, all)
		}
		waits += s.waits
	}
	eval[any](b, "report.figures.get('timeline').select([0, 0], [1, 1])")
	b.wait("document.querySelectorAll('#timeline .readout tr').length > 3")
	title := eval[string](b, "document.querySelector('#timeline .readout b').textContent")
	if want := fmt.Sprintf("%.1f %% waiting for others (%.0f ms)", 100*float64(waits)/float64(run*int64(len(sums))),
		float64(waits)/float64(ms)); !strings.Contains(title, want) {
		t.Errorf("%q does not say %q", title, want)
	}
	longest := sums[1].longest["MPI_Recv"]
	eval[any](b, "report.goTo({ rank: 1, position: %d })", longest)
	b.wait("(c => c && c.position === %d)(report.figures.get('timeline').chosen)", longest)
	text := eval[string](b, "document.querySelector('#timeline .readout').textContent")
	if want := fmt.Sprintf("late sender: waits %.2f ms for rank 0",
		float64(sums[1].most["MPI_Recv"])/float64(ms)); !strings.Contains(
		text, want) {
		t.Errorf("%q does not say %q", text, want)
	}
	arrow := eval[[4]float64](b, `(t => {
		const { x0, y0, x1, y1 } = t.marks().findLast((m) => m.type === 'reprise-arrow' && m.style.stroke === report.theme.waiting).shape;
		const time = (x) => t.span.low + (x - t.left) / t.area().width * t.span.width;
		return [t.rows[t.rowAt(y0, false)].rank, time(x0), t.rows[t.rowAt(y1, false)].rank, time(x1)];
	})(report.figures.get('timeline'))`)
	victim := waiting()[1][longest]
	if want := [4]float64{1, float64(victim.Start), 0, float64(victim.Start +
		sums[1].most["MPI_Recv"])}; arrow[0] != want[0] ||
		arrow[2] != want[2] || math.Abs(arrow[1]-want[1]) > 1e5 || math.Abs(arrow[3]-want[3]) > 1e5 {
		t.Errorf("the arrow is from rank and time to rank and time %v, not %v", arrow, want)
	}
	b.press("#timeline .partners", fmt.Sprintf("waits for rank 0, position %d", longest))
	b.wait("(c => c && c.row.rank === 0 && c.name === 'MPI_Send')(report.figures.get('timeline').chosen)")
}

// TestViewWaits compares the waits that a served page shows with those of the calls.
func TestViewWaits(t *testing.T) {
	tr := testtrace.RecordTimes(t, testtrace.Series, waiting())
	sums, _ := runSumsOf(t, tr)
	b := visit(t, serve(t, tr, report.Options{}).URL+"/", desktop)
	b.show("timeline")
	b.press("#timeline [data-colors]", "Wait states")
	b.wait("(t => t.span.home && t.rows.length === 4 && t.rows.every((r) => r.waits))(report.figures.get('timeline'))")
	for rank, got := range eval[[][2]float64](b, `(t => t.rows.map((r) => [r.waits.times.reduce((a, b) => a + b, 0), (() => {
		const row = new SumRow(classes, 0, 1, 0, 4096, null);
		t.trackOf(r).draw(t.span.low, t.span.high, row);
		return row.sums.reduce((sum, share, i) => sum + (i %% classes > 0 ? share : 0), 0) * t.span.width / row.columns;
	})()]))(report.figures.get('timeline'))`) {
		if want := float64(sums[rank].waits); got[0] != want || math.Abs(got[1]-want) > 1e6 {
			t.Errorf("rank %d waits %v, not %v", rank, got, want)
		}
	}
}

// TestFunctionsOutside checks that bars of the times of functions leave out those that begin and end the run.
func TestFunctionsOutside(t *testing.T) {
	b := open(t, file(t, testtrace.RecordTimes(t, testtrace.Statistics, waiting()), report.Options{}), desktop)
	b.show("functions")
	names := func() []string {
		return eval[[]string](b, "report.figures.get('functions').chart.getOption().yAxis[0].data")
	}
	if got := names(); len(got) != 4 || slices.ContainsFunc(got, query.OutsideRun) {
		t.Errorf("bars of times are of %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS(`#functions button[data-of="calls"]`)))
	b.wait("report.figures.get('functions').chart.getOption().yAxis[0].data.includes('MPI_Init')")
}

package report_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/report"
)

// TestCompared compares a page about two traces with sums over their calls, and moves one timeline by the other.
func TestCompared(t *testing.T) {
	before := waiting()
	for rank := range before { // A is slower: all but what startup takes is stretched, and rank 3 makes more calls
		for i := range before[rank] {
			c := &before[rank][i]
			c.Start = 700*ms + (c.Start-700*ms)*3/2
			if c.Function.Name == "MPI_Init" {
				c.Start = 10 * ms * int64(rank)
				c.Duration = 700*ms - c.Start
			} else {
				c.Duration = c.Duration * 3 / 2
			}
		}
	}
	extra := before[3][2]
	extra.Start, extra.Duration = extra.Start+1000, 2000
	before[3] = append(before[3][:3:3], append([]testtrace.Call{extra}, before[3][3:]...)...)
	a, b := testtrace.RecordTimes(t, testtrace.Series, before), testtrace.RecordTimes(t, testtrace.Series, waiting())
	sumsA, runA := runSumsOf(t, a)
	sumsB, runB := runSumsOf(t, b)
	page := open(t, file(t, b, report.Options{Name: "b.rpz",
		Reference: &report.Reference{Trace: a, Name: "a.rpz"}}), desktop)
	rows := eval[[][][]string](page,
		"[...document.querySelectorAll('#comparison table')].map((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent)))")
	if len(rows) != 2 {
		t.Fatalf("%d tables", len(rows))
	}
	change := func(a, b float64) string { return fmt.Sprintf("%+.1f %%", 100*(b-a)/a) }
	total := func(sums []rankSums, of func(s rankSums) int64) (sum, most float64) {
		for _, s := range sums {
			sum, most = sum+float64(of(s)), max(most, float64(of(s)))
		}
		return sum, most
	}
	computing := func(s rankSums) int64 { return s.computing }
	meanA, maxA := total(sumsA, computing)
	meanB, maxB := total(sumsB, computing)
	waitA, _ := total(sumsA, func(s rankSums) int64 { return s.waits })
	waitB, _ := total(sumsB, func(s rankSums) int64 { return s.waits })
	parallel := func(mean float64, run int64) float64 { return mean / 4 / float64(run) }
	points := func(a, b float64) string { return fmt.Sprintf("%+.1f points", 100*(b-a)) }
	want := map[string]string{"run": change(float64(runA), float64(runB)), "computing, mean": change(meanA, meanB),
		"computing, max": change(maxA, maxB), "waits of all ranks": change(waitA, waitB), "startup": "0 %",
		"parallel efficiency": points(parallel(meanA, runA), parallel(meanB, runB)),
		"load balance":        points(meanA/4/maxA, meanB/4/maxB)}
	for _, row := range rows[0] {
		if want[row[0]] != "" && row[3] != want[row[0]] {
			t.Errorf("%q is not %q", row, want[row[0]])
		}
		delete(want, row[0])
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
	checkComparedFunctions(t, rows[1], before, waiting())
	for _, figure := range []string{"timeline", "other"} {
		page.show(figure)
	}
	page.wait("report.figures.get('timeline').twin")
	page.press("#other .bar", "+")
	page.wait("report.figures.get('other').span.width < 0.5 * %d && Math.abs(report.figures.get('timeline').span.width - report.figures.get('other').span.width) < 10", runA)
	got := eval[[2][2]float64](page,
		"['timeline', 'other'].map((f) => report.figures.get(f)).map((t) => [t.span.low - t.begin, t.span.width])")
	if math.Abs(got[0][0]-got[1][0]) > 10 || math.Abs(got[0][1]-got[1][1]) > 10 {
		t.Errorf("the timelines show %v", got)
	}
	eval[any](page, "document.querySelector('#other .legend button').click()")
	page.wait("report.figures.get('other').chosen && !report.figures.get('timeline').chosen")
}

// checkComparedFunctions compares the rows of functions with the calls of both runs.
func checkComparedFunctions(t *testing.T, rows [][]string, a, b [][]testtrace.Call) {
	t.Helper()
	type sum struct{ calls, time float64 }
	of := func(ranks [][]testtrace.Call) map[string]sum {
		all := make(map[string]sum)
		for _, calls := range ranks {
			for _, c := range calls {
				s := all[c.Function.Name]
				all[c.Function.Name] = sum{s.calls + 1, s.time + float64(c.Duration)}
			}
		}
		return all
	}
	x, y := of(a), of(b)
	if len(rows) != len(y) {
		t.Errorf("%d functions, not %d", len(rows), len(y))
	}
	for _, row := range rows {
		f, g := x[row[0]], y[row[0]]
		if must.Get(strconv.ParseFloat(row[5], 64)) != f.calls || must.Get(strconv.ParseFloat(row[6], 64)) != g.calls {
			t.Errorf("%q, not %v and %v", row, f, g)
		}
		if change := 100 * (g.time - f.time) / f.time; change != 0 && row[3] != fmt.Sprintf("%+.1f %%", change) {
			t.Errorf("%q, not %v", row, change)
		}
	}
}

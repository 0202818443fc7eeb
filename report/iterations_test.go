package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestIterations compares the bars of the rounds of the main loop with the calls, and goes to
// a round.
func TestIterations(t *testing.T) {
	tr := timed(t, 3, 900, exact()) // a round of the main loop is 81 calls: ten of 8, and one more
	b := open(t, file(t, tr, report.Options{}), desktop)
	b.show("iterations")
	got := eval[struct {
		Rounds, Bars          int
		First, Calls          uint64
		Whole, In_calls, Wait []float64
	}](b, "report.data.iterations")
	if got.Rounds != 90 || got.Bars != 90 || got.First != 0 || got.Calls != 81 {
		t.Fatalf("%d rounds in %d bars, of %d calls from %d on", got.Rounds, got.Bars, got.Calls, got.First)
	}
	for _, round := range []int{0, 7, 88, 89} {
		whole, in, least := 0.0, 0.0, math.Inf(1)
		for rank := range 3 {
			r, err := tr.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			w, c := roundOf(t, r, uint64(round)*81, 81)
			whole, in, least = whole+w/3, in+c/3, min(least, c)
		}
		for _, x := range [][2]float64{{got.Whole[round], whole}, {got.In_calls[round], in},
			{got.Wait[round], in - least}} {
			if math.Abs(x[0]-x[1]) > 0.1 {
				t.Errorf("round %d: %v, not %v", round, x[0], x[1])
			}
		}
	}
	eval[any](b, "report.figures.get('iterations').options().choose(7)")
	b.wait("report.figures.get('timeline') && report.figures.get('timeline').chosen && report.figures.get('timeline').chosen.position === 567")
	b.wait("(t => { const last = t.rows[0].track.at(647), s = t.span; return s.low <= t.chosen.start && s.high >= last.start + last.duration && s.width < 1.1 * (last.start + last.duration - t.chosen.start); })(report.figures.get('timeline'))")
	b.do(chromedp.Click(chromedp.CSS(`#iterations [data-of="share"]`)))
	if share := eval[float64](b,
		"report.figures.get('iterations').chart.getOption().series[0].data[7]"); math.Abs(
		share-100*got.In_calls[7]/got.Whole[7]) > 1e-6 {
		t.Errorf("the share of round 7 is %g %%", share)
	}
}

// roundOf returns how long some calls take from the first to the one after them, or the end
// of the last of the rank, and how long they are themselves.
func roundOf(t *testing.T, r *trace.Rank, first, calls uint64) (whole, in float64) {
	t.Helper()
	begin, end, position := int64(0), int64(0), first
	for c, err := range r.Calls(first) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case position == first:
			begin = c.Start
		case position == first+calls:
			return float64(c.Start - begin), in
		}
		in, end = in+float64(c.Duration), c.Start+c.Duration
		if position++; position == r.Len() {
			break
		}
	}
	return float64(end - begin), in
}

// TestNoIterations is of a trace whose times are estimates, which say nothing of rounds.
func TestNoIterations(t *testing.T) {
	b := open(t, file(t, timed(t, 2, 100, tracer.Options{}), report.Options{}), desktop)
	if eval[bool](b, "Boolean(document.getElementById('iterations'))") {
		t.Error("rounds are shown of estimates")
	}
}

// TestIterationsNested is of calls that contain others, which return first.
func TestIterationsNested(t *testing.T) {
	var calls []testtrace.Call
	for i := range int64(50) {
		calls = append(calls, testtrace.Call{Function: cst.Function{Name: "inner"}, Start: i*1000 + 400, Duration: 100},
			testtrace.Call{Function: cst.Function{Name: "outer"}, Start: i * 1000, Duration: 800})
	}
	html := string(render(t, testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{calls}),
		report.Options{}))
	for _, want := range []string{`"whole":[1000,1000,1000,`, `"in_calls":[800,800,800,`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

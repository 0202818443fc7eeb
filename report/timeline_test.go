package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A shownCall is what the timeline tells of a call.
type shownCall struct {
	Position        uint64
	Start, Duration float64
	Text            string
}

func clockOf(t *testing.T, tr *trace.Trace, rank int) *query.Clock {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	times, err := query.OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := times.Clock(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTimelineClock compares the times of the timeline with those of the clocks: those of
// every call are the same, to the nanosecond.
func TestTimelineClock(t *testing.T) {
	for _, c := range []struct {
		name    string
		options tracer.Options
		within  float64 // ns
	}{
		{"statistics", tracer.Options{}, 100},
		{"histograms", tracer.Options{Histograms: &timing.HistogramOptions{}}, 100},
		{"paths", tracer.Options{Histograms: &timing.HistogramOptions{PathSensitive: true}}, 20_000},
		{"series", exact(), 0},
		{"tenth", tenth(t), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := timed(t, 3, tier.Number(100, 300), c.options)
			b := open(t, file(t, tr, report.Options{}), desktop)
			b.show("timeline")
			first := firstStart(t, tr)
			for rank := range 3 {
				clock := clockOf(t, tr, rank)
				begin, end, err := clock.Span()
				if err != nil {
					t.Fatal(err)
				}
				begin, end = begin-first, end-first
				if got := eval[[2]float64](b,
					"(c => [c.start, c.end])(report.figures.get('timeline').rows[%d].track)",
					rank); math.Abs(got[0]-float64(begin)) > min(c.within, 1) ||
					math.Abs(got[1]-float64(end)) > min(c.within, 1) {
					t.Errorf("rank %d goes from %v, not from %d to %d", rank, got, begin, end)
				}
				r, err := tr.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				shown := eval[[]shownCall](b,
					"((t) => Array.from({ length: %d }, (_, i) => t.at(i)))(report.figures.get('timeline').rows[%d].track)", r.Len(), rank)
				for position := range r.Len() {
					start, duration, err := clock.Time(position)
					if err != nil {
						t.Fatal(err)
					}
					start -= first
					got := shown[position]
					if math.Abs(got.Start-float64(start)) > c.within ||
						math.Abs(got.Start+got.Duration-float64(start+duration)) > c.within {
						t.Fatalf("rank %d, call %d: from %g on for %g, not from %d on for %d", rank, position,
							got.Start, got.Duration, start, duration)
					}
				}
			}
		})
	}
}

// firstStart returns when the first call of all ranks began.
func firstStart(t *testing.T, tr *trace.Trace) int64 {
	t.Helper()
	first, _ := spanOf(t, tr)
	return first
}

// spanOf returns when the first call of all ranks began, and the last one ended.
func spanOf(t *testing.T, tr *trace.Trace) (first, last int64) {
	t.Helper()
	first, last = math.MaxInt64, math.MinInt64
	for _, rank := range tr.RankSet().All() {
		begin, end, err := clockOf(t, tr, rank).Span()
		if err != nil {
			t.Fatal(err)
		}
		first, last = min(first, begin), max(last, end)
	}
	return first, last
}

// TestTimelineSums zooms in and compares how much is drawn in each colour, and what a
// selection tells, with the sums of the times of the calls, for traces whose calls are in
// the page and for those of which bins are.
func TestTimelineSums(t *testing.T) {
	for name, budget := range map[string]int{"calls": 0, "bins": 1} {
		t.Run(name, func(t *testing.T) {
			tr := timed(t, 2, 400, exact())
			b := open(t, file(t, tr, report.Options{Budget: budget}), desktop)
			b.show("timeline")
			first := firstStart(t, tr)
			random := rand.New(rand.NewPCG(5, 5))
			whole := eval[[2]float64](b, "(s => [s.low, s.high])(report.figures.get('timeline').span)")
			for round := range 12 {
				from, to := whole[0], whole[1]
				if width := (to - from) / float64(int(1)<<round); round > 0 {
					from += random.Float64() * (to - from - width)
					to = from + width
				}
				got := eval[struct {
					Span  [2]float64
					Drawn map[string]float64
					Usage []struct {
						Name  string
						Calls uint64
						Time  float64
					}
				}](b, `(t => {
					t.span.set(%v, %v);
					t.draw();
					t.select([0, 0.25], [1, 0.25]);
					const scale = t.span.width / t.area().width, drawn = {};
					t.drawn.forEach((list, k) => {
						for (let i = 0; i < list.length; i += 4) {
							if (list[i + 1] > t.top + t.height) continue;
							const name = t.functions[k].name, width = list[i + 2] + (list[i + 2] > 4 && list[i + 3] === t.height - 4 ? 1 : 0);
							drawn[name] = (drawn[name] || 0) + width * list[i + 3] / (t.height - 4) * scale;
						}
					});
					return { span: [t.span.low, t.span.high], drawn, usage: t.selection.usage };
				})(report.figures.get('timeline'))`, from, to)
				calls, sums := sumsOf(t, tr, 0, first, got.Span[0], got.Span[1])
				grain := eval[float64](b, "report.figures.get('timeline').rows[0].track.grain")
				for _, u := range got.Usage {
					if math.Abs(u.Time-sums[u.Name]) > 2*grain+1e-3 {
						t.Errorf("%v: %s takes %g in the selection, not %g", got.Span, u.Name, u.Time, sums[u.Name])
					}
					if name == "calls" && u.Calls != calls[u.Name] {
						t.Errorf("%v: %d calls of %s in the selection, not %d", got.Span, u.Calls, u.Name,
							calls[u.Name])
					}
				}
				for f, sum := range sums {
					if width := got.Span[1] - got.Span[0]; math.Abs(got.Drawn[f]-sum) > 0.05*width+2*grain {
						t.Errorf("%v: %s is drawn as %g ns of %g, not %g", got.Span, f, got.Drawn[f], width, sum)
					}
				}
			}
			if name == "bins" {
				b.wait("report.figures.get('timeline').span.least >= 4 * report.figures.get('timeline').rows[0].track.grain")
			}
		})
	}
}

// sumsOf returns how many calls of each function a rank makes between two times, which count
// from the first, and how much of their time is there.
func sumsOf(t *testing.T, tr *trace.Trace, rank int, first int64, from, to float64) (calls map[string]uint64,
	sums map[string]float64) {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	calls, sums = make(map[string]uint64), make(map[string]float64)
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		start, end := float64(c.Start-first), float64(c.Start-first+c.Duration)
		if start < to && (start >= from || end > from) {
			calls[c.Function.Name]++
			sums[c.Function.Name] += max(0, min(end, to)-max(start, from))
		}
	}
	return calls, sums
}

// TestTimelineZoom zooms in with buttons, keys, the wheel and by hand, down to a single
// call, and reads it.
func TestTimelineZoom(t *testing.T) {
	tr := program(t, programs.Stencil2D(4, 4, 100_000))
	b := open(t, file(t, tr, report.Options{}), desktop)
	b.show("timeline")
	span := func() [2]float64 {
		return eval[[2]float64](b, "(s => [s.low, s.high])(report.figures.get('timeline').span)")
	}
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0.0
	for _, r := range tr.RankSet().All() {
		other, err := tr.Rank(r)
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, float64(other.Len()))
	}
	if s := span(); s != [2]float64{0, longest} {
		t.Fatalf("it shows %v of %g calls", s, longest)
	}
	eval[any](b, "document.querySelector('[data-figure=timeline]').focus()")
	width := longest
	step := func(what string, narrower bool, actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		b.do(actions...)
		if narrower {
			b.wait("report.figures.get('timeline').span.width < %v", width)
		} else {
			b.wait("report.figures.get('timeline').span.width >= %v", width)
		}
		s := span()
		width = s[1] - s[0]
	}
	step("button", true, chromedp.Click(chromedp.CSS(`#timeline button[data-move="in"]`)))
	eval[any](b, "document.querySelector('[data-figure=timeline]').focus()")
	step("key", true, chromedp.KeyEvent("+"))
	at := b.place("timeline", 0.5, 0.03)
	wheel := func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 1e-9, -240 } // a DeltaX of 0 is not sent
	step("wheel", true, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, at[0], at[1], wheel))
	before := span()
	b.do(chromedp.DragAndDropXY(at[0], at[1], at[0]-200, at[1]))
	b.wait("report.figures.get('timeline').selection")
	if after := span(); after != before {
		t.Errorf("selecting moves from %v to %v", before, after)
	}
	b.do(chromedp.KeyEvent("d"))
	b.wait("report.figures.get('timeline').span.low > %v", before[0])
	width = before[1] - before[0]
	step("w", true, chromedp.KeyEvent("w"))
	step("s", false, chromedp.KeyEvent("s"))
	b.do(chromedp.KeyEvent("0"))
	b.wait("report.figures.get('timeline').span.whole")
	for range 40 {
		b.do(chromedp.KeyEvent("+"))
	}
	b.wait("report.figures.get('timeline').span.width <= 4")
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	b.wait("document.querySelector('#timeline .readout .call')")
	shown := eval[string](b, "document.querySelector('#timeline .readout .call').textContent")
	s := span()
	position := uint64(s[0] + 0.5*(s[1]-s[0]))
	found := false
	for p := position - min(position, 1); p <= position+1; p++ { // as the pointer is on whole pixels
		call := rank.Call(rank.Grammar().At(p))
		if text := string(tr.Printer(trace.PrintOptions{Absolute: true}).AppendCall(nil, call)); text == shown {
			found = true
		}
	}
	if !found {
		t.Errorf("at call %d it shows %s", position, shown)
	}
}

// TestTimelineSmall draws as much of 10⁹ calls a rank as of 1000: rectangles are as many
// as fit.
func TestTimelineSmall(t *testing.T) {
	b := open(t, file(t, program(t, programs.Stencil2D(4, 4, 111_111_111)), report.Options{}), desktop)
	b.show("timeline")
	took := eval[float64](b, `(() => {
		const t = report.figures.get('timeline'), begin = performance.now();
		for (let i = 0; i < 20; i++) { t.span.zoom(0.5, 0.37); t.drawRows(1000); }
		return (performance.now() - begin) / 20;
	})()`)
	rects := eval[int](b, "report.figures.get('timeline').drawn.reduce((n, r) => n + r.length / 4, 0)")
	t.Logf("%.1f ms a frame, %d rectangles", took, rects)
	if rects > 50_000 || rects == 0 {
		t.Errorf("%d rectangles", rects)
	}
}

// TestTimelineBegin checks that the timeline of some ranks counts from the first call of
// the run, which began before another that returned first.
func TestTimelineBegin(t *testing.T) {
	f := testtrace.Function("work", testtrace.Param("thread", cst.KindInt))
	call := func(thread, start, duration int64) testtrace.Call {
		return testtrace.Call{Function: f, Args: []cst.Value{cst.Int(thread)}, Start: start, Duration: duration}
	}
	tr := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{
		{call(0, 2e9, 1e9), call(1, 1e9, 5e9)}, {call(0, 8e9, 1e9), call(0, 10e9, 1e9)},
	})
	ranks := rankenc.SetOf(1)
	if html := string(render(t, tr, report.Options{Ranks: &ranks})); !strings.Contains(html, "10.0 s") {
		t.Error("the run is not 10 s from its first call")
	}
}

// TestTimelineNegative is of clocks below 0.
func TestTimelineNegative(t *testing.T) {
	var calls []testtrace.Call
	for i := range int64(50) {
		calls = append(calls, testtrace.Call{Function: cst.Function{Name: "f"},
			Start: -10_000_000_000 + i*1000, Duration: 500})
	}
	html := string(render(t, testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{calls}),
		report.Options{}))
	if !strings.Contains(html, "<dt>Run</dt><dd>49.5 µs<") {
		t.Error("the run is not 49.5 µs")
	}
}

// TestTimelineClasses selects all of a row of sums, of more functions than there are classes.
func TestTimelineClasses(t *testing.T) {
	var calls []testtrace.Call
	now := int64(0)
	for range 500 {
		for f := range int64(20) {
			calls = append(calls, testtrace.Call{Function: cst.Function{Name: fmt.Sprintf("f%02d", f)},
				Start: now, Duration: 1000 - 40*f})
			now += 1010 - 40*f
		}
	}
	tr := testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{calls})
	b := open(t, file(t, tr, report.Options{Budget: 1}), desktop)
	b.show("timeline")
	eval[any](b, "report.figures.get('timeline').select([0, 0], [1, 1])")
	b.wait("report.figures.get('timeline').selection.usage")
	for _, u := range eval[[]struct {
		Name  string
		Calls int
	}](b, "report.figures.get('timeline').selection.usage") {
		if want := map[bool]int{true: 5 * 500, false: 500}[u.Name == "other functions"]; u.Calls != want {
			t.Errorf("%d calls of %s, not %d", u.Calls, u.Name, want)
		}
	}
}

package report_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// A shownCall is what the timeline tells of a call.
type shownCall struct {
	Position        uint64
	Start, Duration float64
	Text            string
}

// callAt returns what the timeline tells of a rank, by its row, at a time.
func (b *tab) callAt(row int, time float64) *shownCall {
	b.Helper()
	return eval[*shownCall](b, "report.figures.get('timeline').callAt(%d, %v)", row, time)
}

func clockOf(t *testing.T, trace *reprise.Trace, rank int) *query.Clock {
	t.Helper()
	r, err := trace.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	times, err := query.OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	c, err := times.Clock(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTimelineClock compares the times of the timeline with those of the clocks.
func TestTimelineClock(t *testing.T) {
	for _, c := range []struct {
		name    string
		options tracer.Options
		within  float64 // ns
	}{
		{"statistics", tracer.Options{}, 100},
		{"histograms", tracer.Options{Histograms: &timing.HistogramOptions{}}, 100},
		{"paths", tracer.Options{Histograms: &timing.HistogramOptions{PathSensitive: true}}, 20_000},
		{"series", exact(), 8_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace := timed(t, 3, 300, c.options)
			b := open(t, file(t, trace, report.Options{}), desktop)
			b.show("timeline")
			random := rand.New(rand.NewPCG(3, 3))
			first := int64(math.MaxInt64)
			for rank := range 3 {
				begin, _, err := clockOf(t, trace, rank).Span()
				if err != nil {
					t.Fatal(err)
				}
				first = min(first, begin)
			}
			for rank := range 3 {
				clock := clockOf(t, trace, rank)
				begin, end, err := clock.Span()
				if err != nil {
					t.Fatal(err)
				}
				begin, end = begin-first, end-first
				if got := eval[[2]float64](b, "(c => [c.start, c.end])(report.figures.get('timeline').ranks[%d].clock)", rank); math.Abs(got[0]-float64(begin)) > 1 || math.Abs(got[1]-float64(end)) > 1 {
					t.Errorf("rank %d goes from %v, not from %d to %d", rank, got, begin, end)
				}
				for range 50 {
					position := random.Uint64N(clock.Rank().Len())
					start, duration, err := clock.Time(position)
					if err != nil {
						t.Fatal(err)
					}
					start -= first
					got := eval[shownCall](b, "report.figures.get('timeline').ranks[%d].clock.at(%d)", rank, position)
					if math.Abs(got.Start-float64(start)) > c.within || math.Abs(got.Start+got.Duration-float64(start+duration)) > c.within {
						t.Errorf("rank %d, call %d: from %g on for %g, not from %d on for %d", rank, position, got.Start, got.Duration, start, duration)
					}
					if at := b.callAt(rank, got.Start+got.Duration/2); at == nil || at.Position != position && got.Duration > 1 {
						t.Errorf("rank %d: at the time of call %d is %+v", rank, position, at)
					}
				}
			}
		})
	}
}

// TestTimelineZoom zooms in with buttons, keys, the wheel and by hand, down to a single
// call, and reads it.
func TestTimelineZoom(t *testing.T) {
	trace := program(t, programs.Stencil2D(4, 4, 100_000))
	b := open(t, file(t, trace, report.Options{}), desktop)
	b.show("timeline")
	span := func() [2]float64 {
		return eval[[2]float64](b, "(s => [s.low, s.high])(report.figures.get('timeline').span)")
	}
	rank, err := trace.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0.0
	for r := range trace.Active() {
		other, err := trace.Rank(r)
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
	b.wait("report.figures.get('timeline').span.low > %v", before[0])
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
		if text := string(trace.Printer(reprise.PrintOptions{Absolute: true}).AppendCall(nil, call)); text == shown {
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
		for (let i = 0; i < 20; i++) { t.span.zoom(0.5, 0.37); t.rows(1000); }
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
	trace := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{
		{call(0, 2e9, 1e9), call(1, 1e9, 5e9)}, {call(0, 8e9, 1e9), call(0, 10e9, 1e9)},
	})
	ranks := rankenc.SetOf(1)
	if html := string(render(t, trace, report.Options{Ranks: &ranks})); !strings.Contains(html, "10.0 s") {
		t.Error("the run is not 10 s from its first call")
	}
}

package report_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/report"
)

// seenOf returns the part of the timeline that is seen, and all of it, in nanoseconds.
func seenOf(b *tab) (low, high, least, most float64) {
	b.Helper()
	s := eval[[4]float64](b, "(s => [s.low, s.high, s.min, s.max])(report.figures.get('timeline').span)")
	return s[0], s[1], s[2], s[3]
}

// drag moves the mouse, pressed, from one place of the window to another.
func (b *tab) drag(from, to [2]float64) {
	b.Helper()
	mouse := func(kind input.DispatchMouseEventType, at [2]float64) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(kind, at[0], at[1], func(p *input.DispatchMouseEventParams) {
			p.Button, p.Buttons, p.ClickCount = input.MouseButtonLeft, 1, 1
		})
	}
	b.do(mouse(input.DispatchMouseEventTypeMousePressed, from))
	for i := range 4 {
		part := float64(i+1) / 4
		b.do(mouse(input.DispatchMouseEventTypeMouseMoved,
			[2]float64{from[0] + part*(to[0]-from[0]), from[1] + part*(to[1]-from[1])}))
	}
	b.do(mouse(input.DispatchMouseEventTypeMouseReleased, to))
}

// TestOverview checks that the timeline first shows the run, as the calls tell when it begins and ends, and moves
// what is seen by the overview.
func TestOverview(t *testing.T) {
	for _, times := range []testtrace.Times{testtrace.Series, testtrace.Statistics} {
		tr := testtrace.RecordTimes(t, times, waiting())
		begin, end, last := float64(700*ms), 0.0, 0.0
		for _, calls := range waiting() {
			c := calls[len(calls)-1]
			end, last = max(end, float64(c.Start)), max(last, float64(c.Start+c.Duration))
		}
		off := 1.0
		if times == testtrace.Statistics {
			off = 0.02 * last // sums are rounded
		}
		b := open(t, file(t, tr, report.Options{}), desktop)
		b.show("timeline")
		near := func(got, want, off float64) bool { return math.Abs(got-want) <= off }
		low, high, least, most := seenOf(b)
		if !near(low, begin, off) || !near(high, end, off) || least != 0 || !near(most, last, off) {
			t.Errorf("%s: %v to %v of %v to %v, not %v to %v of 0 to %v", times, low, high, least, most,
				begin, end, last)
		}
		if seen := eval[string](b,
			"document.querySelector('#timeline .seen').textContent"); !strings.HasPrefix(seen, "The run, ") {
			t.Errorf("it says %q", seen)
		}
		view := func() [4]float64 {
			return eval[[4]float64](b,
				"(r => [r.left, r.right, r.top, r.bottom])(document.querySelector('.overview div').getBoundingClientRect())")
		}
		area := eval[[2]float64](b,
			"(t => [t.element.getBoundingClientRect().left + t.left, t.area().width])(report.figures.get('timeline'))")
		at := view()
		if !near(at[0], area[0]+area[1]*low/most, 1.5) || !near(at[1], area[0]+area[1]*high/most, 1.5) {
			t.Errorf("%s: the overview shows %v", times, at)
		}
		middle, y := (at[0]+at[1])/2, (at[2]+at[3])/2
		b.drag([2]float64{middle, y}, [2]float64{middle - 100, y})
		b.wait("report.figures.get('timeline').span.low < %v", low)
		if got, _, _, _ := seenOf(b); !near(got, low-100/area[1]*most, 0.01*most) {
			t.Errorf("%s: dragged by 100 pixels it begins at %v", times, got)
		}
		if got := view(); !near(got[0], at[0]-100, 1.5) || !near(got[1], at[1]-100, 1.5) {
			t.Errorf("%s: the overview shows %v after %v", times, got, at)
		}
		b.drag([2]float64{at[1] - 101, y}, [2]float64{at[0] + 1, y}) // its right edge
		b.wait("report.figures.get('timeline').span.high < %v", (low+high)/2)
		b.do(chromedp.Click(chromedp.CSS(`#timeline button[data-move="all"]`)))
		b.wait("report.figures.get('timeline').span.whole")
		b.do(chromedp.Click(chromedp.CSS(`#timeline button[data-move="run"]`)))
		b.wait("report.figures.get('timeline').span.low === %v && report.figures.get('timeline').span.high === %v", low, high)
	}
}

// TestWindows checks that the timeline is as wide as the window, and that the sums of a selection can be seen
// without scrolling and are those of the calls.
func TestWindows(t *testing.T) {
	path := file(t, testtrace.RecordTimes(t, testtrace.Series, waiting()), report.Options{})
	for _, w := range []window{{width: 390, height: 500, phone: true}, {width: 1400, height: 420},
		{width: 2560, height: 420, dark: true}} {
		b := open(t, path, w)
		b.show("timeline")
		got := eval[[2]int64](b,
			"[document.querySelector('[data-figure=timeline] canvas').clientWidth, document.documentElement.scrollWidth]")
		if got[0] < w.width-64 || got[1] > w.width {
			t.Errorf("in a window of %d, the timeline is %d wide and the page %d", w.width, got[0], got[1])
		}
		eval[any](b, "window.scrollTo({ top: document.querySelector('[data-figure=timeline]').getBoundingClientRect().top + scrollY - 60, behavior: 'instant' })")
		eval[any](b, "report.figures.get('timeline').select([0, 0], [1, 1])")
		b.wait("document.querySelectorAll('#timeline .readout tr').length > 3")
		box := eval[[2]float64](b,
			"(r => [r.top, r.bottom])(document.querySelector('#timeline .readout').getBoundingClientRect())")
		if box[0] < 0 || box[1] > float64(w.height)+1 {
			t.Errorf("in a window of %d × %d, the sums are from %v to %v", w.width, w.height, box[0], box[1])
		}
		counts := make(map[string]int)
		for _, calls := range waiting() {
			for _, c := range calls {
				if c.Start >= 700*ms && c.Start <= 1203*ms || c.Function.Name == "MPI_Finalize" {
					counts[c.Function.Name]++
				}
			}
		}
		for _, row := range eval[[][]string](b,
			"[...document.querySelectorAll('#timeline .readout tr')].slice(1).map((r) => [...r.cells].map((c) => c.textContent))") {
			if n := must.Get(strconv.Atoi(row[1])); n != counts[row[0]] && row[0] != "MPI_Finalize" {
				t.Errorf("%d calls of %s are selected, not %d", n, row[0], counts[row[0]])
			}
		}
	}
}

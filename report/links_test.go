package report_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/tracer"
)

// TestLinks goes from tables, the legend and the search to calls in the timeline, which are
// those of the trace.
func TestLinks(t *testing.T) {
	for name, options := range map[string]tracer.Options{"exact": exact(), "statistics": {}} {
		t.Run(name, func(t *testing.T) {
			tr := timed(t, 3, 60, options)
			b := open(t, file(t, tr, report.Options{}), desktop)
			chosen := func() (rank int, position uint64, text string) {
				t.Helper()
				b.wait("report.figures.get('timeline') && report.figures.get('timeline').chosen")
				got := eval[struct {
					Rank     int
					Position uint64
					Text     string
				}](b, "(c => ({ rank: c.row.rank, position: c.position, text: c.text }))(report.figures.get('timeline').chosen)")
				return got.Rank, got.Position, got.Text
			}
			expect := func(what, function string, position uint64) {
				t.Helper()
				rank, at, text := chosen()
				r, err := tr.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				call := r.Call(r.Grammar().At(at))
				if at != position || rank != 0 || call.Function.Name != function || !strings.HasPrefix(text, function+"(") {
					t.Errorf("%s: call %d of rank %d, %s, not %s at %d", what, at, rank, text, function, position)
				}
				if shown := eval[bool](b, "(({ span, chosen }) => chosen.start >= span.low && chosen.start + chosen.duration <= span.high)(report.figures.get('timeline'))"); !shown {
					t.Errorf("%s: the call is not to be seen", what)
				}
				if out := eval[string](b, "document.querySelector('#timeline .readout').innerText"); !strings.Contains(out, text) {
					t.Errorf("%s: it tells %q", what, out)
				}
			}
			b.press("#functions", "reduce")
			expect("row", "reduce", 80)
			b.do(chromedp.Click(chromedp.CSS(`#timeline [data-next="1"]`))) // without a text, nothing
			expect("no search", "reduce", 80)
			b.do(chromedp.SendKeys(chromedp.CSS("#timeline [data-search]"), "exchange\r"))
			expect("search", "exchange", 82)
			b.do(chromedp.SendKeys(chromedp.CSS("#timeline [data-search]"), "(n=7\r")) // which is added
			b.wait("document.querySelector('#timeline .found').textContent !== ''")
			eval[any](b, "document.querySelector('#timeline [data-search]').value = 'compute(n=3'")
			b.do(chromedp.Click(chromedp.CSS(`#timeline [data-next="1"]`)))
			expect("part of a call", "compute", 87)
			b.do(chromedp.Click(chromedp.CSS(`#timeline [data-next="-1"]`)))
			expect("back", "compute", 78)
			eval[any](b, "document.querySelector('[data-figure=timeline]').focus()")
			b.do(chromedp.KeyEvent("."))
			b.wait("report.figures.get('timeline').chosen.position === 79")
			b.do(chromedp.KeyEvent(","))
			expect("keys", "compute", 78)
			b.press(".legend", "reduce")
			expect("legend", "reduce", 80)
		})
	}
}

// press presses the button with a text in a part of the page.
func (b *tab) press(part, text string) {
	b.Helper()
	eval[any](b, "[...document.querySelectorAll('%s button')].find((e) => e.textContent === %q).click()", part, text)
}

// TestOrder chooses and sorts the ranks of the timeline.
func TestOrder(t *testing.T) {
	b := open(t, file(t, unequal(t, exact()), report.Options{}), desktop)
	b.show("timeline")
	ranks := func() []int { return eval[[]int](b, "report.figures.get('timeline').rows.map((r) => r.rank)") }
	arrange := func(field, value string) {
		eval[any](b, "(e => { e.value = %q; e.dispatchEvent(new Event('change')); })(document.querySelector('#timeline [data-%s]'))", value, field)
	}
	for _, c := range []struct {
		ranks, order string
		want         []int
	}{{"", "rank", []int{0, 1}}, {"", "time", []int{1, 0}}, {"1", "rank", []int{1}}, {"0-1", "rank", []int{0, 1}}, {"5", "rank", []int{0, 1}}} {
		arrange("ranks", c.ranks)
		arrange("order", c.order)
		if got := ranks(); len(got) != len(c.want) || got[0] != c.want[0] {
			t.Errorf("ranks %q by %s are %v", c.ranks, c.order, got)
		}
	}
}

// TestTip looks whether what is told under the pointer is what is there, also after the
// timeline has moved, and is gone when the page scrolls.
func TestTip(t *testing.T) {
	b := open(t, file(t, timed(t, 3, 300, exact()), report.Options{}), desktop)
	b.show("timeline")
	at := b.place("timeline", 0.6, 0.5)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	same := `(t => { const at = t.over(%v, %v), c = t.callAt(at.row, at.time);
		return document.getElementById('tip').style.visibility === 'visible' && document.getElementById('tip').innerText.includes(t.lines(c)[0]); })(report.figures.get('timeline'))`
	b.wait(same, at[0], at[1])
	eval[any](b, "document.querySelector('[data-figure=timeline]').focus()")
	for _, key := range []string{"w", "w", "w", "d", "w", "a"} {
		b.do(chromedp.KeyEvent(key))
		b.wait(same, at[0], at[1])
	}
	eval[any](b, "scrollBy(0, 300)")
	b.wait("document.getElementById('tip').style.visibility === 'hidden'")
}

package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestLooks opens pages in a wide window and on a phone, in light and in dark colours:
// no text or chart is wider than the window, and the colours are those asked for.
func TestLooks(t *testing.T) {
	nasty := hostile(t)
	names, err := trace.OpenReader(nasty, nasty.Size(), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, html := range map[string][]byte{
		"program": render(t, program(t, programs.Stencil2D(6, 6, 1000)),
			report.Options{Name: "stencil.rpz", Bytes: 1234}),
		"timed":   render(t, timed(t, 8, 200, tracer.Options{}), report.Options{Name: "timed.rpz", Bytes: 5678}),
		"hostile": render(t, names, report.Options{Name: "</title><script>console.log(5)</script>"}),
		"empty":   render(t, opened(t, programs.Stencil2D(2, 2, 1).Run(), nil), report.Options{}),
	} {
		path := write(t, html)
		for layout, w := range layouts {
			if name == "hostile" && w.dark {
				continue // colours are not what is hostile
			}
			t.Run(name+"/"+layout, func(t *testing.T) {
				b := open(t, path, w)
				eval[any](b, "report.showAll()")
				if got := eval[int](b, "document.documentElement.scrollWidth"); int64(got) > w.width {
					t.Errorf("the page is %d wide in a window of %d", got, w.width)
				}
				ground := eval[string](b, "getComputedStyle(document.body).backgroundColor")
				if w.dark != (ground == "rgb(20, 24, 29)") {
					t.Errorf("the ground is %s", ground)
				}
				b.shoot(name + "-" + layout)
			})
		}
	}
}

// TestLooksLinks looks at rows of tables that lead to the timeline: numbers stand beside the
// first line of a call, a finger finds what it presses, and on paper it is text, as the heads
// of tables are: a browser repeats these on each page, but no buttons.
func TestLooksLinks(t *testing.T) {
	path := file(t, retimed(t, program(t, programs.Stencil2D(3, 3, 8))), report.Options{})
	for layout, w := range layouts {
		t.Run(layout, func(t *testing.T) {
			b := open(t, path, w)
			got := eval[[][4]float64](b, `[...document.querySelectorAll('td button.link')].filter((e) => e.checkVisibility() && e.closest('td').nextElementSibling).map((e) => {
				const box = (node) => { const r = document.createRange(); r.selectNodeContents(node); return r.getClientRects(); };
				const here = box(e)[0], next = box(e.closest('td').nextElementSibling)[0], r = e.getBoundingClientRect();
				return [here.bottom, next.bottom, r.width, box(e).length];
			})`)
			lines := 0.0
			for _, g := range got {
				if lines = max(lines, g[3]); g[0]-g[1] > 6 || g[1]-g[0] > 6 {
					t.Errorf("the first line of a link ends at %g, what is beside it at %g", g[0], g[1])
				}
				if w.phone && g[2] < 24 {
					t.Errorf("a link is %g wide", g[2])
				}
			}
			if len(got) == 0 || w.phone && lines < 3 {
				t.Errorf("%d links of at most %g lines", len(got), lines)
			}
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			if n := eval[int](b,
				"[...document.querySelectorAll('th button, button.link')].filter((e) => !['contents', 'none'].includes(getComputedStyle(e).display)).length"); n != 0 {
				t.Errorf("%d buttons are printed in tables", n)
			}
		})
	}
}

// TestHostile points at calls and at bars whose names try to be more than text.
func TestHostile(t *testing.T) {
	nasty := hostile(t)
	names, err := trace.OpenReader(nasty, nasty.Size(), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, file(t, names, report.Options{}), desktop)
	b.show("functions")
	for i := range 8 {
		eval[any](b, "report.figures.get('functions').chart.dispatchAction({ type: 'showTip', seriesIndex: 0, dataIndex: %d })", i)
		b.wait("document.querySelector('[data-figure=functions]').innerText.includes(report.data.functions[%d].name)", i)
	}
	b.show("timeline")
	at := b.place("timeline", 0.5, 0.5)
	for i := range 8 {
		eval[any](b, `(t => {
			const c = t.rows[0].track.at(%d);
			t.span.set(c.start, c.start + c.duration);
			t.draw();
		})(report.figures.get('timeline'))`, 3*i)
		b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]),
			chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0]+1, at[1]))
		b.wait("document.getElementById('tip').innerText.includes(report.data.functions[%d].name)", i)
	}
	if n := eval[int](b, "document.querySelectorAll('main img, main svg, #tip img, #tip svg, script').length"); n != 3 {
		t.Errorf("%d elements, not the 3 scripts of the page alone", n)
	}
}

// TestLooksSwitch changes the colours of an open page.
func TestLooksSwitch(t *testing.T) {
	b := open(t, file(t, program(t, programs.Stencil2D(3, 3, 20)), report.Options{}), desktop)
	b.show("functions")
	color := func() string {
		return eval[string](b, "report.figures.get('functions').chart.getOption().series[0].itemStyle.color")
	}
	light := color()
	b.scheme(true)
	b.wait("report.figures.get('functions').chart.getOption().series[0].itemStyle.color !== '%s'", light)
}

// TestPrint prints a page that was not scrolled through, from dark colours: all charts
// are there, in light ones.
func TestPrint(t *testing.T) {
	b := open(t, file(t, retimed(t, program(t, programs.Stencil2D(3, 3, 8))), report.Options{}),
		window{width: 1200, height: 600, dark: true})
	eval[any](b, "addEventListener('beforeprint', () => { window.printed = [...document.querySelectorAll('[data-figure]')].map((e) => [e.dataset.figure, e.dataset.drawn, report.theme.quiet, e.querySelector('canvas').style.width]); })")
	b.wait("[...report.prepared.values()].some((f) => f.loaded)")
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Errorf("it prints %d bytes that are no PDF", len(pdf))
	}
	if dir := os.Getenv("REPORT_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "print.pdf"), pdf, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 680,
		Height: 1000, DeviceScaleFactor: 1})
	b.shoot("print")
	b.scheme(true)
	if n := eval[int](b,
		"Math.max(...[...document.querySelectorAll('.chart')].map((e) => e.querySelectorAll('canvas').length))"); n != 1 {
		t.Errorf("a chart has %d canvases, of which a browser prints one", n)
	}
	figures := eval[[][4]string](b, "window.printed")
	if len(figures) == 0 {
		t.Fatal("no figure is printed")
	}
	for _, f := range figures {
		if f[1] != "yes" || f[2] != "#5b6570" || f[3] != "680px" { // which fits on A4 with margins of 15 mm
			t.Errorf("printed as %v", f)
		}
	}
	b.wait("document.documentElement.dataset.theme === undefined && report.theme.quiet !== '#5b6570'")
}

// TestFirstPaint measures how soon there is something to be seen of a page of 10⁸ calls.
func TestFirstPaint(t *testing.T) {
	e2e.Programs(t)
	p := programs.Stencil2D(16, 16, 43_403) // 9 calls a round
	tr := program(t, p.Timed())
	calls := uint64(0)
	for _, rank := range tr.RankSet().All() {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		calls += r.Len()
	}
	began := time.Now()
	html := render(t, tr, report.Options{})
	wrote := time.Since(began)
	b := open(t, write(t, html), desktop)
	b.wait("performance.getEntriesByName('first-contentful-paint').length")
	paint := eval[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	b.show("timeline")
	t.Logf("%d calls: written in %v, %d bytes, first paint after %.0f ms", calls,
		wrote.Round(time.Millisecond), len(html), paint)
	if calls < 9e7 {
		t.Errorf("only %d calls", calls)
	}
	if len(html) > 5_000_000 || paint > 2000 {
		t.Errorf("%d bytes, first paint after %.0f ms", len(html), paint)
	}
}

// TestAlone looks for what would be fetched from elsewhere.
func TestAlone(t *testing.T) {
	html := string(render(t, program(t, programs.Stencil2D(3, 3, 5)), report.Options{}))
	for _, bad := range []string{" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(html, `content="default-src &#39;none&#39;;`) {
		t.Error("the page has no policy that forbids to fetch anything")
	}
}

// TestZoom measures how long it takes to go to single calls in a page of 10⁶ calls, each with
// its exact times, and compares the last with the trace.
func TestZoom(t *testing.T) {
	e2e.Programs(t)
	tr := timed(t, 16, 1_000_000/16/8+1, exact())
	html := render(t, tr, report.Options{Budget: 8_000_000}) // times at random take more than most
	b := open(t, write(t, html), desktop)
	b.wait("performance.getEntriesByName('first-contentful-paint').length")
	paint := eval[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	b.show("timeline")
	got := eval[struct {
		Calls    int
		Took     []float64
		Position uint64
		Start    float64
	}](b, `(t => {
		const took = [], calls = t.rows.reduce((n, r) => n + (r.track.length || 0), 0);
		for (let i = 0; i < 21; i++) {
			t.span.reset();
			t.draw();
			const begin = performance.now();
			t.jump(t.rows[i & 15], 997 * (i + 1));
			took.push(performance.now() - begin);
		}
		return { calls, took, position: t.chosen.position, start: t.chosen.start };
	})(report.figures.get('timeline'))`)
	slices.Sort(got.Took)
	t.Logf("%d calls in %d bytes, first paint after %.0f ms, to a call in %.1f ms (median), %.1f at most",
		got.Calls, len(html), paint, got.Took[10], got.Took[20])
	if got.Calls < 1_000_000 || got.Took[10] > 100 || paint > 2000 {
		t.Error("that is too little, too much or too long")
	}
	start, _, err := clockOf(t, tr, 4).Time(got.Position)
	if err != nil {
		t.Fatal(err)
	}
	if float64(start-firstStart(t, tr)) != got.Start {
		t.Errorf("call %d begins at %g, not %d", got.Position, got.Start, start)
	}
}

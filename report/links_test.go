package report_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
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
				if at != position || rank != 0 || call.Function.Name != function ||
					!strings.HasPrefix(text, function+"(") {
					t.Errorf("%s: call %d of rank %d, %s, not %s at %d", what, at, rank, text, function, position)
				}
				if shown := eval[bool](b,
					"(({ span, chosen }) => chosen.start >= span.low && chosen.start + chosen.duration <= span.high)(report.figures.get('timeline'))"); !shown {
					t.Errorf("%s: the call is not to be seen", what)
				}
				if out := eval[string](b,
					"document.querySelector('#timeline .readout').innerText"); !strings.Contains(out, text) {
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
	}{{"", "rank", []int{0, 1}}, {"", "time", []int{1, 0}}, {"1", "rank", []int{1}},
		{"0-1", "rank", []int{0, 1}}, {"5", "rank", []int{0, 1}}} {
		arrange("ranks", c.ranks)
		arrange("order", c.order)
		if got := ranks(); len(got) != len(c.want) || got[0] != c.want[0] {
			t.Errorf("ranks %q by %s are %v", c.ranks, c.order, got)
		}
	}
}

// TestLabels zooms in until no call of the whole is seen any more: its name is gone, too.
func TestLabels(t *testing.T) {
	b := open(t, file(t, retimed(t, program(t, programs.Stencil2D(3, 3, 200))), report.Options{}), desktop)
	b.show("timeline")
	texts := func() int {
		return eval[int](b,
			"report.figures.get('timeline').chart.getZr().storage.getDisplayList(true).filter((d) => d.type === 'tspan' && report.data.functions.some((f) => f.name.startsWith(d.style.text.replace('…', '')))).length")
	}
	for _, step := range []string{"t.jump(t.rows[0], 100); t.choose(null)", "t.span.reset(); t.draw()"} {
		eval[any](b, "(t => { %s; })(report.figures.get('timeline'))", step)
		want := eval[int](b,
			"(t => t.drawRows(t.area().width).rows.reduce((n, r) => n + r.labels.length, 0))(report.figures.get('timeline'))")
		if whole := strings.Contains(step, "reset"); whole != (want == 0) {
			t.Errorf("%s: %d calls have names", step, want)
		}
		if n := texts(); n != want {
			t.Errorf("%s: %d names of %d calls", step, n, want)
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

// retimed returns a trace of the same calls with exact times, which are made up.
func retimed(t testing.TB, tr *trace.Trace) *trace.Trace {
	t.Helper()
	ranks := make([][]testtrace.Call, tr.Ranks())
	for rank := range ranks {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		random, now := rand.New(rand.NewPCG(2, uint64(rank))), int64(1_000_000*rank)
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			now += random.Int64N(3000)
			took := random.Int64N(9000)
			ranks[rank] = append(ranks[rank], testtrace.Call{Function: *c.Function, Args: c.Args, Start: now,
				Duration: took})
			now += took
		}
	}
	return testtrace.Record(t, tr.Run(), true, ranks)
}

// TestArrows compares the messages that the page has of each call with those that match.
func TestArrows(t *testing.T) {
	for _, p := range []programs.Program{programs.Stencil2D(3, 3, 8), programs.Gather(programs.Halving, 6, 5)} {
		t.Run(p.Name, func(t *testing.T) {
			tr := retimed(t, program(t, p))
			b := open(t, file(t, tr, report.Options{}), desktop)
			b.show("timeline")
			model, err := semantics.Open(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			match, err := query.OpenMatch(t.Context(), model, query.Options{})
			if err != nil {
				t.Fatal(err)
			}
			type end struct {
				Sends          bool
				From, To       int
				Sent, Received uint64
			}
			messages := 0
			for _, rank := range tr.RankSet().All() {
				r, err := tr.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				got := eval[[][]end](b,
					"(t => Array.from({ length: %d }, (_, i) => t.arrows.of(%d, i, 64)))(report.figures.get('timeline'))", r.Len(), rank)
				for position := range r.Len() {
					partners, err := match.Partner(rank, position)
					if err != nil {
						t.Fatal(err)
					}
					found := 0
					for _, e := range got[position] {
						if e.Sends && e.Sent == position && e.From == rank ||
							!e.Sends && e.Received == position && e.To == rank {
							found++
						}
					}
					for _, p := range partners {
						messages++
						if !slices.ContainsFunc(got[position], func(e end) bool {
							return e.From == rank && e.Sent == position && e.To == p.Rank && e.Received == p.Position ||
								e.To == rank && e.Received == position && e.From == p.Rank && e.Sent == p.Position
						}) {
							t.Fatalf("rank %d, call %d: %+v, not %+v", rank, position, got[position], p)
						}
					}
					if found != len(partners) {
						t.Fatalf("rank %d, call %d: %+v of %d", rank, position, got[position], len(partners))
					}
				}
			}
			if messages == 0 {
				t.Fatal("there are no messages")
			}
			checkArrow(b)
		})
	}
}

// checkArrow chooses a call that receives a message, and goes to the one that sent it.
func checkArrow(b *tab) {
	b.Helper()
	eval[any](b, `(t => {
		const i = 3, row = t.all.findIndex((r) => r.of === t.arrows.to[i] && r.track.at(t.arrows.done[i]));
		t.jump(t.all[row], t.arrows.done[i]);
		t.span.reset();
		t.draw();
	})(report.figures.get('timeline'))`)
	b.wait("report.figures.get('timeline').marks().some((m) => m.type === 'reprise-arrow')")
	text := eval[string](b, "document.querySelector('#timeline .partners button').textContent")
	eval[any](b, "document.querySelector('#timeline .partners button').click()")
	b.wait(`(c => %q.startsWith('from rank ' + c.row.rank + ', position ' + formatCount(c.position)))(report.figures.get('timeline').chosen)`, text)
}

// TestLinksToCalls goes from rows of pairs, of messages that nobody receives and of ranks to
// their calls.
func TestLinksToCalls(t *testing.T) {
	tr := testtrace.TI(t,
		"0 init\n0 barrier\n0 send 1 0 1 1\n0 send 1 7 4 1\n0 finalize\n1 init\n1 barrier\n1 recv 0 0 1 1\n1 finalize\n")
	b := open(t, file(t, tr, report.Options{}), desktop)
	b.show("timeline")
	for _, c := range []struct {
		cell     string
		position int
	}{{"#communication td[data-find]", 2}, {"#matching td[data-find]", 3},
		{"#communication .wide:last-of-type td[data-find]", 1}, {"#sizes td[data-find]", 2}} {
		eval[any](b, "document.querySelector('%s button').click()", c.cell)
		b.wait("(c => c && c.row.rank === 0 && c.position === %d)(report.figures.get('timeline').chosen)", c.position)
	}
}

// TestColours looks for the colours of a function in reports of different traces, and for how
// many rows are drawn: each place in the colour of what takes most of its time.
func TestColours(t *testing.T) {
	color := func(b *tab, name string) string {
		b.show("timeline")
		return eval[string](b,
			"(t => t.colors()[t.functions.findIndex((f) => f.name === %q)])(report.figures.get('timeline'))", name)
	}
	a := open(t, file(t, retimed(t, program(t, programs.Stencil2D(3, 3, 8))), report.Options{}), desktop)
	many := retimed(t, program(t, programs.Stencil3D(6, 5, 5, 4)))
	all := many.RankSet()
	b := open(t, file(t, many, report.Options{Ranks: &all}), desktop)
	for _, name := range []string{"MPI_Waitall", "MPI_Isend", "MPI_Irecv"} {
		if x, y := color(a, name), color(b, name); x != y {
			t.Errorf("%s is %s and %s", name, x, y)
		}
	}
	if got := eval[[2]float64](b, `(t => {
		let widest = 0;
		const rows = t.rows.length, inner = t.height - 2 * (t.height > 12 ? 2 : t.height > 7 ? 1 : 0);
		for (const list of t.drawn) for (let i = 0; i < list.length; i += 4) widest = Math.max(widest, Math.abs(list[i + 3] - inner));
		return [rows, widest];
	})(report.figures.get('timeline'))`); got[0] != 150 || got[1] > 1e-9 {
		t.Errorf("%v rows, of which what is drawn differs in height by %v", got[0], got[1])
	}
}

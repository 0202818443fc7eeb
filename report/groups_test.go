package report_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
)

const timeline = "report.figures.get('timeline')"

// arrange sets a field of the bar of the timeline: data-ranks, data-order or data-group.
func (b *tab) arrange(field, value string) {
	b.Helper()
	eval[any](b, "(e => { e.value = %q; e.dispatchEvent(new Event('change')); })(document.querySelector('#timeline [data-%s]'))", value, field)
	if field == "group" {
		b.wait(timeline+".groups.kind === %q", value)
	}
}

// A shownGroup is a group of the timeline.
type shownGroup struct {
	Name, Heading, Expanded string
	Ranks                   []int // in their order
}

func groupsOf(b *tab) []shownGroup {
	b.Helper()
	return eval[[]shownGroup](b,
		timeline+".groups.list.map((g, i) => { const e = document.querySelectorAll('#timeline .heads button')[i];"+
			" return { name: g.name, heading: e.textContent, expanded: e.getAttribute('aria-expanded'), ranks: g.rows.map((r) => r.rank) }; })")
}

// offered returns by what the ranks can be grouped.
func offered(b *tab) []string {
	b.Helper()
	return eval[[]string](b, "[...document.querySelectorAll('#timeline [data-group] option')].map((o) => o.value)")
}

// length returns how long the timeline is, in nanoseconds.
func length(t *testing.T, tr *trace.Trace) float64 {
	t.Helper()
	first, last := spanOf(t, tr)
	return float64(last - first)
}

// TestGroups compares which ranks are in which groups with the trace, of pages that have calls,
// sums of these, or asks for them.
func TestGroups(t *testing.T) {
	e2e.Programs(t)
	tr := retimed(t, program(t, programs.Stencil2D(4, 4, 40)))
	first, whole := firstStart(t, tr), length(t, tr)
	most, share := make(map[int]string), make(map[int]int)
	for _, rank := range tr.RankSet().All() {
		_, sums := sumsOf(t, tr, rank, first, 0, whole)
		names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return int(sums[b] - sums[a]) })
		all := 0.0
		for _, time := range sums {
			all += time
		}
		most[rank], share[rank] = names[0], int(4*all/whole)
	}
	keys := map[string]func(rank int) string{
		"flow": func(rank int) string {
			shape, _ := tr.ShapeOf(rank)
			return fmt.Sprintf("Shape %d", shape)
		},
		"block": func(rank int) string { return fmt.Sprintf("Ranks %d–%d", rank/4*4, rank/4*4+3) },
		"most":  func(rank int) string { return "Most time in " + most[rank] },
		"share": func(rank int) string {
			return "In calls for " + []string{"less than a quarter", "a quarter to a half",
				"a half to three quarters", "more than three quarters"}[share[rank]] + " of the time"
		},
	}
	want := []string{"none"}
	for _, kind := range []string{"flow", "most", "share", "block"} {
		names := make(map[string]bool)
		for _, rank := range tr.RankSet().All() {
			names[keys[kind](rank)] = true
		}
		if len(names) > 1 {
			want = append(want, kind)
		}
	}
	for name, address := range map[string]string{
		"calls": "file://" + file(t, tr, report.Options{}),
		"bins":  "file://" + file(t, tr, report.Options{Budget: 1}), "view": serve(t, tr, report.Options{}).URL + "/",
	} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, address, desktop)
			b.show("timeline")
			b.wait("document.querySelectorAll('#timeline [data-group] option').length === %d", len(want))
			if got := offered(b); !slices.Equal(got, want) {
				t.Fatalf("%q are offered, not %q", got, want)
			}
			b.arrange("order", "time")
			for _, kind := range want[1:] {
				b.arrange("group", kind)
				seen := 0
				for _, g := range groupsOf(b) {
					if seen += len(g.Ranks); g.Expanded != "true" ||
						!strings.HasPrefix(g.Heading, fmt.Sprintf("%s %d rank", g.Name, len(g.Ranks))) {
						t.Errorf("%s: %+v", kind, g)
					}
					for i, rank := range g.Ranks {
						if key := keys[kind](rank); key != g.Name {
							t.Errorf("%s: rank %d is in %q, not %q", kind, rank, g.Name, key)
						}
						if i > 0 && inCalls(t, tr, rank) > inCalls(t, tr, g.Ranks[i-1]) {
							t.Errorf("%s: rank %d is after %d", kind, rank, g.Ranks[i-1])
						}
					}
				}
				if seen != tr.Ranks() {
					t.Errorf("%s: %d ranks are in groups", kind, seen)
				}
			}
		})
	}
}

// inCalls returns how long a rank is in calls, in nanoseconds.
func inCalls(t *testing.T, tr *trace.Trace, rank int) (sum int64) {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		sum += c.Duration
	}
	return sum
}

// TestGroupSums compares what the row of a group that is folded draws and tells with the sums
// of the calls of its ranks.
func TestGroupSums(t *testing.T) {
	e2e.Programs(t)
	tr := retimed(t, program(t, programs.Stencil2D(4, 4, 40)))
	first := firstStart(t, tr)
	for name, budget := range map[string]int{"calls": 0, "bins": 1} {
		t.Run(name, func(t *testing.T) {
			b := open(t, file(t, tr, report.Options{Budget: budget}), desktop)
			b.show("timeline")
			b.arrange("group", "flow")
			b.press("#timeline [data-folds]", "Fold all")
			groups := groupsOf(b)
			if n := eval[int](b, timeline+".rows.filter((r) => r.group && r.track.rough).length"); n != len(
				groups) || groups[0].Expanded != "false" {
				t.Fatalf("%d rows of %d groups, %+v", n, len(groups), groups[0])
			}
			whole, random := length(t, tr), rand.New(rand.NewPCG(3, 9))
			for round := range 10 {
				width := whole / float64(int(1)<<round)
				from := random.Float64() * (whole - width)
				got := eval[struct {
					Span  [2]float64
					Grain float64
					Rows  []struct {
						From, To     float64
						Times, Drawn map[string]float64
						Lines        []string
					}
				}](b, `(t => {
					t.span.set(%v, %v);
					t.draw();
					const named = (list) => Object.fromEntries([...list].map((v, k) => [t.functions[k] && t.functions[k].name, v]).filter(([name, v]) => name && v > 0));
					const scale = t.span.width / t.area().width;
					return { span: [t.span.low, t.span.high], grain: Math.max(...t.all.map((r) => r.track.grain)), rows: t.rows.map((r, i) => {
						const c = t.callAt(i, t.span.low + 0.37 * t.span.width), { top, height } = t.places[i];
						const drawn = t.drawn.map((list) => { let n = 0; for (let j = 0; j < list.length; j += 4) if (list[j + 1] >= top && list[j + 1] < top + height) n += list[j + 2] * list[j + 3]; return n / (height - 4) * scale; });
						return { drawn: named(drawn), ...(c ? { from: c.from, to: c.to, times: named(c.times), lines: t.lines(c) } : {}) };
					}) };
				})(%s)`, from, from+width, timeline)
				for i, g := range groups {
					row, sums, there := got.Rows[i], make(map[string]float64), make(map[string]float64)
					for _, rank := range g.Ranks {
						_, s := sumsOf(t, tr, rank, first, got.Span[0], got.Span[1])
						for f, time := range s {
							sums[f] += time
						}
						_, s = sumsOf(t, tr, rank, first, row.From, row.To)
						for f, time := range s {
							there[f] += time
						}
					}
					n := float64(len(g.Ranks))
					for f, sum := range sums {
						if wide := got.Span[1] - got.Span[0]; math.Abs(row.Drawn[f]-sum/n) > 0.05*wide+2*got.Grain {
							t.Errorf("%v, %s: %s is drawn as %g ns of %g, not %g", got.Span, g.Name, f,
								row.Drawn[f], wide, sum/n)
						}
					}
					if row.Lines == nil {
						continue // none of its ranks runs any more
					}
					if width := 2 * (got.Span[1] - got.Span[0]) / 1000; row.To-row.From < got.Grain ||
						got.Grain == 0 && row.To-row.From > 2*width {
						t.Errorf("%s: %g to %g is told, of sums over %g", g.Name, row.From, row.To, got.Grain)
					}
					time := 0.0
					for f, sum := range there {
						time = max(time, sum)
						if math.Abs(row.Times[f]-sum) > 1e-6*n*(row.To-row.From) {
							t.Errorf("%s: from %g to %g, %s takes %g, not %g", g.Name, row.From, row.To, f,
								row.Times[f], sum)
						}
					}
					// or another that takes as long
					best := strings.TrimPrefix(strings.Split(row.Lines[2], ":")[0], "most in ")
					if want := fmt.Sprintf("most in %s: %.1f %%", best,
						100*time/n/(row.To-row.From)); time > 0 &&
						(!strings.HasPrefix(row.Lines[2], want) || math.Abs(there[best]-time) > 1e-6*time) {
						t.Errorf("%s tells %q, not %q", g.Name, row.Lines, want)
					}
				}
			}
			// what is selected of a row that is folded is of all its ranks
			eval[any](b, "(t => { t.span.all(); t.select([0, 0], [1, 0]); })(%s)", timeline)
			b.wait(timeline + ".selection.usage")
			calls := 0.0
			for _, rank := range groups[0].Ranks {
				r, err := tr.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				calls += float64(r.Len())
			}
			if got := eval[float64](b, timeline+".selection.usage.reduce((n, u) => n + u.calls, 0)"); got != calls {
				t.Errorf("%g calls are selected, not %g", got, calls)
			}
		})
	}
}

// TestGroupLinks goes to calls of ranks that are folded: their groups unfold. Arrows to
// ranks that are folded end at the rows of their groups.
func TestGroupLinks(t *testing.T) {
	e2e.Programs(t)
	tr := retimed(t, program(t, programs.Stencil2D(4, 4, 8)))
	for name, address := range map[string]string{"file": "file://" + file(t, tr, report.Options{}),
		"view": serve(t, tr, report.Options{}).URL + "/"} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, address, desktop)
			b.show("timeline")
			b.wait(timeline + ".rows.every((r) => r.track.at)")
			b.arrange("group", "block")
			b.press("#timeline [data-folds]", "Fold all")
			eval[any](b, "report.goTo({ rank: 5, position: 4 })")
			b.wait("(t => t.chosen && t.chosen.row.rank === 5 && t.rows[t.row] === t.chosen.row)(%s)", timeline)
			if got := groupsOf(b); got[0].Expanded != "false" || got[1].Expanded != "true" ||
				got[2].Expanded != "false" {
				t.Errorf("%+v", got)
			}
			eval[any](b, "document.querySelector('#timeline [data-search]').value = 'MPI_Waitall'")
			b.do(chromedp.Click(chromedp.CSS(`#timeline [data-next="1"]`)))
			b.wait("(t => t.chosen && t.chosen.row.rank === 5 && t.chosen.name === 'MPI_Waitall' && t.messages().length > 0)(%s)", timeline)
			// of 4 neighbours, two are in this block, and two in others, which are folded
			got := eval[struct{ Places, Arrows []float64 }](b, `(t => {
				const middle = (row) => t.places[row].top + t.places[row].height / 2, far = t.messages().filter((m) => m.other.row);
				return { places: far.map((m) => middle(t.rowOf(m.other.row))).sort(), arrows: t.marks().filter((m) => m.type === 'reprise-arrow' && m.style.lineWidth < 4).map((m) => t.messages()[0].sends ? m.shape.y1 : m.shape.y0).sort() };
			})(%s)`, timeline)
			if len(got.Places) == 0 || !slices.Equal(got.Places, got.Arrows) {
				t.Errorf("arrows end at %v, not %v", got.Arrows, got.Places)
			}
			// a group that is folded again: the next call that is found unfolds it
			b.press("#timeline [data-folds]", "Fold all")
			if n := eval[int](b, timeline+".marks().length"); name == "file" && n > 0 &&
				eval[bool](b, timeline+".marks().some((m) => m.type === 'rect')") {
				t.Errorf("a call is marked in a row that is folded")
			}
			b.do(chromedp.Click(chromedp.CSS(`#timeline [data-next="1"]`)))
			b.wait("(t => t.rows[t.row] === t.chosen.row && t.chosen.row.rank === 5)(%s)", timeline)
			// ranks that are not chosen come back
			b.arrange("ranks", "0-7")
			b.wait(timeline + ".ranked.length === 8")
			if got := groupsOf(b); len(got) != 2 || len(got[0].Ranks) != 4 || len(got[1].Ranks) != 4 {
				t.Errorf("%+v", got)
			}
			eval[any](b, "report.goTo({ rank: 15, position: 2 })")
			b.wait("(t => t.chosen && t.chosen.row.rank === 15 && t.rows[t.row] === t.chosen.row)(%s)", timeline)
			b.arrange("group", "none")
			if n := eval[int](b, "document.querySelectorAll('#timeline .heads button').length"); n != 0 {
				t.Errorf("%d headings of no groups", n)
			}
		})
	}
}

// TestGroupLater goes to ranks that a view does not show yet, of groups that depend on their
// times: they come into the groups that they belong to, once, and in the order that is chosen.
func TestGroupLater(t *testing.T) {
	e2e.Programs(t)
	tr := retimed(t, program(t, programs.Stencil2D(6, 6, 20)))
	b := visit(t, serve(t, tr, report.Options{}).URL+"/", desktop)
	b.show("timeline")
	b.wait("document.querySelector('#timeline [data-group] [value=most]')")
	b.arrange("order", "time")
	b.arrange("group", "most")
	shown := eval[[]int](b, timeline+".all.map((r) => r.rank)")
	var later []int
	for _, rank := range tr.RankSet().All() {
		if !slices.Contains(shown, rank) {
			later = append(later, rank)
		}
	}
	check := func() {
		t.Helper()
		var seen []int
		for _, g := range groupsOf(b) {
			last := int64(math.MaxInt64)
			for _, rank := range g.Ranks {
				_, sums := sumsOf(t, tr, rank, firstStart(t, tr), 0, length(t, tr))
				most := slices.MaxFunc(slices.Sorted(maps.Keys(sums)), func(a, b string) int {
					return int(sums[a] - sums[b])
				})
				if g.Name != "Most time in "+most {
					t.Errorf("rank %d is in %q, not that of %s", rank, g.Name, most)
				}
				if in := inCalls(t, tr, rank); in > last {
					t.Errorf("%s: rank %d is in calls for longer than the one before", g.Name, rank)
				} else {
					last = in
				}
			}
			seen = append(seen, g.Ranks...)
		}
		if slices.Sort(seen); len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("ranks %v: some are there twice", seen)
		}
	}
	eval[any](b, "report.goTo({ rank: %d, position: 2 })", later[0])
	b.wait("(t => t.chosen && t.chosen.row.rank === %d)(%s)", later[0], timeline)
	check()
	b.arrange("ranks", fmt.Sprint(later[1], ",", later[2])) // twice, before they have come
	b.arrange("order", "end")
	b.arrange("order", "time")
	b.wait(timeline + ".ranked.length === 2")
	b.wait("%s.opening.size === 0", timeline)
	check()
	eval[any](b, "report.goTo({ rank: %d, position: 2 })", later[3])
	b.wait("(t => t.chosen && t.chosen.row.rank === %d)(%s)", later[3], timeline)
	if got := eval[string](b, "document.querySelector('#timeline [data-ranks]').value"); got != "" {
		t.Errorf("ranks %s are chosen, and all are shown", got)
	}
	check()
}

// TestGroupUnknown folds ranks of which one cannot be read: their row is the mean of the others.
func TestGroupUnknown(t *testing.T) {
	e2e.Programs(t)
	b := visit(t, serve(t, retimed(t, program(t, programs.Stencil2D(4, 4, 8))), report.Options{}).URL+"/", desktop)
	b.show("timeline")
	b.wait("document.querySelector('#timeline [data-group] [value=most]')")
	eval[any](b, "(t => { t.span.all(); t.draw(); })(%s)", timeline)
	b.arrange("group", "block")
	b.press("#timeline [data-folds]", "Fold all")
	got := eval[[2]float64](b, `(t => {
		const area = (row) => { t.draw(); const { top, height } = t.places[row]; return t.drawn.flatMap((l) => { let n = 0; for (let i = 0; i < l.length; i += 4) if (l[i + 1] >= top && l[i + 1] < top + height) n += l[i + 2] * l[i + 3]; return n; }).reduce((a, b) => a + b); };
		const [r, ...others] = t.groups.list[0].rows;
		for (const o of others) Object.assign(o.track, { whole: r.track.whole, detail: r.track.detail, from: r.track.from, to: r.track.to });
		const all = area(0);
		Object.assign(r.track, { whole: null, detail: null });
		return [all, area(0)];
	})(%s)`, timeline)
	if got[0] == 0 || math.Abs(got[1]/got[0]-1) > 1e-9 {
		t.Errorf("%g of a row of equal ranks is drawn, %g if one of them is not known", got[0], got[1])
	}
	b.arrange("order", "rank")
	eval[any](b, "(t => { const r = t.all[0]; r.times = null; r.remote.sum = async () => {}; r.track.whole = null; t.groups.kind = 'share'; t.setRows(t.all); })(%s)", timeline)
	if got := groupsOf(b); got[0].Name != "Not known" || !slices.Equal(got[0].Ranks, []int{0}) {
		t.Errorf("%+v", got)
	}
}

// TestGroupSelection checks that statistics of a selection go with it, and that blocks end with
// the last rank.
func TestGroupSelection(t *testing.T) {
	b := open(t, file(t, retimed(t, program(t, programs.Stencil2D(3, 2, 8))), report.Options{}), desktop)
	b.show("timeline")
	b.arrange("group", "block")
	if got := groupsOf(b); len(got) != 2 || got[1].Name != "Ranks 4–5" {
		t.Errorf("%+v", got)
	}
	eval[any](b, timeline+".select([0, 0], [1, 1])")
	b.wait("document.querySelector('#timeline .readout').innerText.includes('Selected')")
	b.press("#timeline [data-folds]", "Fold all")
	if got := eval[string](b, "document.querySelector('#timeline .readout').innerText"); strings.Contains(got,
		"Selected") {
		t.Errorf("nothing is selected: %q", got)
	}
}

// TestSelectionOnPhone selects calls of functions with long names: what sums them up scrolls, and
// does not make the page wider. Times that may be off are said to be so.
func TestSelectionOnPhone(t *testing.T) {
	f := testtrace.Function("MPI_Neighbor_alltoallw_init", testtrace.Param("thread", cst.KindInt))
	ranks := make([][]testtrace.Call, 2)
	for rank := range ranks {
		for i := range int64(8) {
			ranks[rank] = append(ranks[rank], testtrace.Call{Function: f, Args: []cst.Value{cst.Int(i % 2)},
				Start: 1000*i + 1e9, Duration: 900})
		}
	}
	b := open(t, file(t, testtrace.Record(t, merge.Run{}, true, ranks), report.Options{}), telephone)
	b.show("timeline")
	b.arrange("group", "rank")
	eval[any](b, timeline+".select([0, 0], [1, 1])")
	b.wait("document.querySelector('#timeline .readout table')")
	if got := eval[int](b, "document.documentElement.scrollWidth"); int64(got) > telephone.width {
		t.Errorf("the page is %d wide in a window of %d", got, telephone.width)
	}
	b = open(t, file(t, timed(t, 4, 30, tenth(t)), report.Options{}), desktop)
	b.show("timeline")
	b.arrange("group", "block")
	b.press("#timeline [data-folds]", "Fold all")
	lines := eval[[]string](b, "(t => t.lines(t.callAt(0, t.rows[0].track.end / 5)))(%s)", timeline)
	eval[any](b, timeline+".select([0, 0], [1, 1])")
	b.wait("document.querySelector('#timeline .readout table')")
	if got := eval[string](b, "document.querySelector('#timeline .readout').innerText"); !strings.Contains(
		got, "about ") || !strings.Contains(lines[1], "about ") {
		t.Errorf("times may be 10 %% off, and %q, %q are told", lines, got)
	}
}

// TestGroupKeys folds and unfolds groups with keys, on headings and on rows; a screen reader
// is told what is folded.
func TestGroupKeys(t *testing.T) {
	b := open(t, file(t, retimed(t, program(t, programs.Stencil2D(4, 4, 8))), report.Options{}), desktop)
	b.show("timeline")
	b.arrange("group", "block")
	eval[any](b, "document.querySelectorAll('#timeline .heads button')[1].focus()")
	expanded := func(want string) {
		t.Helper()
		b.wait("[...document.querySelectorAll('#timeline .heads button')].map((e) => e.getAttribute('aria-expanded')).join() === %q", want)
	}
	b.do(chromedp.KeyEvent("\r"))
	expanded("true,false,true,true")
	b.do(chromedp.KeyEvent(" "))
	expanded("true,true,true,true")
	b.do(chromedp.KeyEvent(" "))
	expanded("true,false,true,true")
	if !eval[bool](b, "document.activeElement === document.querySelectorAll('#timeline .heads button')[1]") {
		t.Error("a heading that folds loses the focus")
	}
	call(b, accessibility.Enable, struct{}{})
	told := make(map[string]string)
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Role == nil || string(n.Role.Value) != `"button"` || n.Name == nil {
			continue
		}
		for _, p := range n.Properties {
			if p.Name == "expanded" {
				var name string
				if err := json.Unmarshal(n.Name.Value, &name); err != nil {
					t.Fatal(err)
				}
				told[name] = string(p.Value.Value)
			}
		}
	}
	for name, want := range map[string]string{"Ranks 0–3 4 ranks": "true", "Ranks 4–7 4 ranks": "false"} {
		if told[name] != want {
			t.Errorf("%s: expanded %q, of %v", name, told[name], told)
		}
	}
	eval[any](b, "document.querySelector('[data-figure=timeline]').focus()")
	eval[any](b, "(t => { const { track } = t.groups.list[1].row; t.row = 0; t.span.set(track.start, track.end); t.draw(); })(%s)", timeline)
	for range 4 {
		b.do(chromedp.KeyEvent("\u0301")) // the arrow down
	}
	b.wait("document.querySelector('#timeline .readout').innerText.includes('Ranks 4–7, 4 ranks')")
	b.do(chromedp.KeyEvent("\r"))
	expanded("true,true,true,true")
	b.do(chromedp.KeyEvent(" "))
	expanded("true,false,true,true")
}

// TestGroupWorlds groups ranks by world, threads by rank, and ranks without times.
func TestGroupWorlds(t *testing.T) {
	f := testtrace.Function("work", testtrace.Param("thread", cst.KindInt))
	var ranks [][]testtrace.Call
	for rank := range int64(5) {
		ranks = append(ranks, []testtrace.Call{
			{Function: f, Args: []cst.Value{cst.Int(0)}, Start: 10 * rank, Duration: 5},
			{Function: f, Args: []cst.Value{cst.Int(1)}, Start: 10 * rank, Duration: 6},
		})
	}
	run := merge.Run{Worlds: []format.World{{First: 0, Parent: -1}, {First: 2, Parent: 0}}}
	b := open(t, file(t, testtrace.Record(t, run, true, ranks), report.Options{}), desktop)
	b.show("timeline")
	b.arrange("group", "world")
	if got := groupsOf(b); len(got) != 2 || got[0].Heading != "world0 2 ranks, 4 threads: 0, 1" ||
		got[1].Heading != "world1 3 ranks, 6 threads: 2–4" {
		t.Errorf("%+v", got)
	}
	b.arrange("group", "rank")
	if got := groupsOf(b); len(got) != 5 || got[4].Heading != "Rank 4 1 rank, 2 threads" {
		t.Errorf("%+v", got)
	}
	b = open(t, file(t, program(t, programs.Stencil2D(4, 4, 8)), report.Options{}), desktop)
	b.show("timeline")
	if got := offered(b); slices.Contains(got, "share") || !slices.Contains(got, "flow") {
		t.Errorf("%q are offered without times", got)
	}
	b.arrange("group", "flow")
	b.press("#timeline [data-folds]", "Fold all")
	if lines := eval[[]string](b, "(t => t.lines(t.callAt(0, 3)))(%s)", timeline); len(lines) != 3 ||
		!strings.HasPrefix(lines[1], "calls 2 to ") || !strings.HasPrefix(lines[2], "most in MPI_") {
		t.Errorf("it tells %q", lines)
	}
	b = open(t, file(t, program(t, programs.Stencil2D(1, 1, 8)), report.Options{}), desktop)
	b.show("timeline")
	if got := offered(b); len(got) != 1 ||
		eval[bool](b, "document.querySelector('#timeline [data-group]').checkVisibility()") {
		t.Errorf("%q are offered of one rank", got)
	}
}

// TestGroupLooks looks at groups in a wide window and on a phone, in light and in dark colours
// and on paper: no heading covers a row or another, and all can be pressed with a finger.
func TestGroupLooks(t *testing.T) {
	path := file(t, retimed(t, program(t, programs.Stencil2D(6, 6, 20))), report.Options{})
	for layout, w := range layouts {
		t.Run(layout, func(t *testing.T) {
			b := open(t, path, w)
			b.show("timeline")
			b.arrange("group", "flow")
			eval[any](b, "(g => g.fold(g.list.slice(2), true))(%s.groups)", timeline)
			if got := eval[int](b, "document.documentElement.scrollWidth"); int64(got) > w.width {
				t.Errorf("the page is %d wide in a window of %d", got, w.width)
			}
			checkHeadings(b, map[bool]float64{true: 32, false: 22}[w.phone])
			b.shoot("groups-" + layout)
		})
	}
}

// TestGroupPrint prints groups, of which some are folded: headings are where their rows are.
func TestGroupPrint(t *testing.T) {
	e2e.Programs(t)
	b := open(t, file(t, retimed(t, program(t, programs.Stencil2D(6, 6, 20))), report.Options{}),
		window{width: 1200, height: 600, dark: true})
	b.show("timeline")
	b.arrange("group", "flow")
	eval[any](b, "(g => g.fold(g.list.slice(2), true))(%s.groups)", timeline)
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("REPORT_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "groups.pdf"), pdf, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 680,
		Height: 1000, DeviceScaleFactor: 1})
	checkHeadings(b, 22)
	for _, what := range []string{".heads button", ".heads b"} {
		if !eval[bool](b, "document.querySelector('#timeline %s').checkVisibility()", what) {
			t.Errorf("%s are not printed", what)
		}
	}
	if eval[bool](b, "document.querySelector('#timeline [data-fold]').checkVisibility()") {
		t.Error("buttons are printed that cannot be pressed")
	}
}

// checkHeadings compares where headings are with where rows are drawn.
func checkHeadings(b *tab, height float64) {
	b.Helper()
	got := eval[struct{ Heads, Rows [][2]float64 }](b, `(t => {
		const top = t.element.getBoundingClientRect().top, heads = [...document.querySelectorAll('#timeline .heads button')].map((e) => e.getBoundingClientRect());
		return { heads: heads.map((h) => [h.top - top, h.bottom - top]), rows: t.places.map((p) => [p.top, p.top + p.height]) };
	})(%s)`, timeline)
	all := slices.SortedFunc(slices.Values(append(got.Heads, got.Rows...)), func(a, b [2]float64) int {
		return int(a[0] - b[0])
	})
	if len(got.Heads) == 0 {
		b.Fatal("there are no headings")
	}
	for i := 1; i < len(all); i++ {
		if math.Abs(all[i][0]-all[i-1][1]) > 0.5 {
			b.Errorf("from %v to %v", all[i-1], all[i])
		}
	}
	for _, h := range got.Heads {
		if h[1]-h[0] < height {
			b.Errorf("a heading is %g high", h[1]-h[0])
		}
	}
}

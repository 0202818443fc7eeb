package report_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/tracer"
)

// TestViewEstimates serves a trace whose times are estimates: a view tells none of single
// calls, and shows of other ranks that there are none.
func TestViewEstimates(t *testing.T) {
	s := serve(t, timed(t, 40, 30, tracer.Options{}), report.Options{})
	for _, path := range []string{"/window?rank=1&from=0&to=100000&columns=100",
		"/usage?rank=1&from=0&to=1000", "/call?rank=1&position=3",
		"/find?rank=1&position=0&step=1&kind=function&value=0"} {
		if status, body := ask(t, s, path); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	b := visit(t, s.URL+"/", desktop)
	b.show("timeline")
	if !eval[bool](b, "report.figures.get('timeline').rows.every((r) => r.track.rough && r.program)") {
		t.Error("rows are not estimates")
	}
}

// TestViewEmptyRank asks for a rank without calls.
func TestViewEmptyRank(t *testing.T) {
	c := testtrace.Call{Function: cst.Function{Name: "f"}, Start: 100, Duration: 10}
	s := serve(t, testtrace.Record(t, merge.Run{Ranks: 3}, true, [][]testtrace.Call{{c, c}, {c, c}}), report.Options{})
	if status, body := ask(t, s, "/rank?rank=2"); status != http.StatusOK ||
		!strings.Contains(string(body), `"threads":[],"calls":0,"end":0,"timed":false`) {
		t.Errorf("%d %s", status, body)
	}
	b := visit(t, s.URL+"/", desktop)
	b.show("timeline")
	eval[any](b, "(e => { e.value = '1-2'; e.dispatchEvent(new Event('change')); })(document.querySelector('#timeline [data-ranks]'))")
	b.wait("document.querySelector('#timeline .found').textContent.includes('2')")
	b.wait("report.figures.get('timeline').rows.map((r) => r.rank).join() === '1'")
}

// TestViewRough points at a row of which, zoomed out, only sums of the whole are known yet.
func TestViewRough(t *testing.T) {
	e2e.Programs(t)
	b := visit(t, serve(t, timed(t, 2, 60_000, exact()), report.Options{}).URL+"/", desktop)
	b.show("timeline")
	const timeline = "report.figures.get('timeline')"
	b.wait(timeline + ".rows.length === 2 && " + timeline + ".rows.every((r) => r.track.detail)")
	eval[any](b, "(t => { t.span.set(1e8, 1e8 + 1e5); t.draw(); })("+timeline+")")
	b.wait(timeline + ".rows.every((r) => r.track.detail instanceof Calls)")
	lines := eval[[]string](b,
		"(t => { t.span.set(1e8 - 1e6, 1e8 + 1e6); t.draw(); const c = t.callAt(0, 1e8 + 5e4); return c && t.lines(c); })("+timeline+")")
	if len(lines) != 3 || !strings.Contains(lines[1], "starts at") {
		t.Errorf("it tells %q", lines)
	}
}

// TestViewThreads searches in a row of a thread: in one request.
func TestViewThreads(t *testing.T) {
	call := func(thread, start int64, name string) testtrace.Call {
		f := cst.Function{Name: name, Params: []cst.Param{testtrace.Param("thread", cst.KindInt)}}
		return testtrace.Call{Function: f, Args: []cst.Value{cst.Int(thread)}, Start: start, Duration: 5}
	}
	var calls []testtrace.Call
	for i := range int64(300) {
		calls = append(calls, call(0, i*100, "work"))
	}
	calls = append(calls, call(1, 30_000, "other"), call(1, 31_000, "work"))
	s := serve(t, testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{calls}), report.Options{})
	var found struct{ Position int }
	_, body := ask(t, s, "/find?rank=0&thread=1&position=0&step=1&kind=text&value=work")
	if err := json.Unmarshal(body, &found); err != nil || found.Position != 301 {
		t.Errorf("%s", body)
	}
}

// TestViewReceipts compares when receipts end, as a view and as a file tell it.
func TestViewReceipts(t *testing.T) {
	e2e.Programs(t)
	tr := retimed(t, program(t, programs.Stencil2D(3, 3, 8)))
	tell := func(b *tab, position int) string {
		const timeline = "report.figures.get('timeline')"
		b.show("timeline")
		b.wait(timeline + ".rows.length === 9")
		eval[any](b, timeline+".show({ rank: 4, position: %d })", position)
		b.wait(timeline+".chosen && "+timeline+".chosen.position === %d && "+timeline+
			".messages().length > 0", position)
		return eval[string](b, timeline+".partners().textContent")
	}
	served, page := visit(t, serve(t, tr, report.Options{}).URL+"/", desktop),
		open(t, file(t, tr, report.Options{}), desktop)
	for _, position := range []int{1, 3, 5, 8, 9, 10} {
		if position == 9 {
			continue // a barrier or the like has no messages
		}
		r, err := tr.Rank(4)
		if err != nil {
			t.Fatal(err)
		}
		if name := r.Call(r.Grammar().At(uint64(position))).Function.Name; name != "MPI_Irecv" &&
			name != "MPI_Isend" && name != "MPI_Waitall" {
			continue
		}
		if a, b := tell(served, position), tell(page, position); a != b {
			t.Errorf("call %d: a view tells %q, a page %q", position, a, b)
		}
	}
}

// TestViewAtOnce asks for many things at once, and for nothing.
func TestViewAtOnce(t *testing.T) {
	s := serve(t, retimed(t, program(t, programs.Stencil2D(4, 4, 20))), report.Options{})
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(9, uint64(g)))
			for range 40 {
				rank := random.IntN(16)
				for _, path := range []string{
					fmt.Sprintf("/window?rank=%d&from=%d&to=2000000&columns=300", rank,
						random.IntN(1_000_000)), fmt.Sprintf("/call?rank=%d&position=%d", rank, random.IntN(60)),
					fmt.Sprintf("/usage?rank=%d&from=0&to=1000000", rank),
					fmt.Sprintf("/find?rank=%d&position=3&step=1&kind=text&value=wait", rank),
				} {
					if status, body := ask(t, s, path); status != http.StatusOK {
						t.Errorf("%s: %d %s", path, status, body)
					}
				}
			}
		})
	}
	all.Wait()
	r := httptest.NewRequest(http.MethodGet, s.URL, nil)
	r.URL.Path = ""
	s.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
}

// TestHostileTimes draws calls whose times are as far apart as can be.
func TestHostileTimes(t *testing.T) {
	f := cst.Function{Name: "f"}
	const most = 1<<63 - 1
	for i, calls := range [][]testtrace.Call{
		{{Function: f, Start: 0, Duration: 5}, {Function: f, Start: most - 2, Duration: most},
			{Function: f, Start: -most, Duration: most}},
		{{Function: f, Start: 0, Duration: 5}, {Function: f, Start: 3, Duration: -most},
			{Function: f, Start: most - 1, Duration: 1}},
		{{Function: f, Start: -most - 1, Duration: most}, {Function: f, Start: most, Duration: most}},
		{{Function: f, Start: 1 << 52, Duration: 5}, {Function: f, Start: -1 << 60, Duration: 1 << 60}},
	} {
		var many []testtrace.Call
		for range 30 {
			many = append(many, calls...)
		}
		tr := testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{many})
		render(t, tr, report.Options{})
		render(t, tr, report.Options{Budget: 1})
		s := serve(t, tr, report.Options{})
		for _, path := range []string{"/rank?rank=0", "/window?rank=0&from=0&to=1&columns=8192",
			"/window?rank=0&from=0&to=9007199254740000&columns=100", "/usage?rank=0&from=0&to=1000",
			"/call?rank=0&position=1"} {
			if status, body := ask(t, s, path); status != http.StatusOK &&
				status != http.StatusInternalServerError && status != http.StatusBadRequest {
				t.Errorf("%d: %s: %d %s", i, path, status, body)
			}
		}
	}
}

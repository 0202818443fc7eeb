package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
)

func serve(t testing.TB, tr *trace.Trace, o report.Options) *httptest.Server {
	t.Helper()
	v, err := report.OpenView(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(v)
	t.Cleanup(s.Close)
	return s
}

// ask returns what a server answers, and its status.
func ask(t testing.TB, s *httptest.Server, path string) (status int, body []byte) {
	t.Helper()
	r, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err = io.ReadAll(r.Body); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, body
}

// A served window, as view_window.go writes it.
type servedWindow struct {
	Thread   *int
	From, To float64
	Calls    *struct {
		Positions            []uint64
		Starts, Durations    []float64
		Terminals, Functions []int
		Texts                []string
	}
	Width float64
	Time  []float64
	Count []float64
}

// TestViewWindow compares windows of all widths with the calls of the trace: calls are
// those that are there, and sums are theirs.
func TestViewWindow(t *testing.T) {
	tr := timed(t, 2, tier.Number(20_000, 60_000), exact()) // 162,000 calls a rank, more than are decoded at once
	s := serve(t, tr, report.Options{})
	first := firstStart(t, tr)
	r, err := tr.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	type span struct{ start, end float64 }
	var all []span
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, span{float64(c.Start - first), float64(c.Start - first + c.Duration)})
	}
	last := all[len(all)-1].end
	random := rand.New(rand.NewPCG(4, 4))
	for round := range 24 {
		width := math.Max(1, math.Floor(last/math.Pow(2, float64(round))))
		from := math.Floor(random.Float64() * (last - width))
		if round == 1 {
			from, width = 0, math.Floor(0.97*last) // bins of several of the whole run, not all of them full
		}
		status, body := ask(t, s, fmt.Sprintf("/window?rank=1&from=%.0f&to=%.0f&columns=500", from, from+width))
		var list []servedWindow
		if err := json.Unmarshal(body, &list); err != nil || status != http.StatusOK || len(list) != 1 {
			t.Fatalf("%d %s", status, body)
		}
		w := list[0]
		if w.Calls != nil {
			n := 0
			for i, c := range all {
				if c.start < from+width && (c.start >= from || c.end > from) {
					if n >= len(w.Calls.Positions) || w.Calls.Positions[n] != uint64(i) ||
						w.Calls.Starts[n] != c.start || w.Calls.Durations[n] != c.end-c.start {
						t.Fatalf("from %g on for %g: call %d, at %d, is not there", from, width, i, n)
					}
					n++
				}
			}
			if n != len(w.Calls.Positions) {
				t.Fatalf("from %g on for %g: %d calls, not %d", from, width, len(w.Calls.Positions), n)
			}
			continue
		}
		want, got := 0.0, 0.0
		for _, c := range all {
			want += max(0, min(c.end, w.To)-max(c.start, w.From))
		}
		for _, v := range w.Time {
			got += v
		}
		last := len(w.Time)/16 - 1 // which is as long as the others unless the run ends before
		inLast, wantLast := 0.0, 0.0
		for _, v := range w.Time[16*last:] {
			inLast += v
		}
		for _, c := range all {
			wantLast += max(0, min(c.end, w.To, w.From+float64(last+1)*w.Width)-max(c.start,
				w.From+float64(last)*w.Width))
		}
		if inLast != wantLast {
			t.Errorf("from %g on for %g: the last bin has %g, not %g", from, width, inLast, wantLast)
		}
		if got != want || w.From > from || w.To < from+width || w.Width > width/200 {
			t.Errorf("from %g on for %g: bins of %g from %g to %g, with %g, not %g", from, width, w.Width,
				w.From, w.To, got, want)
		}
	}
}

// TestViewRefuses asks for what makes no sense.
func TestViewRefuses(t *testing.T) {
	s := serve(t, timed(t, 2, 10, exact()), report.Options{})
	for path, want := range map[string]int{
		"/": 200, "/rank?rank=0": 200, "/nothing": 404, "/rank": 400, "/rank?rank=2": 400,
		"/rank?rank=-1": 400, "/call?rank=0&position=1000000": 400,
		"/window?rank=0&from=0&to=0&columns=10": 400, "/window?rank=0&from=-5&to=10&columns=10": 400,
		"/window?rank=0&from=0&to=10&columns=100000":            400,
		"/window?rank=0&from=0&to=99999999999999999&columns=10": 400, "/find?rank=0&position=x&step=1": 400,
		"/usage?rank=0&from=1&to=0": 400,
	} {
		if got, body := ask(t, s, path); got != want {
			t.Errorf("%s: %d %s, not %d", path, got, body, want)
		}
	}
	r, err := http.Post(s.URL+"/rank?rank=0", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", r.StatusCode)
	}
}

// TestView looks at a served page as a person would: it zooms in to a call, searches,
// selects, and goes to the other end of a message, on ranks that it has shown and on others.
func TestView(t *testing.T) {
	e2e.Programs(t)
	tr := retimed(t, program(t, programs.Stencil2D(5, 5, 40)))
	s := serve(t, tr, report.Options{})
	b := visit(t, s.URL+"/", desktop)
	b.show("timeline")
	const timeline = "report.figures.get('timeline')"
	b.wait(timeline + ".rows.length === 16 && " + timeline + ".rows.every((r) => r.track.detail)")
	eval[any](b, "(t => { t.span.all(); t.draw(); })(%s)", timeline)
	first := firstStart(t, tr)
	r, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	clock := clockOf(t, tr, 0)
	position := r.Len() / 3
	start, duration, err := clock.Time(position)
	if err != nil {
		t.Fatal(err)
	}
	eval[any](b, timeline+".show({ rank: 0, position: %d })", position)
	b.wait(timeline+".chosen && "+timeline+".chosen.position === %d", position)
	if got := eval[[2]float64](b, "(c => [c.start, c.duration])("+timeline+
		".chosen)"); got != [2]float64{float64(start - first), float64(duration)} {
		t.Errorf("call %d is from %g on for %g, not from %d for %d", position, got[0], got[1], start-first, duration)
	}
	b.wait(timeline+".rows[0].track.detail.at && "+timeline+".rows[0].track.at(%d)", position)
	eval[any](b, timeline+".choose(null)")
	eval[any](b, "document.querySelector('#timeline [data-search]').value = 'MPI_Waitall'")
	eval[any](b, "document.querySelector('#timeline [data-next=\"1\"]').click()")
	b.wait(timeline + ".chosen && " + timeline + ".chosen.name === 'MPI_Waitall'")
	b.wait("document.querySelector('#timeline .partners button')")
	eval[any](b, "document.querySelector('#timeline .partners button').click()")
	b.wait(timeline + ".chosen && " + timeline + ".chosen.name === 'MPI_Isend'")
	// all of a row
	eval[any](b, "(t => { t.span.all(); t.draw(); t.select([0, 0.01], [1, 0.01]); })("+timeline+")")
	b.wait(timeline + ".selection && " + timeline + ".selection.usage")
	calls := 0.0
	for _, u := range eval[[]struct{ Calls float64 }](b, timeline+".selection.usage") {
		calls += u.Calls
	}
	if calls != float64(r.Len()) {
		t.Errorf("%g calls are selected, not %d", calls, r.Len())
	}
	// a rank that is not among those shown first
	other := 1
	for eval[bool](b, timeline+".rows.some((r) => r.rank === %d)", other) {
		other++
	}
	eval[any](b, "(e => { e.value = '%d'; e.dispatchEvent(new Event('change')); })(document.querySelector('#timeline [data-ranks]'))", other)
	b.wait(timeline+".rows.length === 1 && "+timeline+".rows[0].rank === %d && "+timeline+
		".rows[0].track.detail", other)
}

// large returns a trace of about so many calls, all with times.
func large(t testing.TB, calls int) *trace.Trace {
	t.Helper()
	const ranks = 16
	return timed(t, ranks, calls/ranks/8, exact())
}

// BenchmarkView asks for windows of all widths, of 16 ranks with 10⁷ calls.
func BenchmarkView(b *testing.B) {
	tr := large(b, 10_000_000)
	s := serve(b, tr, report.Options{Ranks: new(rankenc.Set)})
	var span struct{ End int64 }
	_, body := ask(b, s, "/rank?rank=0")
	if err := json.Unmarshal(body, &span); err != nil {
		b.Fatal(err)
	}
	for rank := range 16 { // the sums of the whole run
		ask(b, s, fmt.Sprintf("/window?rank=%d&from=0&to=%d&columns=600", rank, span.End))
	}
	for _, part := range []int64{1, 4, 16, 64, 1024, 1 << 20} {
		b.Run(fmt.Sprintf("part=%d", part), func(b *testing.B) {
			for i := range b.N {
				from := int64(i) * 7919 * (span.End / 10007) % (span.End - span.End/part + 1)
				for rank := range 16 {
					if status, body := ask(b, s, fmt.Sprintf("/window?rank=%d&from=%d&to=%d&columns=900",
						rank, from, from+max(1, span.End/part))); status != http.StatusOK {
						b.Fatalf("%s", body)
					}
				}
			}
		})
	}
}

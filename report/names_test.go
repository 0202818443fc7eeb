package report_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/sequitur"
)

// A pageData is some of what the scripts of a page read.
type pageData struct {
	Functions []struct{ Name string }
	Timeline  struct {
		Texts    []string
		Programs []struct{ Functions []int }
		Ranks    []struct {
			Program int
			Texts   []int
		}
	}
}

var dataOf = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func dataIn(t *testing.T, html []byte) (d pageData) {
	t.Helper()
	found := dataOf.FindSubmatch(html)
	if found == nil {
		t.Fatal("no data")
	}
	if err := json.Unmarshal(found[1], &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTimelineFunctions looks at the functions of calls where many are left out, and the
// names of some are cut to the same.
func TestTimelineFunctions(t *testing.T) {
	var calls []testtrace.Call
	for i := range int64(500) {
		name := strings.Repeat("n", 500) + fmt.Sprint(i)
		if i >= 250 {
			name = fmt.Sprint("f", i, "_")
		}
		calls = append(calls, testtrace.Call{Function: testtrace.Function(name), Start: 1000 * i,
			Duration: 1 + (i*7)%500})
	}
	d := dataIn(t, render(t, testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{calls}),
		report.Options{}))
	shown := 0
	for _, r := range d.Timeline.Ranks {
		for terminal, f := range d.Timeline.Programs[r.Program].Functions {
			if f == len(d.Functions) {
				continue
			}
			shown++
			if text, name := d.Timeline.Texts[r.Texts[terminal]],
				d.Functions[f].Name; !strings.HasPrefix(text, strings.TrimSuffix(name, "…")) {
				t.Fatalf("%.30s… is a call of %.30s…", text, name)
			}
		}
	}
	if shown != len(d.Functions) {
		t.Errorf("%d calls of %d functions", shown, len(d.Functions))
	}
}

// TestAdvice looks for advice that only helps who recorded a program.
func TestAdvice(t *testing.T) {
	for source, want := range map[string]bool{collect.Source: true, "SimGrid TI": false} {
		calls := []testtrace.Call{{Function: testtrace.Function("f")}}
		html := string(render(t, testtrace.Record(t, merge.Run{Ranks: 1, Source: source}, false,
			[][]testtrace.Call{calls}), report.Options{}))
		if got := strings.Contains(html, "--times"); got != want {
			t.Errorf("%s: the page advises to record with --times: %t", source, got)
		}
	}
}

// TestTimelineDeep zooms in where numbers are larger than a browser tells apart.
func TestTimelineDeep(t *testing.T) {
	table := new(cst.Table)
	var body []sequitur.Run
	for _, name := range []string{"f", "g"} {
		body = append(body,
			sequitur.Run{Symbol: table.InternRun(table.Declare(testtrace.Function(name)), 1<<61), Count: 1})
	}
	var grammar sequitur.Builder
	grammar.AppendLoop(body, 1<<61)
	parts := []merge.Part{{Rank: 0, Table: table, Grammar: grammar.Finish()}}
	b := open(t, file(t, opened(t, merge.Run{Ranks: 1}, parts), report.Options{}), desktop)
	b.show("timeline")
	rects := eval[int](b, `(() => {
		const t = report.figures.get('timeline');
		for (let i = 0; i < 80; i++) { t.span.zoom(0.5, 0.37); t.draw(); }
		return t.drawn.reduce((n, r) => n + r.length / 4, 0);
	})()`)
	if rects == 0 || rects > 50_000 {
		t.Errorf("%d rectangles", rects)
	}
}

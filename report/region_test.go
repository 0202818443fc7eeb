package report_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
)

// TestRegion opens the timeline at a part of the run: it begins when the first rank comes there, and ends with the
// last call there of all ranks.
func TestRegion(t *testing.T) {
	const ranks, rounds = 2, 40
	var calls [][]testtrace.Call
	low, high := int64(math.MaxInt64), int64(0)
	for rank := range int64(ranks) {
		var list []testtrace.Call
		now := rank * 7
		add := func(name string, takes int64) {
			list = append(list, testtrace.Call{Function: cst.Function{Name: name}, Start: now, Duration: takes})
			now += takes + 5
		}
		for range rounds {
			add("first", 100+rank)
			add("last", 50)
		}
		low = min(low, now)
		for range rounds {
			add("second", 300)
			add("third", 10+rank)
		}
		high = max(high, now-5)
		add("end", 1000)
		calls = append(calls, list)
	}
	for _, timed := range []bool{true, false} {
		tr := testtrace.Record(t, merge.Run{Ranks: ranks}, timed, calls)
		want := fmt.Sprintf(`"view":[%d,%d],"region":"phase 2`, low, high)
		if !timed {
			want = fmt.Sprintf(`"view":[%d,%d],"region":"phase 2`, 2*rounds, 4*rounds)
		}
		if html := string(render(t, tr, report.Options{Region: phase(t, tr, "2")})); !strings.Contains(html, want) {
			_, has, _ := strings.Cut(html, `"view":`)
			t.Errorf("timed %v: the page has no %s, but %.60s", timed, want, has)
		}
		if html := string(render(t, tr, report.Options{})); strings.Contains(html, `"view":`) {
			t.Errorf("timed %v: a view of all", timed)
		}
	}
	tr := testtrace.Record(t, merge.Run{Ranks: ranks}, true, calls)
	b := open(t, file(t, tr, report.Options{Region: phase(t, tr, "2")}), desktop)
	b.wait("report.figures.get('timeline').loaded")
	seen := eval[string](b, "report.figures.get('timeline').describe()")
	if !strings.HasPrefix(seen, "phase 2") {
		t.Errorf("the timeline shows %q", seen)
	}
	// The section about the part has the calls of the part, and how long they take.
	section, _, _ := strings.Cut(eval[string](b, "document.getElementById('region').innerText"), "Rank\t")
	for _, want := range []string{"Phase 2", "2 ranks make 160 calls there.", "second\t80\t2\t24.0 µs\t96.6 %",
		"third\t80\t2\t840 ns\t3.4 %"} {
		if !strings.Contains(section, want) {
			t.Errorf("the section about phase 2 has no %q: %s", want, section)
		}
	}
}

func phase(t *testing.T, tr *trace.Trace, name string) *query.Region {
	t.Helper()
	g, err := query.OpenRegion(t.Context(), tr, query.Selection{Phase: name})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

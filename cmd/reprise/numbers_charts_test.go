package main

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

// pageShape and pageRule are lines of the loops of the page: a shape, and a rule with what is
// said of it.
var (
	pageShape = regexp.MustCompile(`<summary>Shape (\d+): [^<]* with ([\d,]+) calls`)
	pageRule  = regexp.MustCompile(
		`id="shape(\d+)-rule(\d+)"[^>]*><summary>(?:<span class="n">[^<]*</span> )?([^<]*)<span class="t">([^<]*)</span>`)
)

// checkPageLoops compares the loops of the page with those of grammar by shape, and these with the calls of
// the ranks of the shape.
func checkPageLoops(t *testing.T, page, path string, w truth, exact bool) {
	t.Helper()
	shapes := make(map[string]grammarTruth)
	ranks := 0
	for _, m := range pageShape.FindAllStringSubmatch(page, -1) {
		g := shapeOf(t, path, m[1], w, exact)
		if want := text.Count(g.Rules[len(g.Rules)-1].Calls); m[2] != want {
			t.Errorf("the page has %s calls of shape %s, not %s", m[2], m[1], want)
		}
		shapes[m[1]] = g
		ranks += g.Ranks.Len()
	}
	if ranks != len(w.calls) {
		t.Errorf("the page has the loops of %d ranks", ranks)
	}
	for _, m := range pageRule.FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[2])
		r := shapes[m[1]].Rules[n]
		about, took := html.UnescapeString(m[3]), html.UnescapeString(m[4])
		if !strings.Contains(about, text.Plural(r.Calls, "call")) ||
			r.Places > 1 && !strings.Contains(about, fmt.Sprintf("%d occurrences", r.Places)) ||
			!strings.HasPrefix(took, text.Duration(r.Time)) ||
			!strings.Contains(took, text.Percent(r.Share, 1)+" of the time") {
			t.Errorf("the page has %q, %q for rule %d of shape %s, which is %+v", about, took, n, m[1], r)
		}
	}
}

// shapeOf returns what grammar tells of a shape, which is compared with the calls of its ranks.
func shapeOf(t *testing.T, path, number string, w truth, exact bool) grammarTruth {
	t.Helper()
	var a struct{ Grammars []grammarTruth }
	decodeJSON(t, &a, "grammar", "--json", "--shape", number, path)
	g := a.Grammars[0]
	sums, whole := make([]loopSum, len(g.Rules)), int64(0)
	for _, rank := range g.Ranks.All() {
		walk := loopWalk{t: t, rules: g.Rules, calls: w.calls[rank], sums: sums}
		time, _ := walk.rule(len(g.Rules) - 1)
		whole += time - w.outsideRun(rank)
	}
	n := uint64(g.Ranks.Len())
	for i, r := range g.Rules {
		r.Iterations *= n
		checkRule(t, int(g.Ranks.At(0)), i, r, sums[i], float64(whole), exact)
	}
	return g
}

// checkPageIterations compares the bars of the rounds of the main loop, if all ranks have the same.
func checkPageIterations(t *testing.T, page string, w truth) {
	t.Helper()
	var data struct {
		Iterations *struct {
			Rounds, Bars, First, Calls int
			Whole                      []float64
			InCalls                    []float64 `json:"in_calls"`
			Wait                       []float64
		}
	}
	pageJSON(t, page, &data)
	x := data.Iterations
	if x == nil {
		if w.functions["MPI_Send"].calls == 0 {
			t.Error("the page has no rounds")
		}
		return // the rounds differ
	}
	if x.Bars != x.Rounds || len(x.Whole) != x.Rounds {
		t.Fatalf("the page has %d bars of %d rounds", x.Bars, x.Rounds)
	}
	for round := range x.Rounds {
		whole, inCalls, least := 0.0, 0.0, math.Inf(1)
		for _, calls := range w.calls {
			list := calls[x.First+round*x.Calls:][:x.Calls]
			end := list[x.Calls-1].end()
			if round+1 < x.Rounds {
				end = calls[x.First+(round+1)*x.Calls].Start
			}
			in := 0.0
			for _, c := range list {
				in += float64(c.Duration)
			}
			whole, inCalls, least = whole+float64(end-list[0].Start), inCalls+in, min(least, in)
		}
		n := float64(len(w.calls))
		if !near(x.Whole[round], whole/n, 0) || !near(x.InCalls[round], inCalls/n, 0) ||
			!near(x.Wait[round], inCalls/n-least, 0) {
			t.Errorf("the page has round %d of %.1f, %.1f in calls, %.1f of waiting; not %.1f, %.1f, %.1f", round,
				x.Whole[round], x.InCalls[round], x.Wait[round], whole/n, inCalls/n, inCalls/n-least)
		}
	}
}

// checkPageLoad compares the bars of ranks: how long each is in calls.
func checkPageLoad(t *testing.T, page string, w truth) {
	t.Helper()
	var data struct {
		Load struct {
			Ranks, Bins int
			Values      []float64
		}
	}
	pageJSON(t, page, &data)
	if len(data.Load.Values) != len(w.calls) {
		t.Fatalf("the page has %+v", data.Load)
	}
	for rank, got := range data.Load.Values {
		want := float64(w.inRun(rank))
		if !near(got, want, 0) {
			t.Errorf("the page has rank %d in calls for %.1f, not %.1f", rank, got, want)
		}
	}
}

// checkSummary compares the facts of the summary.
func checkSummary(t *testing.T, page string, w truth) {
	t.Helper()
	calls, longest, most := uint64(0), tally{}, ""
	for name, f := range w.functions {
		if calls += f.calls; f.time > longest.time && !query.OutsideRun(name) {
			longest, most = f, name
		}
	}
	_, begin, end := w.run()
	slowest, longestOutside := 0, math.Inf(-1)
	for rank, list := range w.calls {
		outside := float64(list[len(list)-1].end() - list[0].Start)
		for _, f := range w.ranks[rank] {
			outside -= float64(f.time)
		}
		if outside > longestOutside {
			slowest, longestOutside = rank, outside
		}
	}
	for name, want := range map[string]string{
		"Run": text.Duration(end - begin), "Calls": text.Count(calls), "Ranks": text.Count(len(w.calls)),
		"Top function": most,
		"Slowest rank": fmt.Sprint(slowest), "Functions": text.Count(len(w.functions)),
	} {
		if !strings.Contains(page, "<dt>"+name+"</dt><dd>"+want+"<") {
			t.Errorf("the page does not have %s %s", name, want)
		}
	}
	if note := fmt.Sprintf("<small>%s outside calls, mean",
		text.Duration(longestOutside)); !strings.Contains(page, note) {
		t.Errorf("the page does not have %s", note)
	}
}

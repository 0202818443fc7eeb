package main

import (
	"maps"
	"math"
	"strconv"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A grammarTruth is what grammar prints of a rank or a shape.
type grammarTruth struct {
	Rank   *int
	Ranks  rankenc.Set `json:"rank_set"`
	Source string
	Scaled bool `json:"scaled_to_rank"`
	Rules  []ruleTruth
}

type ruleTruth struct {
	Calls, Iterations uint64
	Places            int
	Time              float64 `json:"iteration_ns"`
	InCalls           float64 `json:"in_calls_ns"`
	Share             float64
	Functions         []struct {
		Function string
		Calls    uint64
	}
	Body []struct {
		Call     string
		Rule     *int
		Count    uint64
		Duration *float64 `json:"duration_ns"`
	}
}

// A loopSum is what an independent walk through a grammar and the calls of a rank has of a rule.
type loopSum struct {
	iterations, calls uint64
	time, inCalls     int64
	functions         map[string]uint64
}

// A loopWalk goes through a grammar along the calls of a rank.
type loopWalk struct {
	t     *testing.T
	rules []ruleTruth
	calls []catCall
	at    int
	sums  []loopSum
}

// rule goes through an iteration of a rule, and returns how long it took, with the gaps before its calls.
func (w *loopWalk) rule(n int) (time, inCalls int64) {
	first := w.at
	functions := make(map[string]uint64)
	for _, term := range w.rules[n].Body {
		for range term.Count {
			if term.Rule != nil {
				whole, in := w.rule(*term.Rule)
				time, inCalls = time+whole, inCalls+in
				continue
			}
			c := w.calls[w.at]
			if siteOf(term.Call) != c.called("site") {
				w.t.Fatalf("position %d is %s at %s, not %s", w.at, c.Function, c.called("site"), term.Call)
			}
			inCalls += c.Duration
			time += c.Duration
			if w.at > 0 {
				time += c.Start - w.calls[w.at-1].end()
			}
			w.at++
		}
	}
	for _, c := range w.calls[first:w.at] {
		functions[c.Function]++
	}
	s := &w.sums[n]
	s.iterations, s.calls, s.time, s.inCalls, s.functions = s.iterations+1, uint64(w.at-first), s.time+time,
		s.inCalls+inCalls, functions
	return time, inCalls
}

// checkGrammar compares what grammar tells of each rank: what is in an iteration of each loop, how often
// it goes round and, by the times of every call, how long it takes. From statistics the calls of a rank
// together take what the sums by function that the trace keeps of it allow, as they did.
func checkGrammar(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	var a struct{ Grammars []grammarTruth }
	decodeJSON(t, &a, "grammar", "--json", "--ranks", "all", path)
	if len(a.Grammars) != len(w.calls) {
		t.Fatalf("grammar: %d ranks", len(a.Grammars))
	}
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", "--by", "rank", "--series="+strconv.FormatBool(series), path)
	for rank, g := range a.Grammars {
		if g.Rank == nil || *g.Rank != rank || series != (g.Source == "series") || g.Source == "none" {
			t.Fatalf("grammar: rank %d: %v, %s", rank, g.Rank, g.Source)
		}
		walk := loopWalk{t: t, rules: g.Rules, calls: w.calls[rank], sums: make([]loopSum, len(g.Rules))}
		time, _ := walk.rule(len(g.Rules) - 1)
		time -= w.outsideRun(rank)
		for n, r := range g.Rules {
			checkRule(t, rank, n, r, walk.sums[n], float64(time), exact)
		}
		all := 0.0
		for _, f := range w.ranks[rank] {
			all += float64(f.time)
		}
		got := g.Rules[len(g.Rules)-1].InCalls
		low, high := all, all
		if !series {
			low, high = keptSums(t, path, rank)
		}
		off := float64(len(w.ranks[rank])) // of a unit for each function
		for _, f := range p.RankTimes[rank].Functions {
			if series {
				off += float64(f.Error)
			}
		}
		if g.Scaled == series || got < low-off || got > high+off || all < low || all > high {
			t.Errorf("grammar: rank %d: %.0f in calls, which took %.0f, not from %.0f to %.0f, scaled: %v",
				rank, got, all, low, high, g.Scaled)
		}
	}
}

// outsideRun returns how long a rank is in calls that begin or end the run, in ns.
func (w truth) outsideRun(rank int) (time int64) {
	for name, f := range w.ranks[rank] {
		if query.OutsideRun(name) {
			time += f.time
		}
	}
	return time
}

// keptSums returns between what the times lie that a trace keeps of the calls of a rank.
func keptSums(t *testing.T, path string, rank int) (low, high float64) {
	t.Helper()
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var times *layout.RankTimes
	if err := tr.ReadSection(layout.KindRankTimes, 0, func(content []byte) (err error) {
		times, err = layout.ParseRankTimes(content, len(tr.Functions()), tr.RankSet())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	of, ok := times.Find(rank)
	if !ok {
		t.Fatalf("no times of rank %d", rank)
	}
	for _, f := range of.Functions {
		low, high = low+float64(f.Sum.Low), high+float64(f.Sum.High)
	}
	return low, high
}

// checkRule compares a rule of a rank whose time without startup and shutdown is whole.
func checkRule(t *testing.T, rank, n int, r ruleTruth, want loopSum, whole float64, exact bool) {
	t.Helper()
	functions := make(map[string]uint64)
	for _, f := range r.Functions {
		functions[f.Function] = f.Calls
	}
	if r.Calls != want.calls || r.Iterations != want.iterations || !maps.Equal(functions, want.functions) {
		t.Errorf("grammar: rank %d, rule %d: %+v, not %+v", rank, n, r, want)
	}
	of := float64(want.iterations)
	if exact && (!near(r.Time, float64(want.time)/of, 0) || !near(r.InCalls, float64(want.inCalls)/of, 0) ||
		math.Abs(r.Share-min(1, float64(want.time)/whole)) > 1e-9) {
		t.Errorf("grammar: rank %d, rule %d of %d iterations: %.0f, %.0f in calls, %f; not %.0f, %.0f", rank,
			n, r.Iterations, r.Time, r.InCalls, r.Share, float64(want.time)/of, float64(want.inCalls)/of)
	}
}

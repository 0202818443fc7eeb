package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/query"
)

// A siteTruth is a row of imbalance.
type siteTruth struct {
	Function, Call string
	Ranks          int
	Calls          uint64
	Time           float64 `json:"time_ns"`
	TimeError      float64 `json:"time_error_ns"`
	Mean           float64 `json:"mean_ns"`
	Min            float64 `json:"min_ns"`
	Max            float64 `json:"max_ns"`
	Wait           float64 `json:"wait_ns"`
	WaitError      float64 `json:"wait_error_ns"`
	Exact          bool
	Fast           *rankMean `json:"fastest"`
	Slow           *rankMean `json:"slowest"`
}

type rankMean struct {
	Rank int
	Mean float64 `json:"mean_ns"`
}

// An imbalanceTruth is what imbalance prints.
type imbalanceTruth struct {
	Exact     bool
	Sites     []siteTruth `json:"signatures"`
	Functions []struct {
		Function  string
		Calls     uint64
		Ranks     int
		Time      float64  `json:"time_ns"`
		TimeError float64  `json:"time_error_ns"`
		Wait      float64  `json:"wait_ns"`
		WaitError float64  `json:"wait_error_ns"`
		Mean      float64  `json:"mean_ns"`
		Fast      rankMean `json:"fastest"`
		Slow      rankMean `json:"slowest"`
	}
	Slowest *struct {
		Rank    int
		Outside float64 `json:"outside_ns"`
		Mean    float64 `json:"mean_ns"`
		Error   float64 `json:"outside_error_ns"`
	} `json:"slowest_rank"`
	States *struct {
		Short   int `json:"short_waits"`
		Victims []victimTruth
	} `json:"wait_states"`
}

type victimTruth struct {
	Kind, Function, Site string
	Rank, Calls          int
	Wait                 float64 `json:"wait_ns"`
	WaitError            float64 `json:"wait_error_ns"`
}

// waitOf returns the time of calls beyond the mean of the fastest rank, by what each rank has.
func waitOf(ranks map[int]tally) (wait float64) {
	fast, all := math.Inf(1), tally{}
	for _, r := range ranks {
		fast, all = min(fast, float64(r.time)/float64(r.calls)),
			tally{calls: all.calls + r.calls, time: all.time + r.time}
	}
	return float64(all.time) - float64(all.calls)*fast
}

// checkImbalance compares what imbalance tells of waits.
func checkImbalance(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	var a imbalanceTruth
	decodeJSON(t, &a, "waits", "--json", "--all", path)
	if a.Exact != series {
		t.Errorf("imbalance: exact is %v", a.Exact)
	}
	checkFunctionWaits(t, a, w)
	checkSiteWaits(t, a, w, exact)
	checkLate(t, a, w, exact, series)
	checkSlowest(t, path, a, w)
}

// functionWait returns the wait time of a function.
func (w truth) functionWait(name string) float64 {
	ranks := make(map[int]tally)
	for rank, functions := range w.ranks {
		if of := functions[name]; of.calls > 0 {
			ranks[rank] = of
		}
	}
	return waitOf(ranks)
}

// checkFunctionWaits compares the wait time by function.
func checkFunctionWaits(t *testing.T, a imbalanceTruth, w truth) {
	t.Helper()
	if len(a.Functions) != len(w.functions) {
		t.Errorf("imbalance: %d functions, not %d", len(a.Functions), len(w.functions))
	}
	for _, f := range a.Functions {
		ranks := 0
		for _, functions := range w.ranks {
			if functions[f.Function].calls > 0 {
				ranks++
			}
		}
		all, wait := w.functions[f.Function], w.functionWait(f.Function)
		if f.Calls != all.calls || f.Ranks != ranks || !near(f.Time, float64(all.time), f.TimeError) ||
			!near(f.Mean, f.Time/float64(f.Calls), 0) || !near(f.Wait, wait, f.WaitError) {
			t.Errorf("imbalance: %+v, not %+v with %.0f of waiting", f, all, wait)
		}
	}
}

// siteOf returns the place in the program that the words of a call name.
func siteOf(call string) string {
	_, rest, _ := strings.Cut(call, `site="`)
	site, _, _ := strings.Cut(rest, `"`)
	return site
}

// checkSiteWaits compares the wait time of places: of their signatures together the calls, and of
// those with one signature the rest.
func checkSiteWaits(t *testing.T, a imbalanceTruth, w truth, exact bool) {
	t.Helper()
	rows := make(map[string][]siteTruth)
	for _, s := range a.Sites {
		rows[siteOf(s.Call)] = append(rows[siteOf(s.Call)], s)
	}
	if len(rows) != len(w.sites) {
		t.Errorf("imbalance: %d places, not %d", len(rows), len(w.sites))
	}
	single := 0
	for site, list := range rows {
		ranks, calls, time, off := make(map[int]tally), uint64(0), 0.0, 0.0
		for rank := range w.calls {
			for _, c := range w.calls[rank] {
				if c.called("site") == site {
					ranks[rank] = ranks[rank].with(c.Duration)
				}
			}
		}
		for _, s := range list {
			calls, time, off = calls+s.Calls, time+s.Time, off+s.TimeError
		}
		all, s := w.sites[site], list[0]
		if calls != all.calls || !near(time, float64(all.time), off) {
			t.Errorf("imbalance of %s: %d calls of %.0f, not %+v", site, calls, time, all)
		}
		if len(list) > 1 {
			continue
		}
		single++
		want := waitOf(ranks)
		if !s.Exact && len(ranks) > 1 {
			want = float64(all.time) - float64(all.calls)*float64(all.least)
		}
		if s.Ranks != len(ranks) || !near(s.Wait, want, s.WaitError) ||
			!near(s.Mean, float64(all.time)/float64(all.calls), s.TimeError/float64(s.Calls)) ||
			exact && (s.Min != float64(all.least) || s.Max != float64(all.most)) {
			t.Errorf("imbalance of %s: %+v, not %+v with %.0f of waiting", site, s, all, want)
		}
		for _, of := range []*rankMean{s.Fast, s.Slow} {
			if of != nil && exact && !near(of.Mean, float64(ranks[of.Rank].time)/float64(ranks[of.Rank].calls), 0) {
				t.Errorf("imbalance of %s: %+v, not %+v", site, *of, ranks[of.Rank])
			}
		}
	}
	if single < 4 {
		t.Errorf("%d places have one signature", single)
	}
}

// checkLate compares how long blocking receives wait for late senders: by place and rank.
func checkLate(t *testing.T, a imbalanceTruth, w truth, exact, series bool) {
	t.Helper()
	if (a.States != nil) != series {
		t.Fatalf("wait states %+v", a.States)
	} else if !series {
		return
	}
	type late struct {
		calls     int
		wait, off float64
	}
	place := func(rank int, site string) string { return fmt.Sprint(rank, " ", query.Frames(site)[0]) }
	want, got := make(map[string]late), make(map[string]late)
	pairs, _ := w.messagePairs(t)
	for _, p := range pairs {
		send, receive := p[0], p[1]
		if receive.Function != "MPI_Recv" || send.Rank == receive.Rank {
			continue
		}
		if wait := float64(min(send.Start-receive.Start, receive.Duration)); wait > 0 {
			k := place(receive.Rank, receive.called("site"))
			want[k] = late{want[k].calls + 1, want[k].wait + wait, 0}
		}
	}
	for _, v := range a.States.Victims {
		if v.Function == "MPI_Recv" && (v.Kind == "late sender" || v.Kind == "wrong order") {
			k := place(v.Rank, v.Site)
			got[k] = late{got[k].calls + v.Calls, got[k].wait + v.Wait, got[k].off + v.WaitError}
		}
	}
	for k, l := range want {
		if g := got[k]; exact && (g.calls != l.calls || !near(g.wait, l.wait, 1)) || g.calls > l.calls+a.States.Short {
			t.Errorf("late senders of %s: %+v, not %+v", k, g, l)
		}
	}
	if exact && len(got) != len(want) {
		t.Errorf("late senders %+v, not %+v", got, want)
	}
}

// checkSlowest compares which rank is outside calls longest, and how long.
func checkSlowest(t *testing.T, path string, a imbalanceTruth, w truth) {
	t.Helper()
	if a.Slowest == nil {
		t.Fatal("no slowest rank")
	}
	var p struct {
		Ranks []struct {
			Rank         int
			Outside      float64 `json:"outside_ns"`
			OutsideError float64 `json:"outside_error_ns"`
		} `json:"by_rank"`
	}
	decodeJSON(t, &p, "profile", "--json", "--by", "rank", path)
	mean, longest := 0.0, 0.0
	for rank, calls := range w.calls {
		outside := float64(calls[len(calls)-1].end() - calls[0].Start)
		for _, f := range w.ranks[rank] {
			outside -= float64(f.time)
		}
		mean, longest = mean+outside/float64(len(w.calls)), max(longest, outside)
		if got := p.Ranks[rank]; got.Rank != rank || !near(got.Outside, outside, got.OutsideError) {
			t.Errorf("rank %d is %.0f outside calls: %+v", rank, outside, got)
		}
	}
	if !near(a.Slowest.Outside, longest, a.Slowest.Error) || !near(a.Slowest.Mean, mean, a.Slowest.Error) {
		t.Errorf("slowest %+v, not %.0f where the mean is %.0f", *a.Slowest, longest, mean)
	}
}

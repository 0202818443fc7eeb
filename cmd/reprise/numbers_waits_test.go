package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// near reports whether a number is another, as far as it may be off, after rounding.
func near(got, want, off float64) bool { return math.Abs(got-want) <= off+0.5 }

// messagePairs returns the sends of a run with their receives: those of a channel in their order.
// Channels are sources, destinations, communicators and tags.
func (w truth) messagePairs(t *testing.T) (pairs [][2]*catCall, channels int) {
	t.Helper()
	sends, receives := make(map[string][]*catCall), make(map[string][]*catCall)
	for rank := range w.calls {
		for i := range w.calls[rank] {
			c := &w.calls[rank][i]
			switch c.Function {
			case "MPI_Send", "MPI_Isend":
				channel := fmt.Sprint(rank, c.number(t, "dest"), c.called("comm"), c.number(t, "tag"))
				sends[channel] = append(sends[channel], c)
			case "MPI_Recv", "MPI_Irecv":
				channel := fmt.Sprint(c.number(t, "source"), rank, c.called("comm"), c.number(t, "tag"))
				receives[channel] = append(receives[channel], c)
			}
		}
	}
	for channel, list := range sends {
		if len(list) != len(receives[channel]) {
			t.Fatalf("channel %s: %d sends, %d receives", channel, len(list), len(receives[channel]))
		}
		for i := range list {
			pairs = append(pairs, [2]*catCall{list[i], receives[channel][i]})
		}
	}
	return pairs, len(sends)
}

// collectives returns the collective operations by communicator, in their order: the call of
// each member.
func (w truth) collectives(t *testing.T) map[string][][]*catCall {
	t.Helper()
	all := make(map[string][][]*catCall)
	for rank := range w.calls {
		next := make(map[string]int)
		for i := range w.calls[rank] {
			c := &w.calls[rank][i]
			if !isCollective(c) {
				continue
			}
			name, _ := w.communicator(t, c)
			if next[name] == len(all[name]) {
				all[name] = append(all[name], nil)
			}
			all[name][next[name]] = append(all[name][next[name]], c)
			next[name]++
		}
	}
	return all
}

// A matchTruth is what match prints.
type matchTruth struct {
	Messages, Channels uint64
	Unmatched          []any
	Instances          []struct {
		Communicator string
		Instances    uint64
	} `json:"communicators"`
	Skews []skewTruth
}

type skewTruth struct {
	Communicator, Function string
	Root                   int
	Instances, Sampled     int
	Mean                   float64  `json:"mean_ns"`
	Median                 float64  `json:"median_ns"`
	Max                    float64  `json:"max_ns"`
	MaxInstance            int      `json:"max_instance"`
	MaxStraggler           int      `json:"max_straggler"`
	MaxPosition            uint64   `json:"max_position"`
	MaxStart               float64  `json:"max_start_ns"`
	RelativeError          float64  `json:"relative_error"`
	StartError             *float64 `json:"start_error_ns"`
	Straggler              int
	Share                  float64 `json:"straggler_share"`
}

// checkMatching compares what match tells: how much matches, and the skew of collective operations
// if the trace has the times of every call.
func checkMatching(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	var a matchTruth
	decodeJSON(t, &a, "match", "--json", path)
	pairs, channels := w.messagePairs(t)
	if a.Messages != uint64(len(pairs)) || a.Channels != uint64(channels) || len(a.Unmatched) > 0 {
		t.Errorf("match: %d messages on %d channels, %d unmatched; not %d on %d", a.Messages, a.Channels, len(a.Unmatched), len(pairs), channels)
	}
	operations, got := make(map[string]uint64), make(map[string]uint64)
	skewed := make(map[string][][]*catCall) // by function, root and communicator
	for name, list := range w.collectives(t) {
		operations[name] = uint64(len(list))
		for _, calls := range list {
			root := -1
			if calls[0].Function == "MPI_Bcast" {
				root = calls[0].number(t, "root")
			}
			key := fmt.Sprint(calls[0].Function, root, name)
			skewed[key] = append(skewed[key], calls)
		}
	}
	for _, i := range a.Instances {
		got[i.Communicator] = i.Instances
	}
	if !maps.Equal(got, operations) {
		t.Errorf("match: operations %v, not %v", got, operations)
	}
	if series != (len(a.Skews) > 0) || series && len(a.Skews) != len(skewed) {
		t.Errorf("match: %d skews, not %d", len(a.Skews), len(skewed))
	}
	for _, s := range a.Skews {
		switch {
		case s.StartError == nil || exact && *s.StartError > 0:
			t.Errorf("match: starts that are %v off", s.StartError)
		case exact:
			checkExactSkew(t, s, skewed[fmt.Sprint(s.Function, s.Root, s.Communicator)])
			fallthrough
		default:
			checkSkew(t, s, skewed[fmt.Sprint(s.Function, s.Root, s.Communicator)], *s.StartError)
		}
	}
}

// latest returns the call of those of an operation that begins last, of the lowest rank, and
// how much later than the first.
func latest(calls []*catCall) (last *catCall, width float64) {
	first := slices.MinFunc(calls, func(a, b *catCall) int { return cmp.Compare(a.Start, b.Start) })
	last = slices.MaxFunc(calls, func(a, b *catCall) int { return cmp.Compare(a.Start, b.Start) })
	return last, float64(last.Start - first.Start)
}

// checkSkew compares a skew with the starts of the calls of its operations, which may be off.
func checkSkew(t *testing.T, s skewTruth, operations [][]*catCall, off float64) {
	t.Helper()
	var widths []float64
	sum, found := 0.0, false
	for _, calls := range operations {
		last, width := latest(calls)
		widths, sum = append(widths, width), sum+width
		for _, c := range calls {
			if c.Rank == s.MaxStraggler && c.Position == s.MaxPosition {
				found = near(s.MaxStart, float64(c.Start), off) && float64(c.Start) >= float64(last.Start)-2*off && near(s.Max, width, 2*off)
			}
		}
	}
	slices.Sort(widths)
	n := len(widths)
	if s.Instances != n || s.Sampled != n || !near(s.Mean, sum/float64(n), 2*off) || !near(s.Median, widths[n/2], 2*off) || !near(s.Max, widths[n-1], 2*off) || !found {
		t.Errorf("skew %+v, of starts that are %.0f off; not %d with mean %.0f, median %.0f, max %.0f", s, off, n, sum/float64(n), widths[n/2], widths[n-1])
	}
}

// checkExactSkew compares the straggler of the largest skew, and who is last most often.
func checkExactSkew(t *testing.T, s skewTruth, operations [][]*catCall) {
	t.Helper()
	sum, most := 0.0, 0.0
	late := make(map[int]float64)
	for _, calls := range operations {
		last, width := latest(calls)
		sum, most = sum+width, max(most, width)
		late[last.Rank] += width
	}
	share := late[s.Straggler] / max(1, sum)
	for rank, of := range late {
		if of > late[s.Straggler] {
			t.Errorf("%s: rank %d is last more than rank %d", s.Function, rank, s.Straggler)
		}
	}
	if s.Max != most || math.Abs(share-s.Share) > 1e-9 {
		t.Errorf("skew %+v, not of at most %.0f, with a share of %f", s, most, share)
	}
}

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
	Late []lateTruth `json:"late_senders"`
}

type lateTruth struct {
	Call           string
	Receives, Late int
	Sampled        int
	Wait           float64  `json:"wait_ns"`
	StartError     *float64 `json:"start_error_ns"`
	RelativeError  float64  `json:"relative_error"`
	Sender         int
	Share          float64 `json:"sender_share"`
}

// waitOf returns the time of calls beyond the mean of the fastest rank, by what each rank has.
func waitOf(ranks map[int]tally) (wait float64) {
	fast, all := math.Inf(1), tally{}
	for _, r := range ranks {
		fast, all = min(fast, float64(r.time)/float64(r.calls)), tally{calls: all.calls + r.calls, time: all.time + r.time}
	}
	return float64(all.time) - float64(all.calls)*fast
}

// checkImbalance compares what imbalance tells of waits.
func checkImbalance(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	var a imbalanceTruth
	decodeJSON(t, &a, "imbalance", "--json", "--all", path)
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
		if f.Calls != all.calls || f.Ranks != ranks || !near(f.Time, float64(all.time), f.TimeError) || !near(f.Mean, f.Time/float64(f.Calls), 0) || !near(f.Wait, wait, f.WaitError) {
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
		if s.Ranks != len(ranks) || !near(s.Wait, want, s.WaitError) || !near(s.Mean, float64(all.time)/float64(all.calls), s.TimeError/float64(s.Calls)) || exact && (s.Min != float64(all.least) || s.Max != float64(all.most)) {
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

// checkLate compares how long blocking receives wait for late senders: by place.
func checkLate(t *testing.T, a imbalanceTruth, w truth, exact, series bool) {
	t.Helper()
	type late struct {
		receives, late int
		wait           float64
		bySender       map[int]float64
	}
	want := make(map[string]*late)
	pairs, _ := w.messagePairs(t)
	for _, p := range pairs {
		send, receive := p[0], p[1]
		if receive.Function != "MPI_Recv" {
			continue
		}
		l := want[receive.called("site")]
		if l == nil {
			l = &late{bySender: make(map[int]float64)}
			want[receive.called("site")] = l
		}
		l.receives++
		if wait := float64(min(send.Start-receive.Start, receive.Duration)); wait > 0 {
			l.late, l.wait = l.late+1, l.wait+wait
			l.bySender[send.Rank] += wait
		}
	}
	if !series {
		want = nil
	}
	if len(a.Late) != len(want) {
		t.Errorf("%d places wait for late senders, not %d", len(a.Late), len(want))
	}
	for _, s := range a.Late {
		l := want[siteOf(s.Call)]
		if l == nil || s.StartError == nil {
			t.Errorf("late senders: %+v", s)
			continue
		}
		off := float64(l.receives) * max(2**s.StartError, 0)
		if s.Receives != l.receives || s.Sampled != l.receives || !near(s.Wait, l.wait, off) {
			t.Errorf("late senders of %s: %+v, off by at most %.0f; not %+v", siteOf(s.Call), s, off, l)
		}
		if share := l.bySender[s.Sender] / max(1, l.wait); exact && (*s.StartError > 0 || s.Late != l.late || math.Abs(share-s.Share) > 1e-9) {
			t.Errorf("late senders of %s: %+v, not %+v, with a share of %f", siteOf(s.Call), s, l, share)
		}
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

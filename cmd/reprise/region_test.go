package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
)

// A heatCall is a call of examples/notebook/heat.rpz, as cat writes it.
type heatCall struct {
	catCall
	count  int
	site   string
	before int64 // end of the call before
}

// heatCalls returns what cat writes.
func heatCalls(t *testing.T, path string, options ...string) []heatCall {
	t.Helper()
	var list []heatCall
	d := json.NewDecoder(
		strings.NewReader(must(t, append([]string{"cat", path, "--json", "--ranks", "all"}, options...)...)))
	for d.More() {
		var c heatCall
		if err := d.Decode(&c.catCall); err != nil {
			t.Fatal(err)
		}
		c.site = c.called("site")
		if c.Function == "MPI_Isend" || c.Function == "MPI_Send" {
			c.value(t, "count", &c.count)
		}
		if n := len(list); n > 0 && list[n-1].Rank == c.Rank && list[n-1].Position+1 == c.Position {
			c.before = list[n-1].Start + list[n-1].Duration
		} else {
			c.before = c.Start
		}
		list = append(list, c)
	}
	return list
}

// answerTo sets to to what a command answers in JSON.
func answerTo(t *testing.T, to any, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, append(args, "--json")...)), to); err != nil {
		t.Fatal(err)
	}
}

// TestRegions compares the answers to each question about parts of a run with the calls that cat writes of all of it.
func TestRegions(t *testing.T) {
	path := filepath.Join("..", "..", "examples", "notebook", "heat.rpz")
	all := heatCalls(t, path)
	exchange := []string{"MPI_Irecv", "MPI_Isend", "MPI_Waitall"}
	of := func(functions ...string) func(c *heatCall) bool {
		return func(c *heatCall) bool { return slices.Contains(functions, c.Function) }
	}
	for _, tt := range []struct {
		options string
		in      func(c *heatCall) bool
	}{
		{"--phase 1", of(append(exchange, "MPI_Allreduce", "MPI_Send", "MPI_Recv")...)},
		{"--phase main", of(append(exchange, "MPI_Allreduce", "MPI_Send", "MPI_Recv")...)},
		{"--loop 1", of(append(exchange, "MPI_Allreduce")...)},
		{"--loop 2", of(exchange...)},
		{"--from 1s --to 1.25s", func(c *heatCall) bool {
			return c.Start < 1_250_000_000 && c.Start+c.Duration > 1_000_000_000
		}},
	} {
		t.Run(tt.options, func(t *testing.T) {
			options := strings.Fields(tt.options)
			var want []heatCall
			for i := range all {
				if tt.in(&all[i]) {
					want = append(want, all[i])
				}
			}
			same := func(a, b heatCall) bool {
				return a.Rank == b.Rank && a.Position == b.Position && a.Start == b.Start
			}
			if got := heatCalls(t, path, options...); !slices.EqualFunc(got, want, same) {
				t.Errorf("cat writes %d calls, not %d", len(got), len(want))
			}
			clip := func(from, to int64) float64 {
				if strings.HasPrefix(tt.options, "--from") {
					from, to = max(from, 1_000_000_000), min(to, 1_250_000_000)
				}
				return float64(max(0, to-from))
			}
			checkRegionProfile(t, path, options, want, clip)
			checkRegionMessages(t, path, options, want)
			checkRegionWaits(t, path, options, want, tt.in)
			checkRegionGrammar(t, path, options, want)
			checkRegionDiff(t, path, options, want)
			if !strings.HasPrefix(tt.options, "--from") {
				checkRegionEfficiency(t, path, options, all, want)
			}
		})
	}
}

// checkRegionProfile compares profiles.
func checkRegionProfile(t *testing.T, path string, options []string, want []heatCall,
	clip func(from, to int64) float64) {
	t.Helper()
	calls, times := make(map[string]uint64), make(map[string]float64)
	for _, c := range want {
		end := c.Start + c.Duration
		for _, key := range []string{c.Function, c.Function + " " + c.site, fmt.Sprint("rank ", c.Rank)} {
			calls[key]++
			times[key] += clip(c.Start, end)
		}
	}
	check := func(key string, n uint64, time float64) {
		t.Helper()
		if n != calls[key] || math.Abs(time-times[key]) > 1 {
			t.Errorf("profile: %s: %d calls, %v, not %d, %v", key, n, time, calls[key], times[key])
		}
		delete(calls, key)
	}
	for _, by := range []string{"function", "site", "rank"} {
		var a answer.Activity
		answerTo(t, &a, append([]string{"profile", path, "--by", by}, options...)...)
		for _, f := range a.Functions {
			check(f.Name, f.Calls, float64(f.Time))
		}
		for _, s := range a.Sites {
			check(s.Name+" "+s.Site, s.Calls, float64(s.Time))
		}
		for _, r := range a.Ranks {
			if r.Calls > 0 {
				check(fmt.Sprint("rank ", r.Rank), r.Calls, float64(r.Time))
			}
		}
	}
	if len(calls) > 0 {
		t.Errorf("profile: not found: %v", calls)
	}
}

// checkRegionMessages compares messages, matrix and match.
func checkRegionMessages(t *testing.T, path string, options []string, want []heatCall) {
	t.Helper()
	messages, bytes, reductions := uint64(0), uint64(0), uint64(0)
	for _, c := range want {
		switch c.Function {
		case "MPI_Isend", "MPI_Send":
			messages, bytes = messages+1, bytes+uint64(8*c.count)
		case "MPI_Allreduce":
			reductions++
		}
	}
	var a struct{ Messages, Bytes uint64 }
	answerTo(t, &a, append([]string{"messages", path}, options...)...)
	if a.Messages != messages || a.Bytes != bytes {
		t.Errorf("messages: %+v, not %d of %d bytes", a, messages, bytes)
	}
	rows, err := csv.NewReader(strings.NewReader(must(t, append([]string{"matrix", path, "-o", "-", "--format", "csv"},
		options...)...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sum := uint64(0)
	at := slices.Index(rows[0], "messages")
	for _, row := range rows[1:] {
		n, err := strconv.ParseUint(row[max(0, at)], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if at < 0 || sum != messages {
		t.Errorf("matrix: %d messages, not %d: %v", sum, messages, rows[0])
	}
	var m struct {
		Messages  uint64
		Unmatched []struct {
			Count     uint64
			Direction string
		}
		Instances []struct{ Count uint64 } `json:"instances"`
	}
	answerTo(t, &m, append([]string{"match", path}, options...)...)
	sent := m.Messages
	for _, u := range m.Unmatched {
		if u.Direction == "send" {
			sent += u.Count
		}
	}
	if sent != messages {
		t.Errorf("match: %d messages are sent, not %d", sent, messages)
	}
}

// checkRegionWaits compares waits with those of the run in the same calls.
func checkRegionWaits(t *testing.T, path string, options []string, want []heatCall, in func(c *heatCall) bool) {
	t.Helper()
	var whole, part answer.Waits
	answerTo(t, &whole, "waits", path)
	answerTo(t, &part, append([]string{"waits", path}, options...)...)
	if part.States == nil {
		t.Fatalf("waits: %s", part.Unknown)
	}
	calls, sites := uint64(0), uint64(0)
	for _, s := range part.Sites {
		calls += s.Calls
	}
	if calls != uint64(len(want)) {
		t.Errorf("waits: %d calls by signature, not %d", calls, len(want))
	}
	for _, v := range part.States.Victims {
		sites += v.Calls
		if !in(&heatCall{catCall: catCall{Function: v.Function, Start: 1_100_000_000, Duration: 1}}) {
			t.Errorf("waits: %+v", v)
		}
	}
	if strings.HasPrefix(options[0], "--from") {
		if sites == 0 || sites >= whole.States.Waits {
			t.Errorf("waits: %d calls wait, of %d in the run", sites, whole.States.Waits)
		}
		return
	}
	sum := 0.0
	for _, v := range whole.States.Victims {
		if in(&heatCall{catCall: catCall{Function: v.Function}}) {
			sum += float64(v.Wait)
		}
	}
	if math.Abs(float64(part.States.Wait)-sum) > 1 {
		t.Errorf("waits: %v, not %v", part.States.Wait, sum)
	}
}

// checkRegionGrammar compares the loops of each rank.
func checkRegionGrammar(t *testing.T, path string, options []string, want []heatCall) {
	t.Helper()
	calls, times := make(map[int]uint64), make(map[int]float64)
	for _, c := range want {
		calls[c.Rank]++
		times[c.Rank] += float64(c.Start + c.Duration - c.before)
	}
	var a struct {
		Grammars []struct {
			Rank  int
			Rules []struct {
				Calls uint64
				Time  float64 `json:"iteration_ns"`
			}
		}
	}
	answerTo(t, &a, append([]string{"grammar", path, "--ranks", "0-3"}, options...)...)
	for _, g := range a.Grammars {
		last := g.Rules[len(g.Rules)-1]
		if last.Calls != calls[g.Rank] || math.Abs(last.Time-times[g.Rank]) > 1 {
			t.Errorf("grammar: rank %d: %+v, not %d calls, %v", g.Rank, last, calls[g.Rank], times[g.Rank])
		}
	}
	var p struct{ Programs []struct{ Calls uint64 } }
	answerTo(t, &p, append([]string{"grammar", path, "--together"}, options...)...)
	if len(p.Programs) != 1 || p.Programs[0].Calls != uint64(len(want)) {
		t.Errorf("grammar --together: %+v, not %d calls", p, len(want))
	}
}

// checkRegionEfficiency compares how long ranks compute: between the calls.
func checkRegionEfficiency(t *testing.T, path string, options []string, all, want []heatCall) {
	t.Helper()
	begin := int64(0) // of the run
	for _, c := range all {
		if c.Function == "MPI_Init" {
			begin = max(begin, c.Start+c.Duration)
		}
	}
	computing := make([]float64, 4)
	for _, c := range want {
		computing[c.Rank] += float64(max(0, c.Start-max(c.before, begin)))
	}
	var a answer.Efficiency
	answerTo(t, &a, append([]string{"efficiency", path}, options...)...)
	e := a.Traces[0].Run
	if len(a.Traces) != 1 || math.Abs(float64(e.Max)-slices.Max(computing)) > 1000 ||
		math.Abs(float64(e.Total)-computing[0]-computing[1]-computing[2]-computing[3]) > 4000 {
		t.Errorf("efficiency: %v and %v of computing, not %v", e.Max, e.Total, computing)
	}
}

// checkRegionDiff compares a part with the same.
func checkRegionDiff(t *testing.T, path string, options []string, want []heatCall) {
	t.Helper()
	var d answer.Diff
	answerTo(t, &d, append([]string{"diff", path, path}, options...)...)
	if !d.Same || d.A.Calls != uint64(len(want)) || d.B.Calls != uint64(len(want)) || len(d.Regions) != 2 {
		t.Errorf("diff compares %d and %d calls, not %d: %+v", d.A.Calls, d.B.Calls, len(want), d)
	}
}

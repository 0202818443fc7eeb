package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/query"
)

// A tally is what an independent sum over the calls of a run has of some of them.
type tally struct {
	calls       uint64
	time        int64
	least, most int64
}

// with returns the tally with one more call.
func (t tally) with(duration int64) tally {
	if t.calls == 0 {
		t.least = duration
	}
	return tally{t.calls + 1, t.time + duration, min(t.least, duration), max(t.most, duration)}
}

// A catCall is a call as cat prints it as JSON.
type catCall struct {
	Rank     int
	Position uint64
	Function string
	Start    int64 `json:"start_ns"`
	Duration int64 `json:"duration_ns"`
	Args     []struct {
		Name, Called string
		Value        json.RawMessage
	}
}

// called returns what an argument is called.
func (c *catCall) called(name string) string {
	for _, a := range c.Args {
		if a.Name == name {
			return a.Called
		}
	}
	return ""
}

// value reads an argument.
func (c *catCall) value(t *testing.T, name string, into any) {
	t.Helper()
	for _, a := range c.Args {
		if a.Name == name {
			if err := json.Unmarshal(a.Value, into); err != nil {
				t.Fatalf("%s of %s: %v", name, c.Function, err)
			}
			return
		}
	}
	t.Fatalf("%s has no %s", c.Function, name)
}

// number returns an argument that is a number.
func (c *catCall) number(t *testing.T, name string) (n int) {
	t.Helper()
	c.value(t, name, &n)
	return n
}

func (c *catCall) end() int64 { return c.Start + c.Duration }

// A truth is what a run did, call by call, as cat tells it: by function, by place, and by rank
// and function; and the calls by rank.
type truth struct {
	functions, sites map[string]tally
	ranks            map[int]map[string]tally
	calls            [][]catCall
}

// catCalls returns the calls that cat prints.
func catCalls(t *testing.T, path string) (calls []catCall) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(must(t, "cat", path, "--json", "--ranks", "all")), "\n") {
		var call catCall
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	return calls
}

// truthOf adds up the calls that cat prints of a trace with exact times.
func truthOf(t *testing.T, path string) truth {
	t.Helper()
	all := truth{functions: make(map[string]tally), sites: make(map[string]tally),
		ranks: make(map[int]map[string]tally)}
	for _, call := range catCalls(t, path) {
		if all.ranks[call.Rank] == nil {
			all.ranks[call.Rank] = make(map[string]tally)
			all.calls = append(all.calls, nil)
		}
		all.calls[call.Rank] = append(all.calls[call.Rank], call)
		all.functions[call.Function] = all.functions[call.Function].with(call.Duration)
		all.ranks[call.Rank][call.Function] = all.ranks[call.Rank][call.Function].with(call.Duration)
		all.sites[call.called("site")] = all.sites[call.called("site")].with(call.Duration)
	}
	return all
}

// TestNumbers records programs once and makes traces of them with each kind of times. What
// commands, tables and the page tell is compared with what the calls are, one by one: it is
// equal where times are exact, and else as close as is said.
func TestNumbers(t *testing.T) {
	m := theMPI(t)
	t.Run("slow", func(t *testing.T) { testNumbers(t, m, "slow.c", "2") })
	t.Run("numbers", func(t *testing.T) { testNumbers(t, m, "numbers.c", "30", t.TempDir()) })
}

func testNumbers(t *testing.T, m *mpitest.MPI, source string, args ...string) {
	dir := t.TempDir()
	raw := filepath.Join(dir, "raw")
	path := func(times string) string { return filepath.Join(dir, times+".rpz") }
	line := m.Launch(4, m.Build(t, source), args...)
	if err := os.Mkdir(raw, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := outcome(t, recorder(t, m, []string{"-o", path("exact"), "--times", "exact", "--keep-raw", raw},
		line...)); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	want := truthOf(t, path("exact"))
	for _, times := range []string{"exact", "all", "entropy", "histograms", "paths", "statistics"} {
		t.Run(times, func(t *testing.T) {
			if times != "exact" {
				if r := invoke(t, "", "collect", raw, "--times", times, "-o", path(times)); r.status != cli.ExitOK {
					t.Fatalf("%+v", r)
				}
			}
			exact := times == "exact" || times == "all" // which are exact in short runs
			checkAll(t, path(times), want, exact, exact || times == "entropy")
		})
	}
}

// checkAll compares what a trace tells that has the times of every call, or not.
func checkAll(t *testing.T, path string, want truth, exact, series bool) {
	t.Helper()
	checkFunctions(t, path, want, exact)
	checkSites(t, path, want, exact)
	checkRanks(t, path, want, exact)
	checkSums(t, path, want, exact)
	checkPage(t, path, want, exact)
	checkTraffic(t, path, want)
	checkMatrix(t, path, want)
	checkMatching(t, path, want, exact, series)
	checkImbalance(t, path, want, exact, series)
	checkAt(t, path, want, exact, series)
	checkCalls(t, path, want, series)
	checkWindow(t, path, want, exact, series)
	checkGrammar(t, path, want, exact, series)
	checkSections(t, path, want, exact, series)
}

// checkFunctions compares what profile tells.
func checkFunctions(t *testing.T, path string, want truth, exact bool) {
	t.Helper()
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", path)
	if len(p.Functions) != len(want.functions) {
		t.Errorf("%d functions, not %d", len(p.Functions), len(want.functions))
	}
	for _, f := range p.Functions {
		sum, err := strconv.ParseInt(string(f.Time.Sum), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		w := want.functions[f.Name]
		if off := math.Abs(float64(sum - w.time)); f.Calls != w.calls || off > float64(f.Time.Error) ||
			exact && off > 0 {
			t.Errorf("%s: %d calls of %d ns, off by %.0f with an error of %.0f; %d calls of %d ns", f.Name,
				f.Calls, sum, off, float64(f.Time.Error), w.calls, w.time)
		}
	}
}

// checkSites compares what profile --by site tells.
func checkSites(t *testing.T, path string, want truth, exact bool) {
	t.Helper()
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", "--by", "site", path)
	if len(p.Sites) != len(want.sites) || len(p.Sites) == 0 {
		t.Errorf("%d places, not %d", len(p.Sites), len(want.sites))
	}
	for _, s := range p.Sites {
		w := want.sites[s.Site]
		sum, err := strconv.ParseInt(string(s.Time.Sum), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		off := math.Abs(float64(sum - w.time))
		if s.Calls != w.calls || off > float64(s.Time.Error) ||
			exact && (off > 0 || s.Time.Min != w.least || s.Time.Max != w.most) {
			t.Errorf("%s: %+v, not %+v", s.Site, s.Time, w)
		}
	}
}

// checkSums compares sums over all that profile --by signature, imbalance and info tell.
func checkSums(t *testing.T, path string, want truth, exact bool) {
	t.Helper()
	all := tally{}
	for name, f := range want.functions {
		if all.calls += f.calls; !query.OutsideRun(name) {
			all.time += f.time
		}
	}
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", "--by", "signature", path)
	bySignature, errors := make(map[string]tally), make(map[string]float64)
	for _, s := range p.Signatures {
		sum, err := strconv.ParseInt(string(s.Time.Sum), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := bySignature[s.Function]
		bySignature[s.Function] = tally{calls: f.calls + s.Calls, time: f.time + sum}
		errors[s.Function] += float64(s.Time.Error)
	}
	for name, f := range want.functions {
		got := bySignature[name]
		if off := math.Abs(float64(got.time - f.time)); got.calls != f.calls || off > errors[name] || exact && off > 0 {
			t.Errorf("the signatures of %s: %+v, not %+v, with an error of %.0f", name, got, f, errors[name])
		}
	}
	var i answer.Waits
	decodeJSON(t, &i, "waits", "--json", "--all", path)
	calls, total := uint64(0), 0.0
	for _, s := range i.Sites {
		calls, total = calls+s.Calls, total+float64(s.Error)
	}
	if off := math.Abs(float64(i.Total) - float64(all.time)); calls != all.calls || off > total+0.5 {
		t.Errorf("imbalance: %d calls of %.0f ns, not %+v", calls, float64(i.Total), all)
	}
	var info struct{ Calls uint64 }
	decodeJSON(t, &info, "info", "--json", path)
	if info.Calls != all.calls || p.Calls != all.calls {
		t.Errorf("%d and %d calls, not %d", info.Calls, p.Calls, all.calls)
	}
}

// checkRanks compares what profile --by rank tells.
func checkRanks(t *testing.T, path string, want truth, exact bool) {
	t.Helper()
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", "--by", "rank", path)
	if len(p.RankTimes) != len(want.ranks) {
		t.Fatalf("%d ranks, not %d", len(p.RankTimes), len(want.ranks))
	}
	for _, r := range p.RankTimes {
		for _, f := range r.Functions {
			w := want.ranks[r.Rank][f.Name]
			if off := math.Abs(float64(f.Time) - float64(w.time)); f.Calls != w.calls ||
				off > float64(f.Error)+0.5 || exact && off > 0.5 {
				t.Errorf("rank %d, %s: %d calls of %.0f ns, off by %.0f with an error of %.0f", r.Rank,
					f.Name, f.Calls, float64(f.Time), off, float64(f.Error))
			}
		}
	}
}

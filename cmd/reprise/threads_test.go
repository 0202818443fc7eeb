//go:build linux

package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/query"
)

// TestRecordThreads records threads whose calls overlap: no rank waits for longer than its calls
// take, also if these take longer than the run, and answers say that they may.
func TestRecordThreads(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		trace := filepath.Join(t.TempDir(), "run.rpz")
		if got := outcome(t, recorder(t, m, []string{"-q", "-o", trace},
			m.Launch(2, m.Build(t, "threads.c"))...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		var p answer.Profile
		var i answer.Waits
		for args, into := range map[string]any{"profile --by rank": &p, "waits": &i} {
			args := append(strings.Fields(args), trace)
			if text := must(t, args...); !strings.Contains(strings.Join(strings.Fields(text), " "),
				answer.OverlapNote) {
				t.Errorf("%s does not say that calls overlap:\n%s", args, text)
			}
			if err := json.Unmarshal([]byte(must(t, append(args, "--json")...)), into); err != nil {
				t.Fatal(err)
			}
		}
		if text := must(t, "grammar", trace, "--ranks",
			"0"); !strings.Contains(strings.Join(strings.Fields(text), " "), show.AddedNote) {
			t.Errorf("grammar does not say that times of threads are added up:\n%s", text)
		}
		ofRanks, off := query.Nanoseconds(0), query.Nanoseconds(1)
		for _, r := range p.RankTimes {
			sum := query.Nanoseconds(0)
			for _, f := range r.Functions {
				if !query.OutsideRun(f.Name) {
					sum += f.Time
				}
			}
			// In MPI_Finalize, a rank may wait for the others up to the end of the run.
			if sum-r.Time > r.Error+1 || r.Time-sum-r.Shutdown > r.Error+1 {
				t.Errorf("rank %d: calls take %v, and those of each function %v, at most %v off", r.Rank,
					r.Time, sum, r.Error)
			}
			ofRanks, off = ofRanks+sum, off+r.Error
		}
		// the time of all calls is that of their signatures where that is nearer
		ofFunctions, apart := query.Nanoseconds(0), i.Error+1
		for _, f := range i.Functions {
			if f.Wait < 0 || f.Wait > f.Time {
				t.Errorf("of %v in %s, ranks wait for %v", f.Time, f.Name, f.Wait)
			}
			if !query.OutsideRun(f.Name) {
				ofFunctions, off, apart = ofFunctions+f.Time, off+f.Error, apart+f.Error
			}
		}
		if len(p.RankTimes) != 2 || len(i.Functions) == 0 ||
			max(ofRanks-ofFunctions, ofFunctions-ofRanks) > off ||
			max(i.Total-ofFunctions, ofFunctions-i.Total) > apart {
			t.Errorf("%d ranks are %v in calls, by function %v, of %v", len(p.RankTimes), ofRanks, ofFunctions, i.Total)
		}
	})
}

// TestRecordThreadTimes records the times of every call of threads: they are within their error.
func TestRecordThreadTimes(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		dir := t.TempDir()
		trace, raw := filepath.Join(dir, "run.rpz"), filepath.Join(dir, "raw")
		if got := outcome(t, recorder(t, m, []string{"-q", "--times", "all", "--keep-raw", raw, "-o", trace},
			m.Launch(2, m.Build(t, "threads.c"))...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		exact := filepath.Join(dir, "exact.rpz")
		must(t, "collect", raw, "--times", "exact", "-q", "-o", exact)
		want := strings.Split(must(t, "cat", exact, "--json"), "\n")
		for i, line := range strings.Split(must(t, "cat", trace, "--json"), "\n") {
			var got, of struct {
				Duration float64 `json:"duration_ns"`
			}
			if line == "" {
				continue
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(want[i]), &of); err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Duration-of.Duration) > 0.1*of.Duration+1 {
				t.Fatalf("%s\nwant %s", line, want[i])
			}
		}
	})
}

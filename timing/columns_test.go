package timing

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/internal/test/recorded"
)

// A realRank holds the calls of one rank of a recorded run.
type realRank struct {
	run       string // as in "lu.W.8"
	rank      string // as in "rank-00000"
	terminals []uint32
	starts    []int64
	durations []int64
	recorded  *recorded.Rank
}

// realRanks returns the ranks of the recorded runs, in the order of runs and
// ranks, and skips the test where the runs are missing.
func realRanks(t testing.TB) []*realRank {
	t.Helper()
	tier.Long(t, "reads all columns of real times")
	if raceEnabled {
		t.Skip("one goroutine reads millions of values: there is nothing for the race detector to find")
	}
	return realRanksOf(recorded.Ranks(t))
}

// shippedRanks returns those of parts of the runs that the project has itself.
func shippedRanks(b *testing.B) []*realRank { return realRanksOf(recorded.Shipped(b)) }

func realRanksOf(all []*recorded.Rank) []*realRank {
	var ranks []*realRank
	for _, r := range all {
		ranks = append(ranks, &realRank{r.Run, r.Rank, r.Terminals, r.Starts, r.Durations, r})
	}
	return ranks
}

// shippedRank returns the rank of the part of a run that the project has itself.
func shippedRank(b *testing.B, run string) *realRank {
	for _, r := range shippedRanks(b) {
		if r.run == run {
			return r
		}
	}
	b.Fatal("no part of a run " + run)
	return nil
}

// column is one column of a rank by name: duration, gap or interval.
func (r *realRank) column(name string) []int64 {
	switch name {
	case "duration":
		return r.durations
	case "gap":
		return r.recorded.Gaps()
	case "interval":
		return r.recorded.Intervals()
	}
	panic("no column " + name)
}

// TestRealRanks checks that the runs are as long as their description says.
func TestRealRanks(t *testing.T) {
	want := map[string]int{"lu.W.8": 391_743, "cg.W.8": 70_712, "mg.W.8": 15_832, "is.W.8": 341, "hpcc.4": 400_000}
	got := make(map[string]int)
	for _, r := range realRanks(t) {
		if len(r.terminals) != len(r.starts) || len(r.starts) != len(r.durations) {
			t.Errorf("%s %s: columns of %d, %d and %d", r.run, r.rank, len(r.terminals), len(r.starts),
				len(r.durations))
		}
		got[r.run] += len(r.starts)
	}
	for run, n := range want {
		if got[run] != n {
			t.Errorf("%s: %d calls, want %d", run, got[run], n)
		}
	}
}

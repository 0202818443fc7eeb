package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/mpitest"
)

// TestRecordSlow records a program with a slow rank, with the options that there are by default
// and with histograms, and looks for it: profile, imbalance and the clocks of ranks tell it apart.
func TestRecordSlow(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		mpitest.SkipUnderRace(t)
		for slow, times := range []string{"statistics", "histograms", "none"} {
			trace := filepath.Join(t.TempDir(), "run.rpz")
			line := m.Launch(3, m.Build(t, "slow.c"), fmt.Sprint(slow))
			if got := outcome(t, recorder(t, m, []string{"-o", trace, "--times", times}, line...)); got.status != 0 {
				t.Fatalf("%+v", got)
			}
			if times == "none" {
				if r := invoke(t, "", "imbalance", trace); r.status == exitOK {
					t.Errorf("%+v", r)
				}
				continue
			}
			checkSlow(t, trace, slow)
		}
	})
}

func checkSlow(t *testing.T, trace string, slow int) {
	t.Helper()
	var p profileAnswer
	decodeJSON(t, &p, "profile", "--json", "--by", "rank", trace)
	if len(p.RankTimes) != 3 {
		t.Fatalf("%+v", p.RankTimes)
	}
	for _, r := range p.RankTimes {
		if r.Calls != 28 || (r.Outside > 400e6) != (r.Rank == slow) || r.OutsideError > r.Outside/1000 || r.Error > r.Time/100 || len(r.Functions) != 4 {
			t.Errorf("rank %d: %+v", slow, r)
		}
	}
	var i imbalanceAnswer
	decodeJSON(t, &i, "imbalance", "--json", trace)
	if i.Slowest == nil || i.Slowest.Rank != slow || i.Slowest.Outside != p.RankTimes[slow].Outside {
		t.Errorf("rank %d: %+v", slow, i.Slowest)
	}
	wait := i.Functions[0]
	if wait.Name != "MPI_Allreduce" || wait.Fast.Rank != slow || wait.Ranks != 3 || wait.Wait < 600e6 || wait.Wait > wait.Time || wait.WaitError > wait.Wait/50 {
		t.Errorf("rank %d: %+v", slow, wait)
	}
	if text := must(t, "imbalance", trace); !strings.Contains(text, fmt.Sprintf("\nrank %d is the slowest: ", slow)) {
		t.Error(text)
	}
	var whole activityAnswer
	decodeJSON(t, &whole, "profile", "--json", "--by", "rank", "--from", "0", trace)
	for k, r := range whole.Ranks {
		if kept := p.RankTimes[k]; r.Rank != kept.Rank || r.Time < kept.Time*0.99 || r.Time > kept.Time*1.01 || r.Span < kept.Span*0.99 || r.Span > kept.Span*1.01 {
			t.Errorf("the clock of rank %d: %+v, want %+v", r.Rank, r, kept)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestRecordSlow records a program with a slow rank, with the options that there are by default
// and with histograms, and looks for it: profile, imbalance and the clocks of ranks tell it apart.
func TestRecordSlow(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		mpitest.SkipUnderRace(t)
		for slow, times := range []string{"statistics", "histograms", "none"} {
			trace := filepath.Join(t.TempDir(), "run.rpz")
			line := m.Launch(3, m.Build(t, "slow.c"), fmt.Sprint(slow))
			got := outcome(t, recorder(t, m, []string{"-o", trace, "--times", times}, line...))
			if got.status != 0 {
				t.Fatalf("%+v", got)
			}
			summary := regexp.MustCompile(fmt.Sprintf(`(?m)^reprise: ran .* in MPI
reprise: besides, startup took .* and shutdown .*
reprise: parallel efficiency [34].* %%: load balance [34].* %%, communication [0-9.]+ %%
reprise: rank %d computes longest, .*, mean .*; .* of it before
reprise:   MPI_Allreduce slow.c:15
reprise: next: reprise report .*run.rpz -o .*run.html$`, slow))
			if summary.MatchString(got.stderr) != (times != "none") || strings.Count(got.stderr, "\n") > 12 {
				t.Errorf("the summary is\n%s", got.stderr)
			}
			if times == "none" {
				if r := invoke(t, "", "waits", trace); r.status == cli.ExitOK {
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
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", "--by", "rank", trace)
	if len(p.RankTimes) != 3 {
		t.Fatalf("%+v", p.RankTimes)
	}
	for _, r := range p.RankTimes {
		if r.Calls != 28 || (r.Outside > 400e6) != (r.Rank == slow) || r.OutsideError > r.Outside/1000 ||
			r.Error > r.Span/200 || len(r.Functions) != 4 {
			t.Errorf("rank %d: %+v", slow, r)
		}
	}
	var i answer.Waits
	decodeJSON(t, &i, "waits", "--json", trace)
	if i.Slowest == nil || i.Slowest.Rank != slow || i.Slowest.Outside != p.RankTimes[slow].Outside {
		t.Errorf("rank %d: %+v", slow, i.Slowest)
	}
	wait := i.Functions[0]
	if wait.Name != "MPI_Allreduce" || wait.Fast.Rank != slow || wait.Ranks != 3 || wait.Wait < 600e6 ||
		wait.Wait > wait.Time || wait.WaitError > wait.Wait/50 {
		t.Errorf("rank %d: %+v", slow, wait)
	}
	if text := must(t, "waits", trace); !strings.Contains(text, fmt.Sprintf("\nrank %d is the slowest: ", slow)) {
		t.Error(text)
	}
	var whole answer.Activity
	decodeJSON(t, &whole, "profile", "--json", "--by", "rank", "--from", "0", trace)
	for k, r := range whole.Ranks {
		kept := p.RankTimes[k]
		time := query.Nanoseconds(0) // with that of MPI_Init and MPI_Finalize
		for _, f := range kept.Functions {
			time += f.Time
		}
		if span := time + kept.Outside; r.Rank != kept.Rank || r.Time < time*0.99 || r.Time > time*1.01 ||
			r.Span < span*0.99 || r.Span > span*1.01 {
			t.Errorf("the clock of rank %d: %+v, want %+v", r.Rank, r, kept)
		}
	}
}

// TestSummaryUnknown checks that JSON leaves out what is not known of a run whose parts were merged.
func TestSummaryUnknown(t *testing.T) {
	var merged, one bytes.Buffer
	if err := (&record.Summary{Parts: 4}).Print(&merged, true, false); err != nil {
		t.Fatal(err)
	}
	s := new(record.Summary)
	s.Fill(collect.Summary{})
	s.Collector = new(time.Duration)
	if err := s.Print(&one, true, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"raw_bytes", "overhead", "collector_cpu_ns"} {
		if strings.Contains(merged.String(), name) || !strings.Contains(one.String(), `"`+name+`": 0`) {
			t.Errorf("%s:\n%s%s", name, &merged, &one)
		}
	}
}

// TestSummaryAborted checks that the status of a run that MPI_Abort ended is not said to be a signal.
func TestSummaryAborted(t *testing.T) {
	var b strings.Builder
	s := record.Summary{Status: 7, Parts: 1, Unfinished: rankenc.SetOf(0, 1),
		Run: &diagnosis.Diagnosis{Early: rankenc.SetOf(0, 1), Aborted: rankenc.SetOf(1)}}
	if err := s.Print(&b, false, false); err != nil {
		t.Fatal(err)
	}
	if want := "ended with status 7, after rank 1 called MPI_Abort\n"; !strings.Contains(b.String(), want) {
		t.Error(b.String())
	}
}

// TestSummaryFinalizing checks that ranks that wait in MPI_Finalize are not said not to have reached it.
func TestSummaryFinalizing(t *testing.T) {
	for want, run := range map[string]*diagnosis.Diagnosis{
		"rank 1 did not reach MPI_Finalize\n":    {Early: rankenc.SetOf(1)},
		"ranks 0-1 did not reach MPI_Finalize\n": nil,
	} {
		var b strings.Builder
		s := record.Summary{Parts: 1, Unfinished: rankenc.SetOf(0, 1), Run: run}
		if err := s.Print(&b, false, false); err != nil || !strings.Contains(b.String(), "ends early: "+want) {
			t.Errorf("%s, %v, want %s", b.String(), err, want)
		}
	}
}

// TestSummaryWidth prints what is told at the end of a recording, in lines of 80 columns.
func TestSummaryWidth(t *testing.T) {
	raw, overhead, used := int64(123_456_789_012), 0.1234, 123*time.Second
	s := record.Summary{
		Output: "stencil.rpz", Processes: 1024, Calls: 123_456_789, Bytes: 123_456, Raw: &raw, Overhead: &overhead,
		Collector: &used, After: 12 * time.Second,
		Run: &diagnosis.Diagnosis{
			RunTimes: query.RunTimes{Run: 1.234e12, Startup: 1.23e9, Shutdown: 4.56e9}, Ranks: 1024,
			Share:   &query.CallShare{Min: 0.1234, Mean: 0.4567, Max: 0.7891, MinRank: 1001, MaxRank: 1002},
			Factors: &diagnosis.Factors{Parallel: 0.543, LoadBalance: 0.821, Communication: 0.661},
			Slowest: &diagnosis.Slowest{SlowRank: query.SlowRank{Rank: 1001, Outside: 1.23e12, Mean: 1.01e12},
				Time: 1.2e12, From: &waits.Site{Function: "MPI_Wait"},
				To: &waits.Site{Function: "MPI_Allreduce", Place: "a_long_name_of_a_file.f90:1234 a_subroutine_"}},
		},
	}
	var b strings.Builder
	if err := s.Print(&b, false, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 && !strings.Contains(line, s.Output) { // which may be of any length
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if len(lines) > 12 ||
		!strings.HasSuffix(b.String(), "\nreprise: next: reprise report stencil.rpz -o stencil.html\n") {
		t.Error(b.String())
	}
	s.Unfinished = rankenc.SetOf(0, 1)
	b.Reset()
	if err := s.Print(&b, false, false); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got,
		"reprise: the trace ends early: ranks 0-1 did not reach MPI_Finalize\nreprise: stencil.rpz: ") ||
		!strings.HasSuffix(got,
			"\nreprise: ran 1,234 s, 45.7 % in MPI\nreprise: besides, startup took 1.23 s and shutdown 4.56 s\n"+
				"reprise: next: reprise hang stencil.rpz\n") || strings.Contains(got, "efficiency") {
		t.Error(got)
	}
	for word, want := range map[string]string{"a.rpz": "a.rpz", "it's": `'it'\''s'`, "a b": "'a b'", "": "''"} {
		if got := cli.Quoted(word); got != want {
			t.Errorf("%q is quoted as %s", word, got)
		}
	}
}

// TestBuilding looks at what is told while the library that records is built.
func TestBuilding(t *testing.T) {
	var out bytes.Buffer
	b := launching.Building{Stderr: &out}
	b.Begin("MPICH 4.0.2")
	b.End()
	if got, want := out.String(),
		"reprise: building the recorder for MPICH 4.0.2, which is kept for the next time\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	out.Reset()
	b.Stop = make(chan struct{})
	b.Lines.Go(func() { b.Show("building", time.Millisecond) })
	time.Sleep(20 * time.Millisecond)
	b.End()
	if got := out.String(); !strings.HasPrefix(got, "\rbuilding … 0 s\rbuilding … 0 s") ||
		!strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q", got)
	}
}

// TestNextWait checks how long the collector waits: as little as it may where much comes, soon as long as it
// may where nothing does, and in between for an amount that is worth a look.
func TestNextWait(t *testing.T) {
	if got := record.NextWait(record.Idle, 100*record.Worth); got != record.Busy {
		t.Errorf("much comes: %v", got)
	}
	wait := record.Busy
	for range 5 {
		wait = record.NextWait(wait, 0)
	}
	if wait != record.Idle || record.NextWait(record.Idle, 0) != record.Idle ||
		record.NextWait(record.Busy, 3*record.Worth) != record.Busy {
		t.Errorf("nothing comes: %v", wait)
	}
	for _, start := range []time.Duration{record.Busy, record.Idle} {
		wait := start
		for range 20 {
			wait = record.NextWait(wait, int64(wait/time.Millisecond)*record.Worth/8) // bytes come at a constant rate
		}
		if wait < 6*time.Millisecond || wait > 17*time.Millisecond {
			t.Errorf("from %v on: %v", start, wait)
		}
	}
}

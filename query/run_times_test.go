package query

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// TestRunTimes checks the times of a run of two ranks, by what is kept of them, and without times.
func TestRunTimes(t *testing.T) {
	f, ms := testtrace.Function("f"), int64(1e6)
	ranks := [][]testtrace.Call{
		{{Function: f, Start: 100 * ms, Duration: 50 * ms}, {Function: f, Start: 200 * ms, Duration: 10 * ms}},
		{{Function: f, Start: 130 * ms, Duration: 30 * ms}, {Function: f, Start: 400 * ms, Duration: 100 * ms}},
	}
	got, err := ComparedTimesOf(t.Context(), testtrace.Record(t, merge.Run{}, true, ranks))
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b Nanoseconds) bool { return a > b*0.99 && a < b*1.01 } // sums that are kept are rounded
	if got == nil || !near(got.Run, 400e6) || !near(got.Outside, (50+240)*1e6) {
		t.Errorf("%v, want 400 ms, and 290 ms outside", got)
	}
	if got, err = ComparedTimesOf(t.Context(), testtrace.Record(t, merge.Run{}, false, ranks)); got != nil ||
		err != nil {
		t.Errorf("without times: %v, %v", got, err)
	}
}

// TestRunOfMPI checks that the run is from the last return of MPI_Init to the last call of MPI_Finalize,
// whatever the times are known by, and whatever ranks call before and after.
func TestRunOfMPI(t *testing.T) {
	ms := int64(1e6)
	call := func(name string, start, end int64) testtrace.Call {
		c := testtrace.MPICall(name)
		c.Start, c.Duration = start*ms, (end-start)*ms
		return c
	}
	for _, c := range []struct {
		name                   string
		ranks                  [][]testtrace.Call
		run, startup, shutdown Nanoseconds // in milliseconds
	}{
		{"alike", [][]testtrace.Call{
			{call("MPI_Init", 100, 300), call("MPI_Barrier", 400, 700), call("MPI_Finalize", 710, 900)},
			{call("MPI_Init", 120, 310), call("MPI_Barrier", 600, 700), call("MPI_Finalize", 720, 890)},
		}, 410, 210, 180},
		{"one finalizes early", [][]testtrace.Call{
			{call("MPI_Init", 100, 300), call("MPI_Finalize", 310, 900)},
			{call("MPI_Init", 120, 310), call("MPI_File_sync", 400, 700), call("MPI_Finalize", 800, 900)},
		}, 490, 210, 100},
		{"calls around", [][]testtrace.Call{
			{call("MPI_Initialized", 50, 60), call("MPI_Init_thread", 100, 300), call("MPI_Barrier", 400, 700),
				call("MPI_Finalize", 710, 900), call("MPI_Finalized", 950, 960)},
			{call("MPI_Initialized", 70, 71), call("MPI_Init_thread", 120, 310), call("MPI_Barrier", 600, 700),
				call("MPI_Finalize", 720, 890), call("MPI_Finalized", 900, 901)},
		}, 410, 260, 240},
		{"killed", [][]testtrace.Call{
			{call("MPI_Init", 100, 300), call("MPI_Barrier", 400, 700), call("MPI_Finalize", 710, 720)},
			{call("MPI_Init", 120, 310), call("MPI_Barrier", 600, 800)},
		}, 490, 210, 0},
		{"without MPI_Init", [][]testtrace.Call{
			{call("MPI_Barrier", 400, 700)}, {call("MPI_Barrier", 600, 710)},
		}, 310, 0, 0},
	} {
		for _, times := range []testtrace.Times{testtrace.Statistics, testtrace.Series} {
			of, err := OpenTimes(testtrace.RecordTimes(t, times, c.ranks))
			if err != nil {
				t.Fatal(err)
			}
			got, err := of.Run(t.Context())
			if err != nil || got == nil {
				t.Fatal(c.name, got, err)
			}
			off := got.Error + 1
			if times == testtrace.Series && off > 1 {
				t.Errorf("%s: exact times are %v ns off", c.name, got.Error)
			}
			for _, of := range [][2]Nanoseconds{{got.Run, c.run}, {got.Startup, c.startup},
				{got.Shutdown, c.shutdown}} {
				if d := of[0] - of[1]*1e6; max(d, -d) > off {
					t.Errorf("%s: %+v, want a run of %v ms after %v, then %v", c.name, *got, c.run, c.startup,
						c.shutdown)
				}
			}
		}
	}
}

// TestRankInRun checks what a rank spends in the run where it makes calls before MPI_Init and after
// MPI_Finalize, and waits in that for the other.
func TestRankInRun(t *testing.T) {
	ms := int64(1e6)
	call := func(name string, start, end int64) testtrace.Call {
		c := testtrace.MPICall(name)
		c.Start, c.Duration = start*ms, (end-start)*ms
		return c
	}
	ranks := [][]testtrace.Call{{
		call("MPI_Initialized", 0, 10), call("MPI_Init", 100, 300), call("MPI_Barrier", 350, 360),
		call("MPI_Finalize", 400, 900), call("MPI_Finalized", 1000, 1001),
	}, {
		call("MPI_Initialized", 0, 10), call("MPI_Init", 100, 300), call("MPI_Barrier", 350, 360),
		call("MPI_Finalize", 800, 900), call("MPI_Finalized", 1000, 1001),
	}}
	for _, times := range []testtrace.Times{testtrace.Statistics, testtrace.Series} {
		tr := testtrace.RecordTimes(t, times, ranks)
		of, err := OpenTimes(tr)
		if err != nil {
			t.Fatal(err)
		}
		p, err := OpenProfile(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := of.ByRank(t.Context(), p, times == testtrace.Series, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][2]Nanoseconds{{410e6, 90e6}, {10e6, 490e6}} { // in calls, and outside
			r := b.Ranks[i]
			off := [2]Nanoseconds{r.Error + 1, r.OutsideError + 1}
			if times == testtrace.Series {
				off = [2]Nanoseconds{1, 1}
			}
			if a, o := r.Time-want[0], r.Outside-want[1]; max(a, -a) > off[0] || max(o, -o) > off[1] ||
				max(off[0], off[1]) > 5e6 || r.Span != r.Time+r.Outside {
				t.Errorf("%s: rank %d is in calls for %v ± %v and outside for %v ± %v, want %v", times, i, r.Time,
					r.Error, r.Outside, r.OutsideError, want)
			}
		}
		all := &Imbalance{}
		if err := all.addRanks(t.Context(), of, p, Options{}); err != nil ||
			math.Abs(float64(all.Total-20e6)) > float64(all.Error)+1 || all.Error > 10e6 {
			t.Errorf("%s: %v ± %v in calls of neither startup nor shutdown, want 20 ms", times, all.Total, all.Error)
		}
	}
}

// TestEndOfRun checks that what ranks spend in calls of a run is as far off as is said, where the run ends with a start
// that is not exact: by how long a rank waits in MPI_Finalize for the last.
func TestEndOfRun(t *testing.T) {
	bins := must.Get(timing.NewExponential(0.1))
	rapid.Check(t, func(rt *rapid.T) {
		c := must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))
		if rapid.Bool().Draw(rt, "starts") {
			c.Starts = 10_000
		}
		ends, inCalls := make([]int64, 2), make([]int64, 2)
		var parts []merge.Part
		for rank := range ends {
			r, now := must.Get(tracer.New(tracer.Options{Series: c})), int64(0)
			call := func(function string, gap, duration int64) {
				of := testtrace.MPICall(function)
				r.CallAt(r.Declare(of.Function), now+gap, duration, of.Args...)
				now += gap + duration
			}
			call("MPI_Init", 0, 1e6)
			for range rapid.IntRange(1, 5).Draw(rt, "calls") {
				duration := rapid.Int64Range(0, 1e6).Draw(rt, "duration")
				call("MPI_Barrier", rapid.Int64Range(0, 30e6).Draw(rt, "gap"), duration)
				inCalls[rank] += duration
			}
			ends[rank] = now + 1000
			call("MPI_Finalize", 1000, 1e6)
			parts = append(parts, r.Finish(rank))
		}
		tr := testtrace.Write(t, merge.Run{Ranks: len(ends)}, parts)
		times := must.Get(OpenTimes(tr))
		b := must.Get(times.ByRank(t.Context(), must.Get(OpenProfile(t.Context(), tr, Options{})), false, Options{}))
		run := float64(slices.Max(ends) - 1e6)
		if off := math.Abs(float64(b.Run.Run) - run); off > float64(b.Run.Error)+1 {
			rt.Fatalf("the run takes %v ± %v, not %v", b.Run.Run, b.Run.Error, run)
		}
		for rank, r := range b.Ranks {
			want := float64(inCalls[rank] + slices.Max(ends) - ends[rank])
			if off := math.Abs(float64(r.Time) - want); off > float64(r.Error)+1 {
				rt.Fatalf("rank %d is in calls for %v ± %v, not %v", rank, r.Time, r.Error, want)
			}
		}
	})
}

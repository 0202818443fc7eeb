package query

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/recorded"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// realTrace returns the trace of a rank of a recorded run, with times as o keeps them.
func realTrace(t *testing.T, r *recorded.Rank, o tracer.Options) *trace.Trace {
	t.Helper()
	recorder, err := tracer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	fn := recorder.Declare(functions[0])
	for i, terminal := range r.Terminals {
		recorder.CallAt(fn, r.Starts[i], r.Durations[i], cst.Int(int64(terminal)))
	}
	return write(t, merge.Run{Ranks: 1, Source: r.Run}, []merge.Part{recorder.Finish(0)})
}

// TestReal compares clocks of recorded runs with when calls were.
func TestReal(t *testing.T) {
	for _, r := range recorded.Ranks(t) {
		if r.Rank != "rank-00000" {
			continue
		}
		t.Run(r.Run, func(t *testing.T) {
			if !tier.Nightly && len(r.Starts) > 20_000 {
				t.Skip("nightly: a long run")
			}
			checkReal(t, r, openClock(t, realTrace(t, r, tracer.Options{Series: exactSeries()}), 0))
			length := len(r.Starts)
			whole := float64(r.Starts[length-1] + r.Durations[length-1] - r.Starts[0])
			for _, paths := range []bool{false, true} {
				c := openClock(t,
					realTrace(t, r, tracer.Options{Histograms: &timing.HistogramOptions{PathSensitive: paths}}), 0)
				_, end, err := c.Span()
				if err != nil || math.Abs(float64(end)-whole) > 0.001*whole {
					t.Errorf("by %v, the last call ends at %d, %v, want %g", c.Source(), end, err, whole)
				}
				worst, sum := 0.0, 0.0
				for call, err := range c.Calls(0) {
					if err != nil {
						t.Fatal(err)
					}
					at := call.Position
					off := math.Abs(float64(call.Start-(r.Starts[at]-r.Starts[0]))) / whole
					worst, sum = max(worst, off), sum+off
				}
				t.Logf("paths %v: starts are off by %.1f %% of %.2f s at most, %.1f %% on average", paths,
					100*worst, whole/1e9, 100*sum/float64(length))
			}
		})
	}
}

// checkReal searches for times by a clock that is exact.
func checkReal(t *testing.T, r *recorded.Rank, c *Clock) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	n := len(r.Starts)
	end := func(i int) int64 { return r.Starts[i] + r.Durations[i] }
	draw := func() int64 { return r.Starts[0] - 1000 + random.Int64N(end(n-1)-r.Starts[0]+2000) }
	for range 20 {
		at := draw()
		want := sort.Search(n, func(i int) bool { return end(i) > at }) // calls do not overlap
		p, err := c.At(at)
		if err != nil || p.Position != uint64(want) || want < n &&
			(p.Start != r.Starts[want] || p.Duration != r.Durations[want] || p.Inside != (p.Start <= at)) {
			t.Fatalf("at %d: %+v, %v, want call %d", at, p, err, want)
		}
		from, to := at, draw()
		from, to = min(from, to), max(from, to)
		w, err := c.Between(from, to)
		if err != nil {
			t.Fatal(err)
		}
		calls, time := uint64(0), int64(0)
		for i := range r.Starts {
			if r.Starts[i] < to && (end(i) > from || r.Starts[i] >= from) {
				calls, time = calls+1, time+max(0, min(end(i), to)-max(r.Starts[i], from))
			}
		}
		if gotCalls, gotTime := w.Total(); gotCalls != calls || gotTime != Nanoseconds(time) {
			t.Fatalf("from %d to %d: %d calls of %g ns, want %d of %d", from, to, gotCalls, gotTime, calls, time)
		}
	}
}

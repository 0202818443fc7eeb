package query

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// TestEndOfStartup checks when MPI_Init is taken to have returned, and how far off that may be, by exact times and by
// such with an error: by how long it took, or by the gap to the next call, if that is known and shorter.
func TestEndOfStartup(t *testing.T) {
	const ms, took = int64(1e6), 200 * int64(1e6)
	const g = 0.1 / 0.9 // of what is decoded: the codec keeps 0.1 of what was
	bins, exact := must.Get(timing.NewExponential(0.1)), must.Get(timing.NewLossless(timing.Zstd))
	for name, tt := range map[string]struct {
		column timing.Codec
		form   timing.Form
		starts int64
		gap    int64 // between MPI_Init and the next call
		off    float64
	}{
		"exact":     {exact, timing.Gaps, 0, 5 * ms, 0},
		"short gap": {bins, timing.Gaps, 10_000, 5 * ms, g*5e6 + 10_000},
		"long gap":  {bins, timing.Gaps, 10_000, 700 * ms, g * 200e6},
		"starts":    {bins, timing.Gaps, 0, 5 * ms, g * 200e6}, // these may be off by as much as the longest gap
		"intervals": {bins, timing.Intervals, 10_000, 5 * ms, g * 200e6},
		"overlap":   {bins, timing.Gaps, 10_000, -5 * ms, g * 200e6},
	} {
		c := must.Get(timing.NewSeriesCodec(tt.column, tt.column, tt.form))
		c.Starts = tt.starts
		r := must.Get(tracer.New(tracer.Options{Series: c}))
		at := 100 * ms
		call := func(function string, start, duration int64) {
			of := testtrace.MPICall(function)
			r.CallAt(r.Declare(of.Function), start, duration, of.Args...)
		}
		call("MPI_Init", at, took)
		call("MPI_Barrier", at+took+tt.gap, 10*ms)
		call("MPI_Finalize", at+took+1000*ms, 10*ms)
		tr := testtrace.Write(t, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)})
		times := must.Get(OpenTimes(tr))
		read := must.Get(tr.Rank(0))
		s := must.Get(must.Get(times.Clock(read)).runSpan(RunCallsOf(tr, read)))
		wrong := math.Abs(float64(s.begin - (at + took)))
		if wrong > s.off+1 || s.off < tt.off*0.85 || s.off > tt.off*1.15 {
			t.Errorf("%s: %v ns off, which may be %v, want %v", name, wrong, s.off, tt.off)
		}
	}
}

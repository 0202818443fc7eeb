package query

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestRunTimes checks the times of a run of two ranks, by what is kept of them, and without times.
func TestRunTimes(t *testing.T) {
	f, ms := testtrace.Function("f"), int64(1e6)
	ranks := [][]testtrace.Call{
		{{Function: f, Start: 100 * ms, Duration: 50 * ms}, {Function: f, Start: 200 * ms, Duration: 10 * ms}},
		{{Function: f, Start: 130 * ms, Duration: 30 * ms}, {Function: f, Start: 400 * ms, Duration: 100 * ms}},
	}
	got, err := RunTimesOf(t.Context(), testtrace.Record(t, merge.Run{}, true, ranks))
	if err != nil {
		t.Fatal(err)
	}
	near := func(a, b Nanoseconds) bool { return a > b*0.99 && a < b*1.01 } // sums that are kept are rounded
	if got == nil || !near(got.Run, 400e6) || !near(got.Outside, (50+240)*1e6) {
		t.Errorf("%v, want 400 ms, and 290 ms outside", got)
	}
	if got, err = RunTimesOf(t.Context(), testtrace.Record(t, merge.Run{}, false, ranks)); got != nil || err != nil {
		t.Errorf("without times: %v, %v", got, err)
	}
}

package query

import (
	"context"
	"math"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// RunTimes are times of a run as it was recorded.
type RunTimes struct {
	Run     Nanoseconds `json:"run_ns"`     // from the first call of all ranks to the end of the last
	Outside Nanoseconds `json:"outside_ns"` // of all ranks together, outside calls
}

// RunTimesOf returns the times of a run: by what the trace keeps of each rank, else by the times of every
// call, which takes as long as [Times.ReadSeries]. It returns nil if the trace does not have either of all
// ranks.
func RunTimesOf(ctx context.Context, t *trace.Trace) (*RunTimes, error) {
	need.That(t != nil, "query: no trace")
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	timed, _, err := t.SeriesRanks()
	kept := times.HasRanks(Options{})
	if err != nil || !kept && timed.Len() < t.Content().Recorded.Len() {
		return nil, err
	}
	profile, err := OpenProfile(ctx, t, Options{})
	if err != nil {
		return nil, err
	}
	b, err := times.ByRank(ctx, profile, !kept, Options{})
	if err != nil || len(b.Ranks) == 0 {
		return nil, err
	}
	run := new(RunTimes)
	first, last := Nanoseconds(math.Inf(1)), Nanoseconds(0)
	for _, r := range b.Ranks {
		first, last = min(first, r.Start), max(last, r.Start+r.Span)
		run.Outside += max(r.Span-r.Time, 0)
	}
	run.Run = last - first
	return run, nil
}

package main

import (
	"context"
	"math"

	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// runTimes are times of a run as it was recorded.
type runTimes struct {
	Run     query.Nanoseconds `json:"run_ns"`     // from the first call of all ranks to the end of the last
	Outside query.Nanoseconds `json:"outside_ns"` // of all ranks together, outside calls
}

// runTimesOf returns the times of a run, nil if the trace has no times of ranks.
func runTimesOf(ctx context.Context, tr *trace.Trace) (*runTimes, error) {
	times, err := query.OpenTimes(tr)
	if err != nil {
		return nil, err
	}
	timed, _, err := tr.SeriesRanks()
	kept := times.HasRanks(query.Options{})
	if err != nil || !kept && timed.Len() < tr.RecordedRanks().Len() {
		return nil, err
	}
	profile, err := query.OpenProfile(ctx, tr, query.Options{})
	if err != nil {
		return nil, err
	}
	b, err := times.ByRank(ctx, profile, !kept, query.Options{})
	if err != nil || len(b.Ranks) == 0 {
		return nil, err
	}
	t := new(runTimes)
	first, last := query.Nanoseconds(math.Inf(1)), query.Nanoseconds(0)
	for _, r := range b.Ranks {
		first, last = min(first, r.Start), max(last, r.Start+r.Span)
		t.Outside += max(r.Span-r.Time, 0)
	}
	t.Run = last - first
	return t, nil
}

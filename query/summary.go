package query

import (
	"context"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// A Summary is what a trace tells of the run at first sight, from the sums that it keeps of each rank.
type Summary struct {
	RunTimes
	Share   *CallShare    `json:"share_in_calls"`
	Balance *float64      `json:"load_balance"` // see [ByRank.LoadBalance]; nil if it is not known
	Slowest *SlowRank     `json:"slowest_rank"`
	Waits   []WaitSummary `json:"longest_waits"` // at most three
}

// A WaitSummary is a function in which ranks wait, and the place where most of that may be.
type WaitSummary struct {
	Function string      `json:"function"`
	Site     string      `json:"site"`
	Wait     Nanoseconds `json:"wait_ns"`
	Error    Nanoseconds `json:"wait_error_ns"` // how far Wait may be off
	Share    float64     `json:"share"`         // in the time in calls in the run, 0.001 at least
}

// mostWaits is how many functions a summary names.
const mostWaits = 3

// OpenSummary returns the summary of a run, nil if the trace keeps no times of each rank. It takes as long as
// [OpenProfile].
func OpenSummary(ctx context.Context, t *trace.Trace) (*Summary, error) {
	need.That(t != nil, "query: no trace")
	times, err := OpenTimes(t)
	if err != nil || !times.HasRanks(Options{}) {
		return nil, err
	}
	p, err := OpenProfile(ctx, t, Options{})
	if err != nil {
		return nil, err
	}
	b, err := times.ByRank(ctx, p, false, Options{})
	if err != nil || b.Run == nil {
		return nil, err
	}
	s := &Summary{RunTimes: *b.Run, Slowest: b.Slowest(), Share: b.Share(), Waits: []WaitSummary{}}
	if balance, ok := b.LoadBalance(); ok {
		s.Balance = &balance
	}
	inCalls := Nanoseconds(0)
	for _, r := range b.Ranks {
		inCalls += r.Time
	}
	sites := make(map[string]SiteProfile) // of each function, the one where the wait time may be longest
	bound := func(s SiteProfile) float64 {
		return float64(s.Time.Total) - float64(s.Calls)*float64(s.Time.Min)
	}
	if HasSites(t) {
		for _, of := range p.Sites(t) {
			if most, ok := sites[of.Function]; of.Time != nil && (!ok || bound(of) > bound(most)) {
				sites[of.Function] = of
			}
		}
	}
	const least = 0.001 // share of the time in calls
	for _, f := range b.Functions[:min(mostWaits, len(b.Functions))] {
		if share := float64(f.Wait / inCalls); share >= least && !OutsideRun(f.Name) {
			s.Waits = append(s.Waits, WaitSummary{f.Name, sites[f.Name].Site, f.Wait, f.WaitError, share})
		}
	}
	return s, nil
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

// A runSummary is what a trace tells of the run at first sight, from the sums that it keeps of
// each rank.
type runSummary struct {
	Span    query.Nanoseconds `json:"span_ns"` // from the first call of all ranks to the last
	Share   *query.CallShare  `json:"share_in_calls"`
	Slowest *query.SlowRank   `json:"slowest_rank"`
	Waits   []waitSummary     `json:"longest_waits"`
}

// A waitSummary is a function in which ranks wait, and the place where most of that may be.
type waitSummary struct {
	Function string            `json:"function"`
	Site     string            `json:"site"`
	Wait     query.Nanoseconds `json:"wait_ns"`
	Error    query.Nanoseconds `json:"wait_error_ns"` // how far Wait may be off
	Share    float64           `json:"share"`         // in the time in calls
}

// mostWaits is how many functions a summary names.
const mostWaits = 3

// summarizeRun returns what a trace tells of the run, nil if it keeps no times of ranks.
func summarizeRun(ctx context.Context, file []byte) (*runSummary, error) {
	trace, err := reopen(file)
	if err != nil {
		return nil, err
	}
	times, err := query.OpenTimes(trace)
	if err != nil || !times.HasRanks(query.Options{}) {
		return nil, err
	}
	p, err := query.OpenProfile(ctx, trace, query.Options{})
	if err != nil {
		return nil, err
	}
	b, err := times.ByRank(ctx, p, false, query.Options{})
	if err != nil {
		return nil, err
	}
	s := &runSummary{Slowest: b.Slowest(), Share: b.Share(), Waits: []waitSummary{}}
	inCalls := query.Nanoseconds(0)
	for _, r := range b.Ranks {
		s.Span = max(s.Span, r.Start+r.Span)
		inCalls += r.Time
	}
	sites := make(map[string]query.SiteProfile) // of each function, the one where the wait time may be longest
	bound := func(s query.SiteProfile) float64 {
		return float64(s.Time.Total) - float64(s.Calls)*float64(s.Time.Min)
	}
	if query.HasSites(trace) {
		for _, of := range p.Sites(trace) {
			if most, ok := sites[of.Function]; of.Time != nil && (!ok || bound(of) > bound(most)) {
				sites[of.Function] = of
			}
		}
	}
	const least = 0.001 // share of the time in calls
	for _, f := range b.Functions[:min(mostWaits, len(b.Functions))] {
		if share := float64(f.Wait / inCalls); share >= least {
			s.Waits = append(s.Waits, waitSummary{f.Name, sites[f.Name].Site, f.Wait, f.WaitError, share})
		}
	}
	return s, nil
}

// print prints it, in lines of 80 columns. Of a run that ended early it does not compare ranks: they
// were not to stop where they did.
func (s *runSummary) print(w io.Writer, early bool) {
	fmt.Fprintf(w, "reprise: ran %s", text.Duration(s.Span))
	if c := s.Share; c != nil {
		fmt.Fprintf(w, ", %s in MPI", text.Percent(c.Mean, 1))
		if c.MinRank != c.MaxRank && !early {
			fmt.Fprintf(w, ": %s on rank %d to %s on rank %d", text.Percent(c.Min, 1), c.MinRank, text.Percent(c.Max, 1), c.MaxRank)
		}
	}
	fmt.Fprintln(w)
	if early {
		return
	}
	if r := s.Slowest; r != nil && r.Mean > 0 {
		fmt.Fprintf(w, "reprise: slowest rank %d: %s outside MPI, %s of the run above mean\n", r.Rank, text.Around(r.Outside, r.Error),
			cmp.Or(text.Percent(r.Outside-r.Mean, s.Span), "0 %"))
	}
	for i, f := range s.Waits {
		const columns = 80
		title := "wait time"
		if i > 0 {
			title = ""
		}
		line := fmt.Sprintf("reprise: %-9s %7s %6s of MPI  %s", title, text.Around(f.Wait, f.Error), text.Percent(f.Share, 1), text.Printable(f.Function))
		if f.Site != "" {
			line += "  " + text.Printable(f.Site)
		}
		fmt.Fprintln(w, text.Cut(line, columns))
	}
}

// nextCommand returns the command that shows a trace.
func nextCommand(path string) string {
	return "reprise report " + quoted(path) + " -o " + quoted(strings.TrimSuffix(path, ".rpz")+".html")
}

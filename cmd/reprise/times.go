package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
)

// A timeInfo is what info tells of the times of calls.
type timeInfo struct {
	Functions  []functionTimes `json:"functions"`    // those of most time first
	Ranks      string          `json:"ranks_timed"`  // of which there are the times of every call, as a list
	Codecs     []string        `json:"codecs"`       // of these
	Bytes      int64           `json:"series_bytes"` // stored
	Histograms int             `json:"histograms"`   // of durations

	ranks int
	calls uint64 // that have times
	worst timing.Guarantee
	lost  error
}

// FunctionTimes are the times of the calls of a function, in nanoseconds.
type functionTimes struct {
	Function  string  `json:"function"`
	Calls     uint64  `json:"calls"`
	Total     float64 `json:"total_ns"`
	Mean      float64 `json:"mean_ns"`
	Deviation float64 `json:"standard_deviation_ns"`
	Min       int64   `json:"min_ns"`
	Max       int64   `json:"max_ns"`
	MinRank   uint32  `json:"rank_of_min"`
	MaxRank   uint32  `json:"rank_of_max"`
}

// describeTimes returns what is known of the times of a trace, nil if there are
// none.
func describeTimes(trace *reprise.Trace) *timeInfo {
	t := trace.Merged()
	var i timeInfo
	durations, gaps, err := t.Summaries()
	i.lost = err
	i.Functions = timesByFunction(t, durations)
	if durations.Histograms != nil {
		i.Histograms = durations.Histograms.Len()
	}
	ranks, codecs, err := t.SeriesRanks()
	if err != nil {
		i.lost = err
	}
	i.Ranks, i.Codecs, i.ranks = ranks.String(), codecs, ranks.Len()
	for _, rank := range ranks.All() {
		s, err := t.Series(int(rank))
		if err != nil {
			i.lost = err
			break
		}
		i.calls += s.Len()
		i.worst = max(i.worst, s.Guarantee())
	}
	for _, s := range trace.Sections() {
		if s.Kind == merge.KindSeries {
			i.Bytes += s.Size
		}
	}
	if durations.IsZero() && gaps.IsZero() && i.ranks == 0 && i.lost == nil {
		return nil
	}
	return &i
}

// timesByFunction sums up the durations by function: statistics or, if there are
// none, histograms.
func timesByFunction(t *merge.Trace, s merge.Summary) []functionTimes {
	all := make([]timing.Statistics[int64], len(t.Functions()))
	for n := range s.Statistics {
		all[t.FunctionOf(n)].Merge(&s.Statistics[n])
	}
	if len(s.Statistics) == 0 && s.Histograms != nil {
		for p, h := range s.Histograms.All() {
			all[t.FunctionOf(int(p.Terminal))].Merge(h.Statistics())
		}
	}
	list := []functionTimes{}
	for f, s := range all {
		if s.Count > 0 {
			list = append(list, functionTimes{t.Functions()[f].Name, s.Count, s.Sum(), s.Mean(), s.StandardDeviation(), s.Min, s.Max, s.MinRank, s.MaxRank})
		}
	}
	slices.SortStableFunc(list, func(a, b functionTimes) int {
		switch {
		case a.Total > b.Total:
			return -1
		case a.Total < b.Total:
			return 1
		}
		return 0
	})
	return list
}

// print prints tables of times.
func (i *timeInfo) print(out io.Writer) {
	if len(i.Functions) > 0 {
		fmt.Fprintf(out, "\ntime in\tcalls\ttotal s\tmean s\tdeviation s\tleast s\tin rank\tmost s\tin rank\t\n")
	}
	for _, f := range i.Functions {
		fmt.Fprintf(out, "%s\t%s\t%.6f\t%.9f\t%.9f\t%s\t%d\t%s\t%d\t\n", printable(f.Function), comma(f.Calls), f.Total/1e9, f.Mean/1e9,
			f.Deviation/1e9, appendSeconds(nil, f.Min), f.MinRank, appendSeconds(nil, f.Max), f.MaxRank)
	}
	if i.calls > 0 {
		fmt.Fprintf(out, "\ntimes of every call\tranks\tcalls\tstored\tbits a call\t\n")
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%.2f\t\n", i.worst, comma(uint64(i.ranks)), comma(i.calls), comma(uint64(i.Bytes)), 8*float64(i.Bytes)/float64(i.calls))
	}
}

// isTimed reports whether a trace has the times of every call of some rank.
func isTimed(trace *reprise.Trace) (bool, error) {
	ranks, _, err := trace.Merged().SeriesRanks()
	return ranks.Len() > 0, err
}

// appendTime appends the start and the duration of a call, in seconds, each with a
// tab.
func appendTime(dst []byte, c reprise.Call) []byte {
	if !c.Timed {
		return append(dst, "-\t-\t"...)
	}
	dst = append(appendSeconds(dst, c.Start), '\t')
	return append(appendSeconds(dst, c.Duration), '\t')
}

// appendSeconds appends nanoseconds as seconds.
func appendSeconds(dst []byte, ns int64) []byte {
	n := uint64(ns)
	if ns < 0 {
		n = -n
		dst = append(dst, '-')
	}
	return fmt.Appendf(dst, "%d.%09d", n/1e9, n%1e9)
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A timeInfo is what info tells of the times of calls.
type timeInfo struct {
	Functions  []functionTimes `json:"functions"`        // how long calls took; those of most time first
	Gaps       []functionTimes `json:"gaps"`             // the times from the end of the rank's call before to the start
	Histograms *histogramInfo  `json:"histograms"`       // null if there are none
	Codecs     []codecInfo     `json:"codecs"`           // of the times of every call
	Ranks      string          `json:"ranks_timed"`      // of which there are these, as a list
	Unreadable string          `json:"unreadable_ranks"` // of which they cannot be read, as a list
	Bytes      int64           `json:"series_bytes"`     // stored, of all ranks

	errs []error // what cannot be read
}

// A histogramInfo is how many histograms there are.
type histogramInfo struct {
	Durations int  `json:"durations"`
	Gaps      int  `json:"gaps"`
	ByPair    bool `json:"by_pair_of_calls"` // of a call and the rank's call before it
}

// FunctionTimes are the times of the calls of a function, in nanoseconds.
type functionTimes struct {
	Function  string      `json:"function"`
	Calls     uint64      `json:"calls"` // 2⁶³−1 also if they are more
	Total     nanoseconds `json:"total_ns"`
	Mean      nanoseconds `json:"mean_ns"`
	Deviation nanoseconds `json:"standard_deviation_ns"`
	Min       int64       `json:"min_ns"`
	Max       int64       `json:"max_ns"`
	MinRank   uint32      `json:"rank_of_min"`
	MaxRank   uint32      `json:"rank_of_max"`
}

// describeTimes returns what is known of the times of the trace at path, leaving out
// ranks of which the calls cannot be read; nil if there are none. It returns an
// error only if the work was cancelled, or the file cannot be read again.
func describeTimes(ctx context.Context, trace *reprise.Trace, path string, without rankenc.Set) (*timeInfo, error) {
	t := trace.Merged()
	i := timeInfo{Codecs: []codecInfo{}}
	durations, gaps, err := t.Summaries()
	if err != nil {
		i.errs = append(i.errs, lostSummaries(path, err))
	}
	i.Functions, i.Gaps = timesByFunction(t, durations), timesByFunction(t, gaps)
	i.Histograms = describeHistograms(durations.Histograms, gaps.Histograms)
	if ranks, _, err := t.SeriesRanks(); err != nil {
		i.errs = append(i.errs, lostSeries(path, err))
	} else if err := i.readSeries(ctx, t, ranks, without, path); err != nil {
		return nil, err
	}
	for _, s := range trace.Sections() {
		if s.Kind == merge.KindSeries {
			i.Bytes += s.Size
		}
	}
	if durations.IsZero() && gaps.IsZero() && i.Bytes == 0 && len(i.errs) == 0 {
		return nil, nil
	}
	return &i, nil
}

// describeHistograms returns nil if there are no histograms. Either may be nil.
func describeHistograms(durations, gaps *timing.Histograms) *histogramInfo {
	var i histogramInfo
	count := func(h *timing.Histograms) (n int) {
		if h == nil {
			return 0
		}
		for p := range h.All() {
			i.ByPair = i.ByPair || p.Previous != timing.NoPrevious
		}
		return h.Len()
	}
	if i.Durations, i.Gaps = count(durations), count(gaps); i.Durations+i.Gaps == 0 {
		return nil
	}
	return &i
}

// timesByFunction sums up durations or gaps by the name of the function: statistics
// or, if there are none, histograms.
func timesByFunction(t *merge.Trace, s merge.Summary) []functionTimes {
	all := make([]timing.Statistics, len(t.Functions()))
	of := make([]*timing.Statistics, len(all)) // that of the first of the name
	byName := make(map[string]*timing.Statistics)
	for f := range t.Functions() {
		name := t.Functions()[f].Name
		if byName[name] == nil {
			byName[name] = &all[f]
		}
		of[f] = byName[name]
	}
	for n := range s.Statistics {
		of[t.FunctionOf(n)].Merge(&s.Statistics[n])
	}
	if len(s.Statistics) == 0 && s.Histograms != nil {
		for p, h := range s.Histograms.All() {
			of[t.FunctionOf(int(p.Terminal))].Merge(h.Statistics())
		}
	}
	list := []functionTimes{}
	for f, s := range all {
		if s.Count > 0 {
			list = append(list, functionTimes{t.Functions()[f].Name, s.Count, timeOf(&s, s.Sum()), timeOf(&s, s.Mean()), timeOf(&s, s.StandardDeviation()),
				s.Min, s.Max, s.MinRank, s.MaxRank})
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
	printFunctionTimes(out, "time in", i.Functions)
	printFunctionTimes(out, "gap before", i.Gaps)
	if h := i.Histograms; h != nil {
		of := "by call"
		if h.ByPair {
			of = "by pair of calls"
		}
		fmt.Fprintf(out, "\nhistograms %s: %s of durations, %s of gaps\n", of, text.Count(h.Durations), text.Count(h.Gaps))
	}
	if len(i.Codecs) == 0 {
		return
	}
	fmt.Fprintf(out, "\ntimes of every call\tvalues\tranks\tcalls\tstored\tbits a call\t\n")
	calls, ranks := uint64(0), 0
	for _, c := range i.Codecs {
		calls, ranks = wire.AddSat(calls, c.Calls), ranks+c.Count
	}
	all := text.Count(i.Bytes) + "\t"
	if !text.Saturated(calls) {
		all += fmt.Sprintf("%.2f", 8*float64(i.Bytes)/float64(calls))
	}
	for _, c := range i.Codecs {
		stored := "\t"
		if len(i.Codecs) == 1 && i.Unreadable == "" {
			stored = all
		}
		const most = 40 // of a list of ranks in a column
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t\n", text.Printable(text.Cut(c.Codec, 80)), c.Guarantee, text.CutList(c.Ranks, most), text.Count(c.Calls), stored)
	}
	if len(i.Codecs) > 1 && i.Unreadable == "" {
		fmt.Fprintf(out, "all\t\t%s\t%s\t%s\t\n", text.Plural(ranks, "rank"), text.Count(calls), all)
	}
	if i.Unreadable != "" {
		fmt.Fprintf(out, "cannot be read\t\t%s\t\t\t\t\n", text.CutList(i.Unreadable, 40))
	}
}

// printFunctionTimes prints a table of times, unless it is empty.
func printFunctionTimes(out io.Writer, what string, list []functionTimes) {
	if len(list) > 0 {
		fmt.Fprintf(out, "\n%s\tcalls\ttotal\tmean\tdeviation\tmin\tin rank\tmax\tin rank\t\n", what)
	}
	for _, f := range list {
		calls := text.Count(f.Calls)
		if !f.Total.known() {
			calls = text.AtLeast(calls)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%d\t\n", text.Printable(f.Function), calls, f.Total,
			f.Mean, f.Deviation, text.Duration(f.Min), f.MinRank, text.Duration(f.Max), f.MaxRank)
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

package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/timing"
)

// maxUnasked is of how many calls the times of every call are read unasked.
const maxUnasked = report.MaxExact

// A rankTime is how long a rank is in calls.
type rankTime struct {
	Rank    int         `json:"rank"`
	Calls   uint64      `json:"calls"`
	Time    nanoseconds `json:"time_ns"`    // in calls; more than the span where they overlap
	Outside nanoseconds `json:"outside_ns"` // in no call; null if it is not known
	Span    nanoseconds `json:"span_ns"`    // from the beginning of the first call to the end of the last
}

// readTimes adds the times of every call of the ranks of p, if the trace has these and
// they are not too many to be read unasked, or says why it does not.
func (i *profileInfo) readTimes(cmd *cobra.Command, trace *reprise.Trace, p *query.Profile, o profileOptions) (unreadable, error) {
	timed, _, err := trace.Merged().SeriesRanks()
	if err != nil {
		return unreadable{lostSeries(i.Path, err)}, nil
	}
	ranks, calls := timedRanks(p, timed)
	switch {
	case ranks.Len() == 0 && p.LostTimes != nil:
		return nil, nil
	case ranks.Len() == 0:
		i.Missing = noTimes(trace)
		return nil, nil
	case ranks.Len() < p.Ranks && o.by != "rank":
		i.Missing = "no times: the trace has those of every call of " + text.Ranks(ranks) + " only"
		return nil, nil
	case calls > maxUnasked:
		i.Missing = fmt.Sprintf("no times: those of %s would have to be read, as --from 0 does", text.Plural(calls, "call"))
		return nil, nil
	}
	times, err := query.OpenTimes(trace)
	switch {
	case err != nil && p.LostTimes != nil:
		return nil, nil // it is told
	case err != nil:
		return unreadable{lostSummaries(i.Path, err)}, nil
	}
	read := i.readSeries
	if o.by == "rank" {
		read = i.readRanks
	}
	lost, err := ask(cmd, trace, i.Path, o.ranks, "times of every call", func(q query.Options) error {
		q.Ranks = &ranks
		return read(cmd, times, p, q)
	})
	if err != nil || len(lost.list) == 0 {
		return nil, err
	}
	lost.what = "the times of "
	return unreadable{lost}, nil
}

// timedRanks returns the ranks of p that have the times of every call, and how many calls
// these make.
func timedRanks(p *query.Profile, timed rankenc.Set) (rankenc.Set, uint64) {
	var ranks []int
	calls := uint64(0)
	if timed.Len() == 0 {
		return timed, 0
	}
	for _, s := range p.Shapes {
		for _, rank := range s.Ranks.All() {
			if timed.Contains(int(rank)) {
				ranks, calls = append(ranks, int(rank)), wire.AddSat(calls, s.Calls)
			}
		}
	}
	return rankenc.SetOf(ranks...), calls
}

// readSeries sets the times of functions and signatures.
func (i *profileInfo) readSeries(cmd *cobra.Command, times *query.Times, p *query.Profile, q query.Options) error {
	read, err := times.ReadSeries(cmd.Context(), q)
	if err != nil {
		return err
	}
	guarantee, err := times.Guarantee()
	if err != nil {
		return err
	}
	p.SetTimes(read)
	i.setError(guarantee)
	return nil
}

// readRanks sets the times of ranks.
func (i *profileInfo) readRanks(cmd *cobra.Command, times *query.Times, _ *query.Profile, q query.Options) error {
	lost := make(map[int]bool)
	tell := q.Unreadable
	q.Unreadable = func(rank int, err error) {
		lost[rank] = true
		tell(rank, err)
	}
	a, err := times.Activity(cmd.Context(), math.MinInt64, math.MaxInt64, q)
	if err != nil {
		return err
	}
	for _, r := range a.Ranks {
		if !lost[r.Rank] { // of which it is an estimate
			i.RankTimes = append(i.RankTimes, rankTime{r.Rank, r.Calls, nanoseconds(r.Time), nanoseconds(r.Outside), nanoseconds(r.Span)})
		}
	}
	i.setError(a.Guarantee)
	return nil
}

func (i *profileInfo) setError(g timing.Guarantee) {
	relative := float64(g)
	i.Error = &relative
}

// printRankTimes prints the times of ranks.
func (i *profileInfo) printRankTimes(w io.Writer, most int) {
	if len(i.RankTimes) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", sourceText(query.Series.String(), *i.Error))
	out := newTable(w)
	fmt.Fprintf(out, "rank\tcalls\tin calls\t\toutside\t\n")
	for _, r := range i.RankTimes[:min(len(i.RankTimes), most)] {
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\t\n", r.Rank, text.Count(r.Calls), r.Time, shareOfTime(r.Time, r.Span), r.Outside, shareOfTime(r.Outside, r.Span))
	}
	out.Flush()
	if n := len(i.RankTimes) - most; n > 0 {
		fmt.Fprintf(w, "\nand %s: --all shows them\n", text.Plural(n, "more rank"))
	}
}

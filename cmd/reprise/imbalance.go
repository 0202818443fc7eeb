package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

func newImbalance() *cobra.Command {
	var o imbalanceOptions
	cmd := &cobra.Command{
		Use:   "imbalance TRACE.rpz",
		Short: "Show the calls in which ranks lose time",
		Long: `Show the calls whose durations differ, those in which most time is lost first:
of the calls that are alike on all ranks, a signature, how many ranks make how
many, how long they take on average, the least and the most and in which rank
that was, and the time lost.

From the times of every call, the time lost is what ranks take beyond the rank
with the least mean: by how much a call takes longer on average than there,
times how often it is made. That decodes every call of the trace, or of --ranks,
some seconds for 5,000,000; more are only decoded with --series, or if the trace
has no statistics. From statistics, which are of all ranks together, the time
lost is an upper bound: at most what all calls take beyond the shortest of them,
which may be much more. The page of reprise report has the same time lost.

Calls are alike if their arguments are, where a neighbour counts by how far it
is from the rank. If that is not the same on all ranks, as in a run of two ranks
of which each sends to the other, the calls of each rank stand on their own, and
no time counts as lost between them: compare the means of such rows.

By histograms, or the times of every call, durations that fall in several groups
are told apart, such as those of a collective that some ranks come late to: the
groups have at least a twentieth of the calls each, and means that differ by a
factor of two at least. The text has those of calls in which at least 1 % of the
time is lost.

From the times of every call, it is also shown which blocking receives wait for
late senders, which begin to send after them: about how long, and which rank
made them wait most, with its share. Where there are more than 524,288 of them,
some are looked at. What waits and tests wait for is not told, nor what receives
from any source do where the trace does not tell which message they got. The
clocks of several machines may differ by more than these times.

In a call that waits for others, the rank that they wait for is the one with the
least mean: it comes last, and waits least.

The text has times with their units, --json nanoseconds.`,
		Example: `  reprise imbalance run.rpz
  reprise imbalance run.rpz --series --ranks 0-63
  reprise imbalance run.rpz --json | jq '.calls[0]'`,
		Args: oneTrace,
		RunE: func(cmd *cobra.Command, args []string) error { return imbalance(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.series, "series", false, "read the times of every call, however many")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all calls, not the first %d", maxRows))
	addRanks(cmd, &o.ranks)
	return cmd
}

type imbalanceOptions struct {
	ranks             string
	series, json, all bool
}

// An imbalanceInfo is what the command imbalance tells of a trace.
type imbalanceInfo struct {
	Path  string          `json:"path"`
	Exact bool            `json:"exact"`   // the time lost is what ranks take beyond the rank with the least mean, not at most what calls take beyond the shortest
	Total float64         `json:"time_ns"` // in all calls
	Calls []imbalanceCall `json:"calls"`

	Late []lateSenderInfo `json:"late_senders,omitempty"` // those that make receives wait most first
}

// An imbalanceCall is calls that are alike.
type imbalanceCall struct {
	Signature int              `json:"signature"` // its number
	Function  string           `json:"function"`
	Call      string           `json:"call"`
	Ranks     int              `json:"ranks"`
	Calls     uint64           `json:"calls"`
	Lost      float64          `json:"lost_ns"`
	Total     float64          `json:"total_ns"`
	Mean      float64          `json:"mean_ns"`
	Deviation float64          `json:"standard_deviation_ns"`
	Min       int64            `json:"min_ns"`
	Max       int64            `json:"max_ns"`
	MinRank   int              `json:"rank_of_min"`
	MaxRank   int              `json:"rank_of_max"`
	Fast      *imbalanceRank   `json:"least_mean,omitempty"` // only by rank
	Slow      *imbalanceRank   `json:"greatest_mean,omitempty"`
	Groups    []imbalanceGroup `json:"groups,omitempty"` // if histograms or the times of every call tell them
}

type imbalanceRank struct {
	Rank int     `json:"rank"`
	Mean float64 `json:"mean_ns"`
}

type imbalanceGroup struct {
	Calls uint64  `json:"calls"`
	Mean  float64 `json:"mean_ns"`
	Low   int64   `json:"low_ns"`
	High  int64   `json:"high_ns"`
}

func imbalance(cmd *cobra.Command, path string, o imbalanceOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	times, err := query.OpenTimes(trace)
	if err != nil {
		return fileError(path, err)
	}
	timed, _, bad := trace.Merged().SeriesRanks()
	switch {
	case bad != nil && (o.series || !times.Summarized()):
		return fileError(path, bad)
	case bad != nil:
		bad = lostSeries(path, bad)
	}
	exact, err := o.readsSeries(cmd, trace, path, times, timed)
	if err != nil {
		return err
	}
	lost := &lostRanks{path: path}
	if exact {
		lost, err = ask(cmd, trace, path, o.ranks, "times of every call", func(q query.Options) (err error) {
			times, err = times.ReadSeries(cmd.Context(), q)
			return err
		})
		if err != nil {
			return err
		}
		lost.what = "the times of "
	}
	sites, err := times.Imbalance()
	switch {
	case err != nil:
		return fileError(path, err)
	case len(sites) == 0 && len(lost.list) > 0:
		return warnLost(cmd.ErrOrStderr(), lost)
	}
	i := newImbalanceInfo(trace, path, sites)
	if exact {
		if err := i.addLate(cmd, trace, times, o.ranks); err != nil {
			return fileError(path, err)
		}
	}
	if o.json {
		printJSON(cmd.OutOrStdout(), i)
	} else {
		i.print(cmd.OutOrStdout(), o)
	}
	return cmp.Or(bad, warnLost(cmd.ErrOrStderr(), lost.err()))
}

// readsSeries reports whether the times of every call are to be read: those of the ranks
// that are chosen, if that is asked for, or there is nothing else, or they are not too many.
func (o imbalanceOptions) readsSeries(cmd *cobra.Command, trace *reprise.Trace, path string, times *query.Times, timed rankenc.Set) (bool, error) {
	switch {
	case o.series && timed.Len() == 0:
		return false, fmt.Errorf("%s: the trace has not the times of every call", path)
	case !times.Summarized() && timed.Len() == 0:
		return false, errNoTimes(trace, path)
	case o.series || !times.Summarized():
		return true, nil
	case timed.Len() == 0 && !cmd.Flags().Changed("ranks"):
		return false, nil
	}
	ranks, err := chosenRanks(cmd, o.ranks, trace, path)
	if err != nil {
		return false, err
	}
	p, err := query.OpenProfile(cmd.Context(), trace, query.Options{Ranks: &ranks, Unreadable: func(int, error) {}})
	if err != nil {
		return false, err
	}
	readable, calls := timedRanks(p, timed)
	few := readable.Len() == p.Ranks && p.Ranks > 0 && calls <= maxUnasked
	if cmd.Flags().Changed("ranks") && !few {
		return false, usageError{errors.New("statistics are of all ranks together: --ranks goes with --series")}
	}
	return few, nil
}

func newImbalanceInfo(trace *reprise.Trace, path string, sites []query.Site) *imbalanceInfo {
	i := &imbalanceInfo{Path: path, Calls: []imbalanceCall{}}
	describe := signaturesOf(trace)
	for _, s := range sites {
		c := imbalanceCall{
			Signature: s.Signature, Function: s.Function, Ranks: s.Ranks, Calls: s.Calls,
			Lost: float64(s.Wait), Total: float64(s.Total), Mean: float64(s.Mean), Deviation: float64(s.Deviation),
			Min: s.Min, Max: s.Max, MinRank: s.MinRank, MaxRank: s.MaxRank,
		}
		if words, err := describe(nil, s.Signature); err != nil {
			c.Call = text.Printable(c.Function) + "(cannot be read)"
		} else {
			c.Call = words.String()
		}
		if s.Exact {
			c.Fast, c.Slow = &imbalanceRank{s.Fast.Rank, s.Fast.Mean}, &imbalanceRank{s.Slow.Rank, s.Slow.Mean}
		}
		for _, g := range s.Groups {
			c.Groups = append(c.Groups, imbalanceGroup{g.Calls, g.Mean, g.Low, g.High})
		}
		i.Exact = s.Exact
		i.Total += float64(s.Total)
		i.Calls = append(i.Calls, c)
	}
	return i
}

func (i *imbalanceInfo) print(w io.Writer, o imbalanceOptions) {
	most := maxRows
	if o.all {
		most = math.MaxInt
	}
	how := "at most what calls take beyond the shortest of them"
	if i.Exact {
		how = "what ranks take beyond the rank with the least mean"
	}
	fmt.Fprintf(w, "%s: %s in calls, lost is %s\n\n", i.Path, text.Duration(i.Total), how)
	out := newTable(w)
	lost := "lost at most"
	if i.Exact {
		lost = "lost"
	}
	fmt.Fprint(out, lost, "\t\tcalls\tranks\tmean\tleast\tin rank\tmost\tin rank\t")
	if i.Exact {
		fmt.Fprint(out, "least mean\tof rank\tgreatest\tof rank\t")
	}
	fmt.Fprintln(out, "  call")
	for _, c := range i.Calls[:min(len(i.Calls), most)] {
		fmt.Fprintf(out, "%s\t%.1f %%\t%s\t%s\t%s\t%s\t%d\t%s\t%d\t", text.Duration(c.Lost), 100*c.Lost/i.Total, text.Count(c.Calls), text.Count(c.Ranks),
			text.Duration(c.Mean), text.Duration(c.Min), c.MinRank, text.Duration(c.Max), c.MaxRank)
		if i.Exact {
			fmt.Fprintf(out, "%s\t%d\t%s\t%d\t", text.Duration(c.Fast.Mean), c.Fast.Rank, text.Duration(c.Slow.Mean), c.Slow.Rank)
		}
		fmt.Fprintf(out, "  %s\n", c.Call)
	}
	out.Flush()
	i.printGroups(w, most)
	i.printLate(w, most)
	if n := len(i.Calls) - most; n > 0 {
		fmt.Fprintf(w, "\nand %s more: --all shows them\n", text.Count(n))
	}
}

// groupsFrom is what share of the time is lost in calls whose groups are shown.
const groupsFrom = 0.01

// printGroups prints the groups of durations of calls that have several.
func (i *imbalanceInfo) printGroups(w io.Writer, most int) {
	const title = "\ndurations in groups\n"
	begun := false
	for _, c := range i.Calls[:min(len(i.Calls), most)] {
		if len(c.Groups) < 2 || c.Lost < groupsFrom*i.Total {
			continue
		}
		if !begun {
			fmt.Fprint(w, title)
			begun = true
		}
		fmt.Fprintf(w, "  %s\n", c.Call)
		for _, g := range c.Groups {
			fmt.Fprintf(w, "    %6s of about %s, from %s to %s\n", text.Percent(g.Calls, c.Calls), text.Duration(g.Mean), text.Duration(g.Low), text.Duration(g.High))
		}
	}
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
)

// An activityInfo is what the command profile tells of a part of a run. One of the lists
// is there.
type activityInfo struct {
	Path       string         `json:"path"`
	From       int64          `json:"from_ns"`        // since the first call of the run
	To         *int64         `json:"to_ns"`          // likewise; null for the end
	Begin      int64          `json:"begin_ns"`       // of that call, by the clock of the trace; 0 if all times are estimates
	Source     string         `json:"source"`         // of the times: series, or an estimate from statistics or histograms
	Error      float64        `json:"relative_error"` // at most, of those of every call
	Ranks      int            `json:"ranks"`          // that were there, or are expected to
	Calls      uint64         `json:"calls"`
	Time       nanoseconds    `json:"time_ns"` // in calls
	Span       nanoseconds    `json:"span_ns"` // of all ranks, of which that is a part; null if it ends later than times go
	Functions  []activityRow  `json:"functions,omitzero"`
	Signatures []activityRow  `json:"signatures,omitzero"`
	ByRank     []activityRank `json:"by_rank,omitzero"`

	threads bool // functions say which thread called them
	cutShort
}

type activityRow struct {
	Signature *int   `json:"signature,omitempty"` // its number
	Function  string `json:"function"`
	Call      string `json:"call,omitempty"`  // of a signature
	Ranks     int    `json:"ranks,omitempty"` // of a function
	Calls     uint64 `json:"calls"`

	Time nanoseconds `json:"time_ns"`
}

type activityRank struct {
	Rank  int    `json:"rank"`
	First uint64 `json:"first"` // position
	End   uint64 `json:"end"`   // position after the last
	Calls uint64 `json:"calls"`

	Time    nanoseconds `json:"time_ns"`
	Outside nanoseconds `json:"outside_ns"` // of the span, in no call; null if it is not known
	Span    nanoseconds `json:"span_ns"`
}

// profileWindow profiles a part of a run.
func profileWindow(cmd *cobra.Command, trace *reprise.Trace, path string, o profileOptions) error {
	times, err := query.OpenTimes(trace)
	if err != nil {
		return fileError(path, err)
	}
	var (
		a   *query.Activity
		cut cutShort
	)
	lost, err := ask(cmd, trace, path, o.ranks, "profile", func(q query.Options) (err error) {
		if a, err = times.Activity(cmd.Context(), int64(o.window.from), int64(o.window.to), q); err == nil {
			err = cut.findUnfinished(cmd.Context(), trace, q)
		}
		return err
	})
	if err != nil {
		return err
	}
	lost.what = "the times of "
	if a.Source == query.None && len(lost.list) > 0 {
		return warnLost(cmd.ErrOrStderr(), lost)
	}
	if a.Source == query.None && trace.Merged().RankSet().Len() > 0 {
		return errNoTimes(trace, path)
	}
	i := &activityInfo{Path: path, From: int64(o.window.from), Begin: a.Begin, Source: a.Source.String(), Error: float64(a.Guarantee), Calls: a.Calls, Time: nanoseconds(a.Time), threads: hasThreads(trace), cutShort: cut}
	i.To = a.To
	for _, r := range a.Ranks {
		if i.Span += nanoseconds(r.Span); r.Span > 0 || r.Calls > 0 {
			i.Ranks++
		}
	}
	i.fill(trace, a, o.by)
	if o.json {
		printJSON(cmd.OutOrStdout(), i)
	} else {
		i.print(cmd.OutOrStdout(), o)
	}
	return warnLost(cmd.ErrOrStderr(), lost.err())
}

// fill fills in the list that is asked for.
func (i *activityInfo) fill(trace *reprise.Trace, a *query.Activity, by string) {
	switch by {
	case "function":
		i.Functions = []activityRow{}
		for _, f := range a.Functions {
			i.Functions = append(i.Functions, activityRow{Function: f.Name, Ranks: f.Ranks, Calls: f.Calls, Time: nanoseconds(f.Time)})
		}
	case "signature":
		i.Signatures = []activityRow{}
		describe := signaturesOf(trace)
		for _, u := range a.Signatures {
			function := trace.Functions()[trace.Merged().FunctionOf(u.Signature)].Name
			row := activityRow{Signature: &u.Signature, Function: function, Calls: u.Calls, Time: nanoseconds(u.Time)}
			if s, err := describe(nil, u.Signature); err != nil {
				row.Call = text.Printable(function) + "(cannot be read)"
			} else {
				row.Call = s.String()
			}
			i.Signatures = append(i.Signatures, row)
		}
		slices.SortStableFunc(i.Signatures, func(a, b activityRow) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls))
		})
	case "rank":
		i.ByRank = []activityRank{}
		for _, r := range a.Ranks {
			i.ByRank = append(i.ByRank, activityRank{r.Rank, r.First, r.End, r.Calls, nanoseconds(r.Time), nanoseconds(r.Outside), nanoseconds(r.Span)})
		}
	}
}

func (i *activityInfo) print(w io.Writer, o profileOptions) {
	most := maxRows
	if o.all {
		most = math.MaxInt
	}
	to := "the end"
	if i.To != nil {
		to = text.Duration(*i.To)
	}
	fmt.Fprintf(w, "%s from %s to %s, %s\n", i.Path, text.Duration(i.From), to, sourceText(i.Source, i.Error))
	i.printUnfinished(w)
	if i.threads && i.Source != query.Series.String() {
		fmt.Fprintln(w, threadsNote)
	}
	if i.Ranks == 0 {
		fmt.Fprintln(w, "no rank makes calls there")
		return
	}
	fmt.Fprintf(w, "%s, %s, %s in calls, %s\n\n", text.Plural(i.Ranks, "rank"), text.Plural(i.Calls, "call"), i.Time, i.shareText())
	out := newTable(w)
	rows := len(i.Functions) + len(i.Signatures) + len(i.ByRank)
	switch o.by {
	case "function":
		fmt.Fprintf(out, "calls\t\tranks\ttime\t\t  function\n")
		for _, r := range i.Functions[:min(rows, most)] {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t  %s\n", text.Count(r.Calls), text.Percent(r.Calls, i.Calls), text.Count(r.Ranks),
				r.Time, shareOfTime(r.Time, i.Time), text.Printable(r.Function))
		}
	case "signature":
		fmt.Fprintf(out, "calls\t\ttime\t\t  call\n")
		for _, r := range i.Signatures[:min(rows, most)] {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t  %s\n", text.Count(r.Calls), text.Percent(r.Calls, i.Calls),
				r.Time, shareOfTime(r.Time, i.Time), r.Call)
		}
	case "rank":
		fmt.Fprintf(out, "rank\tfrom call\tcalls\tin calls\t\toutside\t\n")
		for _, r := range i.ByRank[:min(rows, most)] {
			fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Rank, text.Count(r.First), text.Count(r.Calls),
				r.Time, shareOfTime(r.Time, r.Span), r.Outside, shareOfTime(r.Outside, r.Span))
		}
	}
	out.Flush()
	if rows > most {
		fmt.Fprintf(w, "\nand %s more: --all shows them\n", text.Count(rows-most))
	}
}

// shareText returns in words how much of the time of the ranks is in calls.
func (i *activityInfo) shareText() string {
	if !i.Span.known() {
		return "and they end later than 292 years"
	}
	return shareOfTime(i.Time, i.Span) + " of the time of these ranks"
}

// sourceText returns in words what times are known by, and how exact they are.
func sourceText(source string, relative float64) string {
	if source != query.Series.String() {
		return "estimated from " + source
	}
	return "by the times of every call, " + text.Error(timing.Guarantee(relative))
}

// shareOfTime returns how much of the whole a part is, or a dash if there is no whole, or
// it is not known.
func shareOfTime(part, whole nanoseconds) string { return cmp.Or(text.Percent(part, whole), "-") }

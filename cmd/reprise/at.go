package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

func newAt() *cobra.Command {
	var (
		ranks       string
		asJSON, all bool
	)
	cmd := &cobra.Command{
		Use:   "at TRACE.rpz TIME",
		Short: "Show where each rank is at a time",
		Long: `Show which call each rank is in at a time, or which comes next, with its
position and how long it lasts. The time counts from the beginning of the first
call of the run: 1.5s, 20ms, or a number of seconds. So do start_ns and end_ns
of --json; begin_ns is when that call began by the clock of the trace, which
start_ns of reprise cat is of: since 1970, if reprise recorded it.

A trace that has the times of every call tells where the ranks were. One that
has only statistics or histograms tells where they are expected: each call takes
the mean of calls like it, after the mean gap, and every rank counts from its
own first call.

Of a rank in which several threads are in calls, the call that began last is
shown.

` + estimatedThreads + `

The time is searched for in the compressed form, however many calls there are.
The text has times with their units, --json nanoseconds.

Ranks of an MPI program that did not come to MPI_Finalize are named. After the
last call in the trace they may be in another: a call is recorded when it
returns.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; those whose times of every call cannot be read are named and, if the trace
has statistics, are where these say. The exit status is then 1.`,
		Example: `  reprise at run.rpz 1.5s
  reprise at run.rpz 0.02 --ranks 0-3 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("at takes one trace and a time, not %d arguments", len(args))}
			}
			var time timeFlag
			if err := time.Set(args[1]); err != nil {
				return usageError{fmt.Errorf("%q %w", args[1], err)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var time timeFlag
			_ = time.Set(args[1])
			i, lost, err := placesAt(cmd, args[0], time, ranks)
			switch {
			case err != nil:
				return err
			case asJSON:
				printJSON(cmd.OutOrStdout(), i)
			default:
				most := maxRows
				if all {
					most = math.MaxInt
				}
				i.print(cmd.OutOrStdout(), most)
			}
			return warnLost(cmd.ErrOrStderr(), lost.err())
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) { // a time that looks like an option
			var time timeFlag
			text := "-" + unknown.GetSpecifiedShortnames()
			if err := time.Set(text); errors.Is(err, errBefore) {
				return usageError{fmt.Errorf("%q %w", text, err)}
			}
		}
		return cmd.Root().FlagErrorFunc()(cmd, err)
	})
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	f.BoolVar(&all, "all", false, fmt.Sprintf("show all ranks, not the first %d", maxRows))
	addRanks(cmd, &ranks)
	return cmd
}

// An atInfo is what the command at tells of a trace.
type atInfo struct {
	Path  string    `json:"path"`
	Time  int64     `json:"time_ns"`  // since the first call of the run
	Begin int64     `json:"begin_ns"` // of that call, by the clock of the trace; 0 if all times are estimates
	Ranks []atPlace `json:"ranks"`

	threads bool // functions say which thread called them
	cutShort
}

// An atPlace is where a rank is.
type atPlace struct {
	Rank     int     `json:"rank"`
	Source   string  `json:"source"`         // of the times: series, or an estimate from statistics or histograms; none if there are no times
	Error    float64 `json:"relative_error"` // at most, of the times of every call
	State    string  `json:"state,omitempty"`
	Position uint64  `json:"position"`           // of the call that it is in or before; after the last, the number of calls
	Start    *int64  `json:"start_ns,omitempty"` // since the first call of the run
	Duration *int64  `json:"duration_ns,omitempty"`
	End      *int64  `json:"end_ns,omitempty"` // likewise, of the last call, if the rank is after it
	Function string  `json:"function,omitempty"`
	Call     string  `json:"call,omitempty"`
}

// Where a rank may be.
const (
	inCall     = "in"
	beforeCall = "before"
	afterCalls = "after"
)

// placesAt returns where the ranks of an option are at a time, and the ranks that cannot
// be read.
func placesAt(cmd *cobra.Command, path string, time timeFlag, ranks string) (*atInfo, *lostRanks, error) {
	trace, err := openTrace(path)
	if err != nil {
		return nil, nil, err
	}
	defer trace.Close()
	times, err := query.OpenTimes(trace)
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	begin, err := times.Begin()
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	var places []query.RankPlace
	i := &atInfo{Path: path, Time: int64(time), Begin: begin, Ranks: []atPlace{}, threads: hasThreads(trace)}
	lost, err := ask(cmd, trace, path, ranks, "at", func(q query.Options) (err error) {
		if places, err = times.At(cmd.Context(), int64(time), q); err == nil {
			err = i.findUnfinished(cmd.Context(), trace, q)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	lost.what = "the times of "
	printer := trace.Printer(reprise.PrintOptions{})
	timed := false
	for _, p := range places {
		i.Ranks = append(i.Ranks, newAtPlace(p, printer))
		timed = timed || p.Source != query.None
	}
	switch {
	case timed:
	case len(lost.list) > 0:
		return nil, nil, warnLost(cmd.ErrOrStderr(), lost)
	case len(places) > 0:
		return nil, nil, errNoTimes(trace, path)
	}
	return i, lost, nil
}

// estimated reports whether the times of the place are estimates.
func (p atPlace) estimated() bool {
	return p.Source == query.Statistics.String() || p.Source == query.Histograms.String()
}

func newAtPlace(p query.RankPlace, printer *reprise.Printer) atPlace {
	place := atPlace{Rank: p.Rank, Source: p.Source.String(), Error: float64(p.Guarantee), Position: p.Position}
	switch {
	case p.Source == query.None:
		return place
	case p.Position == p.Len:
		place.State = afterCalls
		end := p.Start
		place.End = &end
		return place
	case p.Inside:
		place.State = inCall
	default:
		place.State = beforeCall
	}
	start, duration := p.Start, p.Duration
	place.Start, place.Duration = &start, &duration
	place.Function, place.Call = p.Call.Function.Name, string(printer.AppendCall(nil, p.Call))
	return place
}

func (i *atInfo) print(w io.Writer, most int) {
	if len(i.Ranks) == 0 {
		fmt.Fprintf(w, "%s: no rank has calls\n", i.Path)
		return
	}
	fmt.Fprintf(w, "%s at %s, %s\n", i.Path, text.Duration(i.Time), i.sources())
	i.printSummary(w)
	if i.threads && slices.ContainsFunc(i.Ranks, atPlace.estimated) {
		fmt.Fprintln(w, threadsNote)
	}
	i.printUnfinished(w)
	fmt.Fprintln(w)
	out := newTable(w)
	fmt.Fprintf(out, "rank\tposition\tfor\tlasts\t  where\n")
	for _, p := range i.Ranks[:min(len(i.Ranks), most)] {
		switch p.State {
		case inCall:
			fmt.Fprintf(out, "%d\t%s\t%s\t%s\t  in %s\n", p.Rank, text.Count(p.Position), text.Duration(i.Time-*p.Start), text.Duration(*p.Duration), p.Call)
		case beforeCall:
			fmt.Fprintf(out, "%d\t%s\t\t\t  before %s, in %s\n", p.Rank, text.Count(p.Position), cutName(w, p.Call), text.Duration(*p.Start-i.Time))
		case afterCalls:
			fmt.Fprintf(out, "%d\t%s\t%s\t\t  %s\n", p.Rank, text.Count(p.Position), text.Duration(i.Time-*p.End), i.afterText(p.Rank))
		default:
			fmt.Fprintf(out, "%d\t\t\t\t  has no times\n", p.Rank)
		}
	}
	out.Flush()
	if n := len(i.Ranks) - most; n > 0 {
		fmt.Fprintf(w, "\nand %s: --all shows them\n", text.Plural(n, "more rank"))
	}
}

// afterText says where a rank is after its last call.
func (i *atInfo) afterText(rank int) string {
	if i.unfinished.Contains(rank) {
		return "after the last call in the trace, which is not MPI_Finalize"
	}
	return "after its last call"
}

// sources says what the times are known by.
func (i *atInfo) sources() string {
	weakest := make(map[string]float64) // error of each source
	for _, p := range i.Ranks {
		weakest[p.Source] = max(weakest[p.Source], p.Error)
	}
	delete(weakest, query.None.String())
	var texts []string
	for _, source := range slices.Sorted(maps.Keys(weakest)) {
		texts = append(texts, sourceText(source, weakest[source]))
	}
	return strings.Join(texts, ", and ")
}

// printSummary writes how many ranks are in which function.
func (i *atInfo) printSummary(w io.Writer) {
	in := make(map[string]int)
	between, after := 0, 0
	for _, p := range i.Ranks {
		switch p.State {
		case inCall:
			in[p.Function]++
		case beforeCall:
			between++
		case afterCalls:
			after++
		}
	}
	const most = 5
	names := slices.SortedFunc(maps.Keys(in), func(a, b string) int {
		if in[a] != in[b] {
			return in[b] - in[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, name := range names[:min(len(names), most)] {
		parts = append(parts, fmt.Sprintf("%s in %s", text.Count(in[name]), text.Printable(name)))
	}
	if n := len(names) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("others in %s", text.Plural(n, "more function")))
	}
	if between > 0 {
		parts = append(parts, text.Count(between)+" before a call")
	}
	if after > 0 {
		parts = append(parts, text.Count(after)+" after the last")
	}
	fmt.Fprintf(w, "%s: %s\n", text.Plural(len(i.Ranks), "rank"), strings.Join(parts, ", "))
}

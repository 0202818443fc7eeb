package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

func newAt() *cobra.Command {
	var at timeFlag
	q := newQuestion("at", nil, func(q *question) error { return placesAt(q, at) }, optJSON, optAll, optRanks)
	q.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return badUsage(fmt.Errorf("at takes one trace and a time, not %s", text.Plural(len(args), "argument")))
		}
		return timeError(args[1], at.Set(args[1]))
	}
	q.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) { // a time that looks like an option
			value := "-" + unknown.GetSpecifiedShortnames()
			if err := at.Set(value); errors.Is(err, errBefore) {
				return timeError(value, err)
			}
		}
		return cmd.Root().FlagErrorFunc()(cmd, err)
	})
	return q.Command
}

func timeError(value string, err error) error {
	if err == nil {
		return nil
	}
	return badUsage(fmt.Errorf("%q %w", value, err))
}

// An atAnswer is where ranks are at a time.
type atAnswer struct {
	header
	Time   timeFlag `json:"time_ns"`  // since the first call of the run
	Begin  int64    `json:"begin_ns"` // of that call, by the clock of the trace; 0 if all times are estimates
	Places []place  `json:"by_rank"`
	recorded
}

// A place is where a rank is.
type place struct {
	query.RankPlace
	State    string `json:"state,omitempty"` // in a call, before one, or after the last; empty if there are no times
	Function string `json:"function,omitempty"`
	Call     string `json:"call,omitempty"`
}

// Where a rank may be.
const (
	inCall     = "in"
	beforeCall = "before"
	afterCalls = "after"
)

func placesAt(q *question, at timeFlag) error {
	times, err := query.OpenTimes(q.trace)
	if err != nil {
		return err
	}
	a := &atAnswer{header: q.header(), Time: at, Places: []place{}}
	if a.Begin, err = times.Begin(); err != nil {
		return err
	}
	var places []query.RankPlace
	err = q.query("at", func(o query.Options) (err error) {
		if places, err = times.At(q.Context(), int64(at), o); err == nil {
			a.recorded, err = q.recorded()
		}
		return err
	})
	if err != nil {
		return err
	}
	printer := q.trace.Printer(trace.PrintOptions{})
	for _, p := range places {
		a.Places = append(a.Places, newPlace(p, printer))
	}
	if len(places) > 0 && !slices.ContainsFunc(places, func(p query.RankPlace) bool { return p.Source != query.None }) {
		return query.ErrNoTimes
	}
	return q.answer(a, func() { a.print(q) })
}

func newPlace(p query.RankPlace, printer *trace.Printer) place {
	at := place{RankPlace: p}
	switch {
	case p.Source == query.None:
		return at
	case p.Position == p.Len:
		at.State = afterCalls
		return at
	case p.Inside:
		at.State = inCall
	default:
		at.State = beforeCall
	}
	at.Function, at.Call = p.Call.Function.Name, string(printer.AppendCall(nil, p.Call))
	return at
}

// estimated reports whether the times of the place are estimates.
func (p place) estimated() bool { return p.Source == query.Statistics || p.Source == query.Histograms }

func (a *atAnswer) print(q *question) {
	if len(a.Places) == 0 {
		q.printf("%s: no rank has calls\n", text.Printable(q.path))
		return
	}
	off := startError{known: true}
	for _, p := range a.Places {
		if p.Source == query.Series {
			off.add(p.Guarantee, p.StartError)
		}
	}
	q.printf("%s at %s, %s\n%s", text.Printable(q.path), text.Duration(int64(a.Time)), a.sources(), off.line())
	q.printf("%s: %s\n", text.Plural(len(a.Places), "rank"), a.summary())
	if query.HasThreads(q.trace) && slices.ContainsFunc(a.Places, place.estimated) {
		q.printf("%s\n", threadsNote)
	}
	a.recorded.print(q.OutOrStdout())
	q.printf("\n")
	t := q.table("rank", "position", "elapsed", "duration", "<state")
	for _, p := range a.Places {
		since := text.Duration(int64(a.Time) - p.Start)
		switch p.State {
		case inCall:
			t.Row(text.ID(p.Rank), p.Position, since, text.Duration(p.Duration), "in "+p.Call)
		case beforeCall:
			t.Row(text.ID(p.Rank), p.Position, "", "", fmt.Sprintf("%s before %s", text.Duration(p.Start-int64(a.Time)), p.Call))
		case afterCalls:
			where := "after its last call"
			if a.Unfinished.Contains(p.Rank) {
				where = "after its last call: no MPI_Finalize"
			}
			t.Row(text.ID(p.Rank), p.Position, since, "", where)
		default:
			t.Row(text.ID(p.Rank), "", "", "", "has no times")
		}
	}
	t.Close()
}

// sources says where the times are from.
func (a *atAnswer) sources() string {
	weakest := make(map[query.Source]timing.Guarantee)
	for _, p := range a.Places {
		weakest[p.Source] = max(weakest[p.Source], p.Guarantee)
	}
	delete(weakest, query.None)
	var texts []string
	for _, source := range slices.Sorted(maps.Keys(weakest)) {
		texts = append(texts, sourceText(source, weakest[source]))
	}
	return strings.Join(texts, ", and ")
}

// summary says how many ranks are in which function.
func (a *atAnswer) summary() string {
	in := make(map[string]int)
	between, after := 0, 0
	for _, p := range a.Places {
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
	return strings.Join(parts, ", ")
}

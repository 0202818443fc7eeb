package answer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

func NewAt() *cobra.Command {
	var at cli.TimeFlag
	q := cli.NewQuestion("at", nil, func(q *cli.Question) error {
		return placesAt(q, at)
	}, cli.OptJSON, cli.OptAll, cli.OptRanks)
	q.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return cli.BadUsage(fmt.Errorf("at takes one trace and a time, not %s", text.Plural(len(args), "argument")))
		}
		return timeError(args[1], at.Set(args[1]))
	}
	q.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) { // a time that looks like an option
			value := "-" + unknown.GetSpecifiedShortnames()
			if err := at.Set(value); errors.Is(err, cli.ErrBefore) {
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
	return cli.BadUsage(fmt.Errorf("%q %w", value, err))
}

// An At is where ranks are at a time.
type At struct {
	cli.Header
	Time   cli.TimeFlag `json:"time_ns"`  // since the first call of the run
	Begin  int64        `json:"begin_ns"` // of that call, by the clock of the trace; 0 if all times are estimates
	Places []place      `json:"by_rank"`
	cli.Recorded
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
	InCall     = "in"
	BeforeCall = "before"
	AfterCalls = "after"
)

func placesAt(q *cli.Question, at cli.TimeFlag) error {
	times, err := query.OpenTimes(q.Trace)
	if err != nil {
		return err
	}
	a := &At{Header: q.Header(), Time: at, Places: []place{}}
	if a.Begin, err = times.Begin(); err != nil {
		return err
	}
	var places []query.RankPlace
	err = q.Query("at", func(o query.Options) (err error) {
		if places, err = times.At(q.Context(), int64(at), o); err == nil {
			a.Recorded, err = q.Recorded()
		}
		return err
	})
	if err != nil {
		return err
	}
	printer := q.Trace.Printer(trace.PrintOptions{})
	for _, p := range places {
		a.Places = append(a.Places, newPlace(p, printer))
	}
	return q.Answer(a, func() { a.print(q) })
}

func newPlace(p query.RankPlace, printer *trace.Printer) place {
	at := place{RankPlace: p}
	switch {
	case p.Source == query.None:
		return at
	case p.Position == p.Len:
		at.State = AfterCalls
		return at
	case p.Inside:
		at.State = InCall
	default:
		at.State = BeforeCall
	}
	at.Function, at.Call = p.Call.Function.Name, string(printer.AppendCall(nil, p.Call))
	return at
}

// estimated reports whether the times of the place are estimates.
func (p place) estimated() bool { return p.Source == query.Statistics || p.Source == query.Histograms }

func (a *At) print(q *cli.Question) {
	if len(a.Places) == 0 {
		q.Printf("%s: no rank has calls\n", text.Printable(q.Path))
		return
	}
	off := startError{known: true, inArchive: a.TimesInArchive}
	for _, p := range a.Places {
		if p.Source == query.Series {
			off.add(p.Guarantee, p.StartError)
		}
	}
	q.Printf("%s at %s, %s\n%s", text.Printable(q.Path), text.Duration(int64(a.Time)), a.sources(q), off.line())
	q.Printf("%s: %s\n", text.Plural(len(a.Places), "rank"), a.summary())
	if query.HasThreads(q.Trace) && slices.ContainsFunc(a.Places, place.estimated) {
		q.Printf("%s\n", cli.ThreadsNote)
	}
	a.Recorded.Print(q.OutOrStdout())
	q.Printf("\n")
	t := q.Table("rank", "position", "elapsed", "duration", "<state")
	for _, p := range a.Places {
		since := text.Duration(int64(a.Time) - p.Start)
		switch p.State {
		case InCall:
			t.Row(text.ID(p.Rank), p.Position, since, text.Duration(p.Duration), "in "+p.Call)
		case BeforeCall:
			t.Row(text.ID(p.Rank), p.Position, "", "", fmt.Sprintf("%s before %s",
				text.Duration(p.Start-int64(a.Time)), p.Call))
		case AfterCalls:
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
func (a *At) sources(q *cli.Question) string {
	weakest := make(map[query.Source]timing.Guarantee)
	for _, p := range a.Places {
		weakest[p.Source] = max(weakest[p.Source], p.Guarantee)
	}
	delete(weakest, query.None)
	var texts []string
	for _, source := range slices.Sorted(maps.Keys(weakest)) {
		texts = append(texts, q.SourceText(source, weakest[source]))
	}
	return strings.Join(texts, ", and ")
}

// summary says how many ranks are in which function.
func (a *At) summary() string {
	in := make(map[string]int)
	between, after := 0, 0
	for _, p := range a.Places {
		switch p.State {
		case InCall:
			in[p.Function]++
		case BeforeCall:
			between++
		case AfterCalls:
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

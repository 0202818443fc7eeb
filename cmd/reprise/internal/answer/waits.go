package answer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/waits"
)

func NewWaits() *cobra.Command {
	var all bool // of the times of every call
	q := cli.NewQuestion("waits", nil, func(q *cli.Question) error {
		return waitsOf(q, all)
	}, cli.OptJSON, cli.OptAll, cli.OptRanks, cli.OptRegion)
	q.Aliases = []string{"imbalance"} // as it was called
	cli.AddSeries(q, &all)
	return q.Command
}

// A Waits is the calls in which ranks wait.
type Waits struct {
	cli.Header

	// States are nil if the trace does not say which calls waited: Unknown is why.
	States  *waits.Run `json:"wait_states"`
	Unknown string     `json:"wait_states_unknown,omitempty"`

	// Bounds are how long ranks wait at most in collective operations, if States are nil and it is known.
	Bounds []waits.Bound `json:"collective_waits,omitempty"`

	*query.Imbalance

	// Late are the receives that wait for late senders, if States are nil and the times of every call are read.
	Late []query.LateSender `json:"late_senders,omitempty"`

	alone bool // of one rank
}

func waitsOf(q *cli.Question, all bool) error {
	a := &Waits{Header: q.Header(), alone: q.Ranks != nil && q.Ranks.Len() == 1 || q.Trace.RankSet().Len() == 1}
	err := q.Query("times of every call", func(o query.Options) (err error) {
		o.Series = all
		a.Imbalance, err = query.OpenImbalance(q.Context(), q.Trace, o)
		return err
	})
	if err == nil {
		err = a.addStates(q, all)
	}
	if err == nil && a.States == nil && q.Region == nil {
		err = a.addBounds(q)
	}
	if err != nil {
		return err
	}
	call := q.Calls()
	for i := range a.Sites {
		a.Sites[i].Call = call(a.Sites[i].Signature)
	}
	for i := range a.Late {
		a.Late[i].Call = call(a.Late[i].Signature)
	}
	return q.Answer(a, func() { a.print(q) })
}

// addStates adds the calls that waited, or why they are not known.
func (a *Waits) addStates(q *cli.Question, all bool) error {
	switch {
	case a.Exact:
	case !a.NoSeries:
		a.Unknown = "they need the times of every call, which --series reads"
		return nil
	case q.Trace.Run().Source == collect.Source:
		a.Unknown = cli.ErrNoSeries.Error()
		return nil
	default:
		return nil
	}
	model, err := semantics.Open(q.Context(), q.Trace)
	if err != nil {
		return err
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "waits of "+q.Path, q.TotalCalls(), "calls")
	a.States, err = waits.Open(q.Context(), model, waits.Options{Ranks: q.Ranks, Region: q.Region,
		Series: all, Progress: bar.Show})
	bar.Done()
	switch {
	case errors.Is(err, waits.ErrUnknownCalls):
		return nil
	case errors.Is(err, replay.ErrThreadsUnordered):
		err = errors.New(cli.UnorderedNote)
	case errors.Is(err, waits.ErrUnasked):
		err = fmt.Errorf("the trace has more than %s calls: --series reads all of them", text.Count(query.MaxUnasked))
	}
	if err != nil && q.Context().Err() == nil {
		a.Unknown = strings.TrimPrefix(err.Error(), "waits: ")
		if differ := (*waits.ClocksError)(nil); errors.As(err, &differ) {
			return nil
		}
		err = a.addLate(q, model)
	}
	return err
}

// addBounds adds how long ranks wait at most in collective operations.
func (a *Waits) addBounds(q *cli.Question) error {
	model, err := semantics.Open(q.Context(), q.Trace)
	if err == nil {
		a.Bounds, err = waits.Bounds(q.Context(), model, q.Ranks)
	}
	return err
}

// printBounds prints how long ranks wait at most in collective operations.
func (a *Waits) printBounds(q *cli.Question) {
	if len(a.Bounds) == 0 {
		return
	}
	q.Printf("waits in blocking collective operations, at most\n\n")
	t := q.Table("<call", "rank", "wait time at most", "calls")
	for _, b := range a.Bounds {
		t.Row(answers.Site(b.Site), text.ID(b.Rank), text.Duration(roundedUp(b.Most)), b.Calls)
	}
	t.Close()
	q.Printf("\n")
}

// roundedUp returns a bound of a time in two digits.
func roundedUp(n query.Nanoseconds) query.Nanoseconds {
	const two = 100
	unit := query.Nanoseconds(1)
	for n > two*unit {
		unit *= 10
	}
	return query.Nanoseconds(math.Ceil(float64(n/unit))) * unit
}

// addLate adds the receives that wait for late senders, if it is known what messages there are.
func (a *Waits) addLate(q *cli.Question, model *semantics.Model) error {
	if a.Unordered || q.Region != nil {
		return nil
	}
	times, err := query.OpenTimes(q.Trace)
	if err != nil {
		return err
	}
	o := query.Options{Ranks: q.Ranks}
	m, err := query.OpenMatch(q.Context(), model, o)
	if err != nil {
		return err
	}
	list, err := m.LateSenders(q.Context(), times, o)
	a.Late = slices.DeleteFunc(list, func(s query.LateSender) bool { return s.Late == 0 })
	return err
}

// printStates prints the calls that waited, and what they waited for.
func (a *Waits) printStates(q *cli.Question) {
	r := a.States
	if r == nil {
		if a.Unknown != "" { // else it is not known what calls do, or who recorded them
			q.Printf("%s: wait states are not known: %s\n\n", text.Printable(q.Path), a.Unknown)
		}
		a.printBounds(q)
		return
	}
	whole := r.Time * query.Nanoseconds(r.Ranks)
	q.Printf("%s: ranks wait %s for others, %s of %s of all ranks", text.Printable(q.Path),
		text.Around(r.Wait, r.WaitError), text.Percent(r.Wait, whole), text.Duration(whole))
	q.Printf("\n")
	rows := func(n int, wait func(i int) query.Nanoseconds) int {
		most, all := q.Most(), sort.Search(n, func(i int) bool { return wait(i) < r.Wait/smallest })
		if q.All {
			return text.All
		}
		return max(1, min(most, all))
	}
	if len(r.Causes) > 0 {
		q.Printf("\ndelays\n\n")
		t := text.NewTable(q.OutOrStdout(), rows(len(r.Causes), func(i int) query.Nanoseconds {
			return r.Causes[i].Cost
		}),
			"<cause", "rank", "cost", "", "?passed on")
		for _, c := range r.Causes {
			t.Row(answers.Delay(&c.Delay), text.ID(c.Rank), text.Duration(c.Cost), text.Percent(c.Cost, whole),
				text.Percent(c.Cost-c.Direct, c.Cost))
		}
		t.Close()
		q.Printf("\nwait states\n\n")
		t = text.NewTable(q.OutOrStdout(), rows(len(r.Victims), func(i int) query.Nanoseconds {
			return r.Victims[i].Wait
		}),
			"<wait state", "rank", "wait time", "", "?longest", "calls", "for rank")
		for _, v := range r.Victims {
			t.Row(v.Kind+", "+answers.Site(v.Site), text.ID(v.Rank), text.Around(v.Wait, v.Error),
				text.Percent(v.Wait, whole), text.Duration(v.Max), v.Calls, text.ID(v.For))
		}
		t.Close()
	}
	a.printPath(q)
	for _, note := range answers.WaitsNotes(r) {
		q.Printf("%s\n", note)
	}
	q.Printf("\n")
}

// smallest is what part of all waiting a row has at least, unless all are to be shown.
const smallest = 1000

// printPath prints what most of the critical path is.
func (a *Waits) printPath(q *cli.Question) {
	p := &a.States.Path
	if len(p.Steps) == 0 || a.alone {
		return
	}
	most := max(1, sort.Search(len(p.Steps), func(i int) bool { return p.Steps[i].Time < p.Time/100 }))
	if q.All {
		most = text.All
	}
	q.Printf("\ncritical path, %s, %s of it beyond the mean of ranks\n\n", text.Duration(p.Time),
		text.Percent(p.Imbalance, p.Time))
	t := text.NewTable(q.OutOrStdout(), most, "<step", "rank", "time", "", "?mean")
	for _, s := range p.Steps {
		t.Row(answers.Delay(&s.Delay), text.ID(s.Rank), text.Duration(s.Time), text.Percent(s.Time, p.Time),
			text.Duration(s.Mean))
	}
	t.Close()
}

func (a *Waits) print(q *cli.Question) {
	a.printStates(q)
	about := "; the wait time is an upper bound: the time of all calls beyond the shortest"
	if a.Exact {
		about = "; the wait time is the time beyond the mean of the fastest rank"
	}
	q.Printf("%s: %s in calls", text.Printable(q.Path), text.Around(a.Total, a.Error))
	if a.alone {
		q.Printf("\none rank cannot be compared with others: choose several, or see its calls with profile --ranks\n")
		a.printGroups(q)
		a.printLate(q)
		return
	}
	byFunction := len(a.Functions) > 0 && !a.Exact
	if byFunction {
		q.Printf("\n")
	} else {
		q.Printf("%s\n", about)
	}
	if a.Overlapping {
		q.Printf("%s\n", OverlapNote)
	}
	if a.Slowest != nil {
		q.Printf("rank %d is the slowest: %s outside calls, mean %s\n", a.Slowest.Rank,
			text.Around(a.Slowest.Outside, a.Slowest.Error), text.Around(a.Slowest.Mean, a.Slowest.Error))
	}
	if byFunction {
		a.printFunctions(q)
	}
	if byFunction && len(a.Sites) > 0 {
		q.Printf("\nby signature%s\nit may be far above the wait time by function\n", about)
	}
	if !byFunction || len(a.Sites) > 0 {
		a.printSites(q)
	}
	a.printGroups(q)
	a.printLate(q)
}

// printFunctions prints the table of functions.
func (a *Waits) printFunctions(q *cli.Question) {
	off, of := query.Nanoseconds(0), query.Nanoseconds(0)
	for _, f := range a.Functions {
		off, of = off+f.Error, of+f.Time
	}
	q.Printf("by function, %s; the wait time is the time beyond the mean of the fastest rank\n\n", keptText(off, of))
	t := q.Table("<function", "wait time", "", "?calls", "?ranks", "mean", "fastest", "&rank", "slowest", "&rank")
	for _, f := range a.Functions {
		t.Row(text.Printable(f.Name), text.Around(f.Wait, f.WaitError), shareInRun(f.Wait, a.Total, f.Name), f.Calls,
			f.Ranks, text.Duration(f.Mean), text.Duration(f.Fast.Mean), text.ID(f.Fast.Rank),
			text.Duration(f.Slow.Mean), text.ID(f.Slow.Rank))
	}
	t.Close()
}

// printSites prints the table of signatures.
func (a *Waits) printSites(q *cli.Question) {
	wait := "wait time at most"
	columns := []string{"calls", "?ranks", "mean", "?min", "&in rank", "?max", "&in rank"}
	if a.Exact {
		wait = "wait time"
		columns = append(columns, "fastest", "rank", "slowest", "rank")
	}
	q.Printf("\n")
	t := q.Table(append([]string{"<signature", wait, ""}, columns...)...)
	for _, s := range a.Sites {
		cells := []any{s.Call, text.Around(s.Wait, s.WaitError), shareInRun(s.Wait, a.Total, s.Function), s.Calls,
			s.Ranks, text.Duration(s.Mean),
			text.Duration(s.Min), text.ID(s.MinRank), text.Duration(s.Max), text.ID(s.MaxRank)}
		if a.Exact {
			cells = append(cells, text.Duration(s.Fast.Mean), text.ID(s.Fast.Rank),
				text.Duration(s.Slow.Mean), text.ID(s.Slow.Rank))
		}
		t.Row(cells...)
	}
	t.Close()
}

// groupsFrom is the share of the time that calls wait whose groups are shown.
const groupsFrom = 0.01

// printGroups prints the groups of durations of calls that have several.
func (a *Waits) printGroups(q *cli.Question) {
	title := "\ngroups of durations\n"
	sites := a.Sites
	if most := q.Most(); most != text.All {
		sites = sites[:min(len(sites), most)]
	}
	for _, s := range sites {
		if len(s.Groups) < 2 || s.Wait < groupsFrom*a.Total {
			continue
		}
		q.Printf("%s  %s\n", title, s.Call)
		title = ""
		for _, g := range s.Groups {
			q.Printf("    %6s of about %s, from %s to %s\n", text.Percent(g.Calls, s.Calls),
				text.Duration(g.Mean), text.Duration(g.Low), text.Duration(g.High))
		}
	}
}

func (a *Waits) printLate(q *cli.Question) {
	if a.States != nil || len(a.Late) == 0 { // they are among the calls that waited
		return
	}
	off, sample := startError{known: true, inArchive: a.TimesInArchive}, ""
	for _, s := range a.Late {
		off.add(s.Guarantee, s.StartError)
		if uint64(s.Sampled) < s.Receives {
			sample = "\nthe wait time is estimated from a sample"
		}
	}
	q.Printf("\nreceives that wait for a late sender, %s%s\n\n", off.text("waits"), sample)
	t := q.Table("<signature", "wait time", "", "receives", "?sample", "late", "main sender", "")
	for _, s := range a.Late {
		t.Row(s.Call, text.Duration(s.Wait), text.Percent(s.Wait, a.Total), s.Receives, s.Sampled,
			text.Percent(s.Late, s.Sampled), text.ID(s.Sender), text.Percent(s.SenderShare, 1))
	}
	t.Close()
}

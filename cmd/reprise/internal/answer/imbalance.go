package answer

import (
	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
)

func NewImbalance() *cobra.Command {
	var all bool // of the times of every call
	q := cli.NewQuestion("imbalance", nil, func(q *cli.Question) error {
		return imbalance(q, all)
	}, cli.OptJSON, cli.OptAll, cli.OptRanks)
	cli.AddSeries(q, &all)
	return q.Command
}

// An Imbalance is the calls in which ranks wait.
type Imbalance struct {
	cli.Header
	*query.Imbalance

	alone bool // of one rank
}

func imbalance(q *cli.Question, all bool) error {
	a := &Imbalance{Header: q.Header(), alone: q.Ranks != nil && q.Ranks.Len() == 1 || q.Trace.RankSet().Len() == 1}
	err := q.Query("times of every call", func(o query.Options) (err error) {
		o.Series = all
		a.Imbalance, err = query.OpenImbalance(q.Context(), q.Trace, o)
		return err
	})
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

func (a *Imbalance) print(q *cli.Question) {
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
func (a *Imbalance) printFunctions(q *cli.Question) {
	off, of := query.Nanoseconds(0), query.Nanoseconds(0)
	for _, f := range a.Functions {
		off, of = off+f.Error, of+f.Time
	}
	q.Printf("by function, %s; the wait time is the time beyond the mean of the fastest rank\n\n", keptText(off, of))
	t := q.Table("wait time", "", "?calls", "?ranks", "mean", "fastest", "&rank", "slowest", "&rank", "<function")
	for _, f := range a.Functions {
		t.Row(text.Around(f.Wait, f.WaitError), text.Percent(f.Wait, a.Total), f.Calls, f.Ranks, text.Duration(f.Mean),
			text.Duration(f.Fast.Mean), text.ID(f.Fast.Rank), text.Duration(f.Slow.Mean),
			text.ID(f.Slow.Rank), text.Printable(f.Name))
	}
	t.Close()
}

// printSites prints the table of signatures.
func (a *Imbalance) printSites(q *cli.Question) {
	wait := "wait time at most"
	columns := []string{"calls", "?ranks", "mean", "?min", "&in rank", "?max", "&in rank"}
	if a.Exact {
		wait = "wait time"
		columns = append(columns, "fastest", "rank", "slowest", "rank")
	}
	q.Printf("\n")
	t := q.Table(append(append([]string{wait, ""}, columns...), "<signature")...)
	for _, s := range a.Sites {
		cells := []any{text.Around(s.Wait, s.WaitError), text.Percent(s.Wait, a.Total), s.Calls, s.Ranks,
			text.Duration(s.Mean),
			text.Duration(s.Min), text.ID(s.MinRank), text.Duration(s.Max), text.ID(s.MaxRank)}
		if a.Exact {
			cells = append(cells, text.Duration(s.Fast.Mean), text.ID(s.Fast.Rank),
				text.Duration(s.Slow.Mean), text.ID(s.Slow.Rank))
		}
		t.Row(append(cells, s.Call)...)
	}
	t.Close()
}

// groupsFrom is the share of the time that calls wait whose groups are shown.
const groupsFrom = 0.01

// printGroups prints the groups of durations of calls that have several.
func (a *Imbalance) printGroups(q *cli.Question) {
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

func (a *Imbalance) printLate(q *cli.Question) {
	switch {
	case a.Unordered:
		q.Printf("\nno late senders: %s\n", cli.UnorderedNote)
	case a.NoSeries && q.Trace.Run().Source == collect.Source:
		q.Printf("\nno late senders: %v\n", cli.ErrNoSeries)
	}
	if len(a.Late) == 0 {
		return
	}
	off, sample := startError{known: true}, ""
	for _, s := range a.Late {
		off.add(s.Guarantee, s.StartError)
		if uint64(s.Sampled) < s.Receives {
			sample = "\nthe wait time is estimated from a sample"
		}
	}
	q.Printf("\nreceives that wait for a late sender, %s%s\n\n", off.text("waits"), sample)
	t := q.Table("wait time", "", "receives", "?sample", "late", "main sender", "", "<signature")
	for _, s := range a.Late {
		t.Row(text.Duration(s.Wait), text.Percent(s.Wait, a.Total), s.Receives, s.Sampled,
			text.Percent(s.Late, s.Sampled), text.ID(s.Sender), text.Percent(s.SenderShare, 1), s.Call)
	}
	t.Close()
}

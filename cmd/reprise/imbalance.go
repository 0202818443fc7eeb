package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
)

func newImbalance() *cobra.Command {
	var all bool // of the times of every call
	q := newQuestion("imbalance", nil, func(q *question) error { return imbalance(q, all) }, optJSON, optAll, optRanks)
	addSeries(q, &all)
	return q.Command
}

// An imbalanceAnswer is the calls in which ranks wait.
type imbalanceAnswer struct {
	header
	*query.Imbalance

	alone bool // of one rank
}

func imbalance(q *question, all bool) error {
	a := &imbalanceAnswer{header: q.header(), alone: q.ranks != nil && q.ranks.Len() == 1 || q.trace.RankSet().Len() == 1}
	err := q.query("times of every call", func(o query.Options) (err error) {
		o.Series = all
		a.Imbalance, err = query.OpenImbalance(q.Context(), q.trace, o)
		return err
	})
	if err != nil {
		return err
	}
	call := q.calls()
	for i := range a.Sites {
		a.Sites[i].Call = call(a.Sites[i].Signature)
	}
	for i := range a.Late {
		a.Late[i].Call = call(a.Late[i].Signature)
	}
	return q.answer(a, func() { a.print(q) })
}

func (a *imbalanceAnswer) print(q *question) {
	about := "; the wait time is an upper bound: the time of all calls beyond the shortest"
	if a.Exact {
		about = "; the wait time is the time beyond the mean of the fastest rank"
	}
	q.printf("%s: %s in calls", text.Printable(q.path), text.Around(a.Total, a.Error))
	if a.alone {
		q.printf("\none rank cannot be compared with others: choose several, or see its calls with profile --ranks\n")
		a.printGroups(q)
		a.printLate(q)
		return
	}
	byFunction := len(a.Functions) > 0 && !a.Exact
	if byFunction {
		q.printf("\n")
	} else {
		q.printf("%s\n", about)
	}
	if a.Overlapping {
		q.printf("%s\n", overlapNote)
	}
	if a.Slowest != nil {
		q.printf("rank %d is the slowest: %s outside calls, mean %s\n", a.Slowest.Rank, text.Around(a.Slowest.Outside, a.Slowest.Error), text.Around(a.Slowest.Mean, a.Slowest.Error))
	}
	if byFunction {
		a.printFunctions(q)
	}
	if byFunction && len(a.Sites) > 0 {
		q.printf("\nby signature%s\nit may be far above the wait time by function\n", about)
	}
	if !byFunction || len(a.Sites) > 0 {
		a.printSites(q)
	}
	a.printGroups(q)
	a.printLate(q)
}

// printFunctions prints the table of functions.
func (a *imbalanceAnswer) printFunctions(q *question) {
	off, of := query.Nanoseconds(0), query.Nanoseconds(0)
	for _, f := range a.Functions {
		off, of = off+f.Error, of+f.Time
	}
	q.printf("by function, %s; the wait time is the time beyond the mean of the fastest rank\n\n", keptText(off, of))
	t := q.table("wait time", "", "?calls", "?ranks", "mean", "fastest", "&rank", "slowest", "&rank", "<function")
	for _, f := range a.Functions {
		t.Row(text.Around(f.Wait, f.WaitError), text.Percent(f.Wait, a.Total), f.Calls, f.Ranks, text.Duration(f.Mean),
			text.Duration(f.Fast.Mean), text.ID(f.Fast.Rank), text.Duration(f.Slow.Mean), text.ID(f.Slow.Rank), text.Printable(f.Name))
	}
	t.Close()
}

// printSites prints the table of signatures.
func (a *imbalanceAnswer) printSites(q *question) {
	wait := "wait time at most"
	columns := []string{"calls", "?ranks", "mean", "?min", "&in rank", "?max", "&in rank"}
	if a.Exact {
		wait = "wait time"
		columns = append(columns, "fastest", "rank", "slowest", "rank")
	}
	q.printf("\n")
	t := q.table(append(append([]string{wait, ""}, columns...), "<signature")...)
	for _, s := range a.Sites {
		cells := []any{text.Around(s.Wait, s.WaitError), text.Percent(s.Wait, a.Total), s.Calls, s.Ranks, text.Duration(s.Mean),
			text.Duration(s.Min), text.ID(s.MinRank), text.Duration(s.Max), text.ID(s.MaxRank)}
		if a.Exact {
			cells = append(cells, text.Duration(s.Fast.Mean), text.ID(s.Fast.Rank), text.Duration(s.Slow.Mean), text.ID(s.Slow.Rank))
		}
		t.Row(append(cells, s.Call)...)
	}
	t.Close()
}

// groupsFrom is the share of the time that calls wait whose groups are shown.
const groupsFrom = 0.01

// printGroups prints the groups of durations of calls that have several.
func (a *imbalanceAnswer) printGroups(q *question) {
	title := "\ngroups of durations\n"
	sites := a.Sites
	if most := q.most(); most != text.All {
		sites = sites[:min(len(sites), most)]
	}
	for _, s := range sites {
		if len(s.Groups) < 2 || s.Wait < groupsFrom*a.Total {
			continue
		}
		q.printf("%s  %s\n", title, s.Call)
		title = ""
		for _, g := range s.Groups {
			q.printf("    %6s of about %s, from %s to %s\n", text.Percent(g.Calls, s.Calls), text.Duration(g.Mean), text.Duration(g.Low), text.Duration(g.High))
		}
	}
}

func (a *imbalanceAnswer) printLate(q *question) {
	switch {
	case a.Unordered:
		q.printf("\nno late senders: %s\n", unorderedNote)
	case a.NoSeries && q.trace.Run().Source == collect.Source:
		q.printf("\nno late senders: %v\n", errNoSeries)
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
	q.printf("\nreceives that wait for a late sender, %s%s\n\n", off.text("waits"), sample)
	t := q.table("wait time", "", "receives", "?sample", "late", "main sender", "", "<signature")
	for _, s := range a.Late {
		t.Row(text.Duration(s.Wait), text.Percent(s.Wait, a.Total), s.Receives, s.Sampled,
			text.Percent(s.Late, s.Sampled), text.ID(s.Sender), text.Percent(s.SenderShare, 1), s.Call)
	}
	t.Close()
}

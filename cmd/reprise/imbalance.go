package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
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
	Exact bool               `json:"exact"`         // the wait time is what ranks take beyond the fastest one, not an upper bound
	Total query.Nanoseconds  `json:"time_ns"`       // in all calls
	Error query.Nanoseconds  `json:"time_error_ns"` // how far that may be off
	Sites []query.Site       `json:"signatures"`
	Late  []query.LateSender `json:"late_senders,omitempty"`

	Functions []query.FunctionRanks `json:"functions,omitempty"`    // from the times that the trace keeps of each rank
	Slowest   *query.SlowRank       `json:"slowest_rank,omitempty"` // likewise; left out if it is not known

	kept string // how exact these are

	overlapping bool // calls of a rank overlap
	alone       bool // of one rank
	untimed     bool // no rank has the times of every call, so that late senders are not known

	Unordered bool `json:"threads_unordered,omitzero"` // which message a receive got is not known, nor who was late
}

func imbalance(q *question, all bool) error {
	q.wholeSet()
	times, err := query.OpenTimes(q.trace)
	if err != nil {
		return err
	}
	timed, _, err := q.trace.SeriesRanks()
	if err != nil {
		return err
	}
	o := query.Options{Ranks: q.ranks}
	kept := times.HasRanks(o)
	exact, err := readsSeries(q, all, kept, times, timed)
	if err != nil {
		return err
	}
	a := &imbalanceAnswer{header: q.header(), Exact: exact, alone: q.ranks != nil && q.ranks.Len() == 1 || q.trace.RankSet().Len() == 1}
	a.Unordered = q.trace.Run().ThreadsUnordered
	a.untimed = timed.Len() == 0 && q.trace.Run().Source == collect.Source
	if kept {
		if err := a.addRanks(q, times, o); err != nil {
			return err
		}
	}
	read := times
	if exact {
		err = q.query("times of every call", func(o query.Options) (err error) {
			read, err = times.ReadSeries(q.Context(), o)
			return err
		})
		if err != nil {
			return err
		}
	}
	call := q.calls()
	if exact || !q.leavesOut() { // statistics are of all ranks together
		if a.Sites, err = read.Imbalance(); err != nil {
			return err
		}
		a.sum(call)
	}
	if exact && !a.Unordered {
		if err := a.addLate(q, times, call); err != nil {
			return err
		}
	}
	return q.answer(a, func() { a.print(q) })
}

// sum names the signatures and sums up their times, unless the sums that are kept of the same calls are nearer.
func (a *imbalanceAnswer) sum(call func(int) string) {
	total, off, calls := query.Nanoseconds(0), query.Nanoseconds(0), uint64(0)
	for i := range a.Sites {
		s := &a.Sites[i]
		s.Call = call(s.Signature)
		total, off, calls = total+s.Total, off+s.Error, calls+s.Calls
	}
	for _, f := range a.Functions {
		calls -= f.Calls
	}
	if calls != 0 || off <= a.Error {
		a.Total, a.Error = total, off
	}
}

// addRanks adds what the trace keeps of the times of ranks.
func (a *imbalanceAnswer) addRanks(q *question, times *query.Times, o query.Options) error {
	p, err := query.OpenProfile(q.Context(), q.trace, o)
	if err != nil {
		return err
	}
	b, err := times.ByRank(q.Context(), p, false, o)
	if err != nil {
		return err
	}
	a.Functions, a.Slowest = b.Functions, b.Slowest()
	off, of := query.Nanoseconds(0), query.Nanoseconds(0)
	for _, f := range b.Functions {
		off, of = off+f.Error, of+f.Time
	}
	a.kept, a.overlapping = keptText(off, of), overlapping(b.Ranks)
	for _, r := range b.Ranks {
		a.Total, a.Error = a.Total+r.Time, a.Error+r.Error
	}
	return nil
}

// readsSeries reports whether the times of every call are read: those of the chosen
// ranks, if that is asked for, if there is nothing else, or if they are not too many. If kept is
// set, the trace keeps times of each of them.
func readsSeries(q *question, all, kept bool, times *query.Times, timed rankenc.Set) (bool, error) {
	switch {
	case all && timed.Len() == 0:
		return false, errNoSeries
	case !times.Summarized() && timed.Len() == 0:
		return false, errNoTimes(q.path, q.trace)
	case all || !times.Summarized():
		return true, nil
	case timed.Len() == 0 && (kept || !q.leavesOut()):
		return false, nil
	case timed.Len() == 0:
		return false, fmt.Errorf("the trace has only statistics of all ranks%s: reprise record --times all keeps those of each rank", leftOutText(q.trace))
	}
	p, err := query.OpenProfile(q.Context(), q.trace, query.Options{Ranks: q.ranks})
	if err != nil {
		return false, err
	}
	readable, calls := timedRanks(p, timed)
	few := readable.Len() == p.Ranks && p.Ranks > 0 && calls <= maxUnasked
	if q.leavesOut() && !few && !kept {
		return false, usageError{errors.New("statistics are of all ranks together: --ranks goes with --series")}
	}
	return few, nil
}

// addLate adds the receives that wait for late senders, if it is known what messages
// there are.
func (a *imbalanceAnswer) addLate(q *question, times *query.Times, call func(int) string) error {
	model, err := semantics.Open(q.Context(), q.trace)
	if err != nil || !model.Known() {
		return err
	}
	o := query.Options{Ranks: q.ranks}
	m, err := query.OpenMatch(q.Context(), model, o)
	if err != nil {
		return err
	}
	list, err := m.LateSenders(q.Context(), times, o)
	if err != nil {
		return err
	}
	a.Late = slices.DeleteFunc(list, func(s query.LateSender) bool { return s.Late == 0 })
	for i := range a.Late {
		a.Late[i].Call = call(a.Late[i].Signature)
	}
	return nil
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
	if a.overlapping {
		q.printf("%s\n", overlapNote)
	}
	if a.Slowest != nil {
		q.printf("rank %d is the slowest: %s outside calls, where the mean is %s\n", a.Slowest.Rank, text.Around(a.Slowest.Outside, a.Slowest.Error), text.Around(a.Slowest.Mean, a.Slowest.Error))
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
	q.printf("by function, %s; the wait time is the time beyond the mean of the fastest rank\n\n", a.kept)
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
	case a.untimed:
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

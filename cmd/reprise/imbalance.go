package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/timing"
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
	Exact bool               `json:"exact"`   // the wait time is what ranks take beyond the fastest one, not an upper bound
	Total query.Nanoseconds  `json:"time_ns"` // in all calls
	Sites []query.Site       `json:"signatures"`
	Late  []query.LateSender `json:"late_senders,omitempty"`
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
	exact, err := readsSeries(q, all, times, timed)
	if err != nil {
		return err
	}
	if exact {
		err = q.query("times of every call", func(o query.Options) (err error) {
			times, err = times.ReadSeries(q.Context(), o)
			return err
		})
		if err != nil {
			return err
		}
	}
	sites, err := times.Imbalance()
	if err != nil {
		return err
	}
	a := &imbalanceAnswer{header: q.header(), Exact: exact, Sites: sites}
	call := q.calls()
	for i := range sites {
		sites[i].Call = call(sites[i].Signature)
		a.Total += sites[i].Total
	}
	if exact {
		if err := a.addLate(q, times, call); err != nil {
			return err
		}
	}
	return q.answer(a, func() { a.print(q) })
}

// readsSeries reports whether the times of every call are read: those of the chosen
// ranks, if that is asked for, if there is nothing else, or if they are not too many.
func readsSeries(q *question, all bool, times *query.Times, timed rankenc.Set) (bool, error) {
	switch {
	case all && timed.Len() == 0:
		return false, errNoSeries
	case !times.Summarized() && timed.Len() == 0:
		return false, errNoTimes(q.path, q.trace)
	case all || !times.Summarized():
		return true, nil
	case timed.Len() == 0 && !q.leavesOut():
		return false, nil
	case timed.Len() == 0:
		return false, errors.New("the trace has only statistics of all ranks: reprise record --times all keeps those of each rank")
	}
	p, err := query.OpenProfile(q.Context(), q.trace, query.Options{Ranks: q.ranks})
	if err != nil {
		return false, err
	}
	readable, calls := timedRanks(p, timed)
	few := readable.Len() == p.Ranks && p.Ranks > 0 && calls <= maxUnasked
	if q.leavesOut() && !few {
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
	wait, about := "wait time at most", "an upper bound: the time of all calls beyond the shortest"
	columns := []string{"calls", "?ranks", "mean", "?min", "&in rank", "?max", "&in rank"}
	if a.Exact {
		wait, about = "wait time", "the time beyond the mean of the fastest rank"
		columns = append(columns, "fastest", "rank", "slowest", "rank")
	}
	q.printf("%s: %s in calls; the wait time is %s\n\n", q.path, text.Duration(a.Total), about)
	t := q.table(append(append([]string{wait, ""}, columns...), "<signature")...)
	for _, s := range a.Sites {
		cells := []any{text.Duration(s.Wait), text.Percent(s.Wait, a.Total), s.Calls, s.Ranks, text.Duration(s.Mean),
			text.Duration(s.Min), text.ID(s.MinRank), text.Duration(s.Max), text.ID(s.MaxRank)}
		if a.Exact {
			cells = append(cells, text.Duration(s.Fast.Mean), text.ID(s.Fast.Rank), text.Duration(s.Slow.Mean), text.ID(s.Slow.Rank))
		}
		t.Row(append(cells, s.Call)...)
	}
	t.Close()
	a.printGroups(q)
	a.printLate(q)
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
	if len(a.Late) == 0 {
		return
	}
	weakest, sample := timing.Exact, ""
	for _, s := range a.Late {
		weakest = max(weakest, s.Guarantee)
		if uint64(s.Sampled) < s.Receives {
			sample = "; the wait time is estimated from a sample"
		}
	}
	q.printf("\nreceives that wait for a late sender, %s%s\n\n", sourceText(query.Series, weakest), sample)
	t := q.table("wait time", "", "receives", "?sample", "late", "mostly for", "", "<signature")
	for _, s := range a.Late {
		t.Row(text.Duration(s.Wait), text.Percent(s.Wait, a.Total), s.Receives, s.Sampled,
			text.Percent(s.Late, s.Sampled), text.ID(s.Sender), text.Percent(s.SenderShare, 1), s.Call)
	}
	t.Close()
}

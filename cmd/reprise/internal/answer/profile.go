package answer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"

	"github.com/spf13/cobra"
)

func NewProfile() *cobra.Command {
	by := cli.NewChoice("function", "signature", "site", "rank", "region")
	var series bool
	q := cli.NewQuestion("profile", nil, func(q *cli.Question) error {
		switch {
		case by.Value == "site" && !query.HasSites(q.Trace):
			return errors.New("the trace has no call sites: reprise record --sites caller records them")
		case by.Value == "region":
			return profileRegions(q, series)
		case q.Region != nil:
			return profileRegion(q, by.Value, series)
		}
		return profile(q, by.Value, series)
	}, cli.OptJSON, cli.OptAll, cli.OptRanks, cli.OptRegion)
	cli.AddChoice(q.Command, by, "by", "meaning of a row")
	cli.AddSeries(q, &series)
	return q.Command
}

// A Profile is how often which calls are made, and how long they take.
type Profile struct {
	cli.Header
	*query.TimedProfile
	Missing string              `json:"no_times,omitempty"` // why there are none
	Sites   []query.SiteProfile `json:"by_site,omitzero"`
	From    query.Source        `json:"source,omitzero"` // of the times of ranks
	cli.Recorded
}

// profile profiles the whole run, by the times of every call if series is set.
func profile(q *cli.Question, by string, series bool) error {
	a := &Profile{Header: q.Header()}
	open := query.OpenTimedProfile
	if by == "rank" {
		open = query.OpenRankProfile
	}
	err := q.Query("profile", func(o query.Options) (err error) {
		o.Series = series
		if a.TimedProfile, err = open(q.Context(), q.Trace, o); err == nil {
			a.Recorded, err = q.Recorded()
		}
		return err
	})
	if err != nil {
		return err
	}
	if a.OfRanks && (by == "rank" || by == "function") {
		a.From = a.Source
	} else {
		a.Missing = a.missing(q, by)
	}
	a.choose(q, by)
	return q.Answer(a, func() { a.print(q, by) })
}

// choose keeps the list that is asked for, in the order of its times.
func (a *Profile) choose(q *cli.Question, by string) {
	whole, functions, signatures, shapes := a.Profile, a.Functions, a.Signatures, a.Shapes
	a.Functions, a.Signatures, a.Shapes = nil, nil, nil
	switch by {
	case "function":
		slices.SortStableFunc(functions, func(x, y query.FunctionProfile) int {
			if x.OfRanks != nil && y.OfRanks != nil {
				return cmp.Or(query.CompareOutside(x.Name, y.Name), cmp.Compare(y.OfRanks.Time, x.OfRanks.Time))
			}
			return cmp.Or(query.CompareOutside(x.Name, y.Name), byTime(x.Time, y.Time, x.Calls, y.Calls))
		})
		a.Functions = functions
	case "signature":
		slices.SortStableFunc(signatures, func(x, y query.SignatureProfile) int {
			return cmp.Or(query.CompareOutside(x.Function, y.Function), byTime(x.Time, y.Time, x.Calls, y.Calls))
		})
		call := q.Calls()
		for i := range signatures {
			signatures[i].Call = call(signatures[i].Signature)
		}
		a.Signatures = signatures
	case "site":
		a.Sites = whole.Sites(q.Trace)
		slices.SortStableFunc(a.Sites, func(x, y query.SiteProfile) int {
			return cmp.Or(query.CompareOutside(x.Function, y.Function), byTime(x.Time, y.Time, x.Calls, y.Calls))
		})
	case "rank":
		a.Shapes, a.Timed = shapes, len(a.RankTimes) > 0
	}
}

// byTime orders rows by their times or, if one has none, by their calls.
func byTime(a, b *query.Durations, callsA, callsB uint64) int {
	if a != nil && b != nil && a.Total != b.Total {
		return cmp.Compare(b.Total, a.Total)
	}
	return cmp.Compare(callsB, callsA)
}

// missing says why there are no times, nothing if there are.
func (a *Profile) missing(q *cli.Question, by string) string {
	switch {
	case by != "rank" && a.Timed:
		return ""
	case a.Series.Len() == 0:
		return noTimes(q)
	case by != "rank" && a.Series.Len() < a.Ranks:
		return "no times: the trace has those of every call of " + text.Ranks(a.Series) + " only"
	}
	return fmt.Sprintf("no times: %s would have to be read; --series reads them", text.Plural(a.SeriesCalls, "call"))
}

// noTimes says why there are no times in a profile, and what gives them.
func noTimes(q *cli.Question) string {
	if cli.DamagesTimes(q.Trace) {
		return "no times: they are damaged"
	}
	for _, s := range q.Trace.Sections() {
		if s.Kind == layout.KindSummaries {
			return "no times: the trace has them of all ranks together" + cli.LeftOutText(q.Trace)
		}
	}
	if q.Trace.Run().Source == collect.Source {
		return "the trace has no statistics of times: reprise record --times statistics keeps them"
	}
	return "the trace has no statistics of times"
}

func (a *Profile) print(q *cli.Question, by string) {
	q.Printf("%s: %s, %s", text.Printable(q.Path), text.Plural(a.Ranks, "rank"), text.Plural(a.Calls, "call"))
	if a.Guarantee != nil && by != "rank" {
		q.Printf(", %s", q.SourceText(query.Series, *a.Guarantee))
	}
	q.Printf("\n")
	if off := a.sumError(); off > 0 && a.Guarantee == nil {
		q.Printf("times from statistics: sums at most %s off\n", text.Duration(off))
	}
	a.Recorded.Print(q.OutOrStdout())
	if a.Missing != "" {
		q.Printf("%s\n", a.Missing)
	}
	if a.Calls == 0 {
		return
	}
	q.Printf("\n")
	switch by {
	case "function":
		if a.From == query.Statistics {
			a.printOfRanks(q)
			break
		}
		printRows(a, q, "<function", a.Functions, func(f query.FunctionProfile) profileRow {
			return profileRow{f.Calls, f.Ranks, f.Time, f.Name, text.Printable(f.Name)}
		})
	case "signature":
		printRows(a, q, "<signature", a.Signatures, func(s query.SignatureProfile) profileRow {
			return profileRow{s.Calls, s.Ranks, s.Time, s.Function, s.Call}
		})
	case "site":
		printRows(a, q, "<function, site", a.Sites, func(s query.SiteProfile) profileRow {
			return profileRow{s.Calls, s.Ranks, s.Time, s.Function,
				text.Printable(s.Function) + ", " + text.Printable(cmp.Or(s.Site, "at several places"))}
		})
	case "rank":
		t := q.Table("calls per rank", "ranks", "calls", "", "<ranks")
		for _, s := range a.Shapes {
			all := wire.MulSat(s.Calls, uint64(s.Ranks.Len()))
			t.Row(s.Calls, s.Ranks.Len(), all, text.Percent(all, a.Calls), s.Ranks.String())
		}
		t.Close()
		a.printRankTimes(q)
	}
}

// sumError returns how far the sum of all times of the list may be off.
func (a *Profile) sumError() (sum query.Nanoseconds) {
	for _, f := range a.Functions {
		sum += errorOf(f.Time)
	}
	for _, s := range a.Signatures {
		sum += errorOf(s.Time)
	}
	for _, s := range a.Sites {
		sum += errorOf(s.Time)
	}
	return sum
}

func errorOf(t *query.Durations) query.Nanoseconds {
	if t == nil {
		return 0
	}
	return t.Error
}

func (a *Profile) table(q *cli.Question, what string) *text.Table {
	if !a.Timed {
		return q.Table(what, "calls", "", "ranks")
	}
	return q.Table(what, "calls", "?", "?ranks", "time", "", "mean", "?min", "&in rank", "max", "in rank")
}

// A profileRow is a row of the table, by whatever that is.
type profileRow struct {
	calls    uint64
	ranks    int
	time     *query.Durations
	function string
	what     string
}

// printRows prints the table of a list.
func printRows[T any](a *Profile, q *cli.Question, title string, list []T, rowOf func(T) profileRow) {
	t := a.table(q, title)
	whole := query.Nanoseconds(0)
	for _, l := range list {
		if r := rowOf(l); !query.OutsideRun(r.function) {
			whole += cli.Total(r.time)
		}
	}
	for _, l := range list {
		r := rowOf(l)
		cells := []any{r.what, r.calls, text.Percent(r.calls, a.Calls), r.ranks}
		switch d := r.time; {
		case d != nil:
			cells = append(cells, text.Duration(d.Total), shareInRun(d.Total, whole, r.function), text.Duration(d.Mean),
				text.Duration(d.Min), text.ID(d.MinRank), text.Duration(d.Max), text.ID(d.MaxRank))
		case a.Timed:
			cells = append(cells, "-", "", "", "", "", "", "")
		}
		t.Row(cells...)
	}
	t.Close()
}

// shareInRun returns the share of the calls of a function in the time of all calls in the run.
func shareInRun(part, whole query.Nanoseconds, function string) string {
	switch {
	case query.InStartup(function):
		return "startup"
	case query.InShutdown(function):
		return "shutdown"
	}
	return text.Percent(part, whole)
}

// printRankTimes prints the times of ranks.
func (a *Profile) printRankTimes(q *cli.Question) {
	if len(a.RankTimes) == 0 {
		return
	}
	if a.From == query.Series {
		q.Printf("\n%s\n", q.SourceText(query.Series, *a.Guarantee))
		if query.HasThreads(q.Trace) {
			q.Printf("%s\n", addedNote)
		}
		q.Printf("\n")
	} else {
		off, of := query.Nanoseconds(0), query.Nanoseconds(0)
		for _, r := range a.RankTimes {
			off, of = off+r.Error, of+r.Time
		}
		q.Printf("\n%s\n", keptText(off, of))
		if a.Overlapping {
			q.Printf("%s\n", OverlapNote)
		}
		q.Printf("\n")
	}
	t := q.Table("rank", "calls", "in calls", "", "outside", "", "top function", "", "<")
	for _, r := range a.RankTimes {
		cells := []any{text.ID(r.Rank), r.Calls, text.Duration(r.Time), shareOfTime(r.Time, r.Span),
			text.Duration(r.Outside), shareOfTime(r.Outside, r.Span)}
		if len(r.Functions) > 0 {
			most := r.Functions[0]
			cells = append(cells, text.Duration(most.Time), shareOfTime(most.Time, r.Span), text.Printable(most.Name))
		}
		t.Row(cells...)
	}
	t.Close()
}

// OverlapNote says what times of calls that overlap are.
const OverlapNote = "calls overlap, such as calls of several threads: their sum may exceed the run time, and the time outside calls is unknown"

// addedNote says what times in calls of several threads are, where those of every call are known.
const addedNote = "times in calls are those of all threads together, and may exceed the run time; outside, no thread is in a call"

// printOfRanks prints the times of functions on each rank, for the ranks whose times the trace keeps.
func (a *Profile) printOfRanks(q *cli.Question) {
	whole, off := query.Nanoseconds(0), query.Nanoseconds(0)
	for _, f := range a.Functions {
		if f.OfRanks != nil && !query.OutsideRun(f.Name) {
			whole, off = whole+f.OfRanks.Time, off+f.OfRanks.Error
		}
	}
	q.Printf("times are %s\n\n", keptText(off, whole))
	t := q.Table("<function", "calls", "", "ranks", "time", "", "mean", "max")
	for _, f := range a.Functions {
		cells := []any{text.Printable(f.Name), f.Calls, text.Percent(f.Calls, a.Calls), f.Ranks}
		if r := f.OfRanks; r != nil {
			cells = append(cells, text.Duration(r.Time), shareInRun(r.Time, whole, f.Name), text.Duration(r.Mean),
				"≤ "+text.Duration(r.Max))
		} else {
			cells = append(cells, "-", "", "", "")
		}
		t.Row(cells...)
	}
	t.Close()
}

// keptText says how exact the times are together that the trace keeps of ranks.
func keptText(off, of query.Nanoseconds) string {
	share := text.Percent(off, of)
	if math.IsInf(float64(of), 1) {
		return "from the sums of each rank"
	}
	if rest, ok := strings.CutPrefix(share, "< "); ok {
		return "from the sums of each rank, together less than " + rest + " off"
	}
	return "from the sums of each rank, together at most " + cmp.Or(share, "0 %") + " off"
}

// shareOfTime returns the share of a part in the whole, or a dash if it is not known.
func shareOfTime(part, whole query.Nanoseconds) string { return cmp.Or(text.Percent(part, whole), "-") }

// An Activity is what ranks do in a part of a run.
type Activity struct {
	cli.Header
	*query.Activity
	Sites []query.SiteUsage `json:"by_site,omitzero"`
	cli.Recorded
	busy query.Nanoseconds // in at least one call, of all ranks; +Inf if it is not known
}

// profileRegion profiles a part of a run.
func profileRegion(q *cli.Question, by string, series bool) error {
	times, err := query.OpenTimes(q.Trace)
	if err != nil {
		return err
	}
	a := &Activity{Header: q.Header()}
	err = q.Query("profile", func(o query.Options) (err error) {
		o.Series = series
		if a.Activity, err = times.Activity(q.Context(), int64(q.Part.From), q.Part.Until(), o); err == nil {
			a.Recorded, err = q.Recorded()
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range a.Ranks {
		a.busy += max(0, r.Span-r.Outside)
		if r.Outside > r.Span {
			a.busy = query.Nanoseconds(math.Inf(1))
		}
	}
	a.choose(q, by)
	return q.Answer(a, func() { a.print(q, by) })
}

// A Regions is how long ranks are in the regions of a run.
type Regions struct {
	cli.Header
	*query.RegionProfile
}

// profileRegions profiles all regions of a run.
func profileRegions(q *cli.Question, series bool) error {
	if q.Region != nil {
		return cli.BadUsage(
			errors.New("--by region is about all of them: it does not go with --phase, --loop, --from and --to"))
	}
	a := &Regions{Header: q.Header()}
	err := q.Query("regions", func(o query.Options) (err error) {
		o.Series = series
		a.RegionProfile, err = query.OpenRegionProfile(q.Context(), q.Trace, o)
		return err
	})
	if err != nil {
		return err
	}
	return q.Answer(a, func() { a.print(q) })
}

func (a *Regions) print(q *cli.Question) {
	q.Printf("%s: %s", text.Printable(q.Path), text.Plural(len(a.RegionProfile.Regions), "region"))
	timed := a.Source != query.None
	if timed {
		q.Printf(", %s", q.SourceText(a.Source, a.Guarantee))
	}
	q.Printf("\n")
	if timed && a.Source != query.Series && query.HasThreads(q.Trace) {
		q.Printf("%s\n", cli.ThreadsNote)
	}
	if a.Unphased {
		q.Printf("phases are unknown: the control flows of the ranks are too long to compare\n")
	}
	titles := []string{"<region", "calls", "?ranks", "iterations"}
	named := slices.ContainsFunc(a.RegionProfile.Regions, func(r query.RegionTime) bool { return r.Exclusive != nil })
	if timed {
		titles = append(titles, "time", "", "?max", "&rank")
		if named {
			titles = append(titles, "?in calls", "&", "exclusive", "")
		} else {
			titles = append(titles, "in calls", "")
		}
	}
	t := q.Table(titles...).Apart()
	for _, r := range a.RegionProfile.Regions {
		cells := []any{answers.Region(r.Region), r.Calls, r.Ranks.Len(), answers.Trips(r.Region)}
		if timed {
			cells = append(cells, text.Duration(r.Mean), text.Percent(r.Mean, a.Run), text.Duration(r.Max),
				text.ID(r.MaxRank),
				text.Duration(r.InCalls), text.Percent(r.InCalls, r.Mean))
			switch {
			case r.Exclusive != nil:
				cells = append(cells, text.Duration(*r.Exclusive), text.Percent(*r.Exclusive, r.Mean))
			case named:
				cells = append(cells, "", "")
			}
		}
		t.Row(cells...)
	}
	t.Close()
}

// choose keeps the list that is asked for.
func (a *Activity) choose(q *cli.Question, by string) {
	if by != "function" {
		a.Functions = nil
	}
	if by != "rank" {
		a.Ranks = nil
	}
	if by == "site" {
		a.Sites = a.BySite(q.Trace)
	}
	if by != "signature" {
		a.Signatures = nil
		return
	}
	call := q.Calls()
	for i := range a.Signatures {
		a.Signatures[i].Call = call(a.Signatures[i].Signature)
	}
	slices.SortStableFunc(a.Signatures, func(a, b query.Usage) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls))
	})
}

// printCounts prints the calls of a part of a run, of a trace without times.
func (a *Activity) printCounts(q *cli.Question, by string) {
	q.Printf("%s\n\n", text.Plural(a.Calls, "call"))
	t := q.Table("<"+by, "calls", "")
	row := func(what string, calls uint64) { t.Row(text.Printable(what), calls, text.Percent(calls, a.Calls)) }
	for _, f := range a.Functions {
		row(f.Name, f.Calls)
	}
	for _, s := range a.Signatures {
		row(s.Call, s.Calls)
	}
	for _, s := range a.Sites {
		row(s.Name+", "+cmp.Or(s.Site, "at several places"), s.Calls)
	}
	for _, r := range a.Ranks {
		row(strconv.Itoa(r.Rank), r.Calls)
	}
	t.Close()
}

func (a *Activity) print(q *cli.Question, by string) {
	to := "the end"
	if a.To != nil {
		to = text.Duration(*a.To)
	}
	off := startError{known: true, inArchive: a.TimesInArchive}
	if off.add(a.Guarantee, a.StartError); a.Source != query.Series {
		off.known = false
	}
	if a.Source == query.None {
		q.Printf("%s: no times\n", text.Printable(q.Path))
	} else if q.Part.Times {
		q.Printf("%s from %s to %s, %s\n%s", text.Printable(q.Path), text.Duration(a.From), to,
			q.SourceText(a.Source, a.Guarantee), off.line())
	} else {
		q.Printf("%s, %s\n", text.Printable(q.Path), q.SourceText(a.Source, a.Guarantee))
	}
	if a.Source == query.None {
		a.printCounts(q, by)
		return
	}
	a.Recorded.Print(q.OutOrStdout())
	if a.Source != query.Series && query.HasThreads(q.Trace) {
		q.Printf("%s\n", cli.ThreadsNote)
	}
	if a.Present == 0 {
		q.Printf("no rank makes calls there\n")
		return
	}
	share := shareOfTime(a.Time, a.Span) + " of the time of these ranks"
	if query.HasThreads(q.Trace) {
		share = "of several threads together"
		if a.busy <= a.Span {
			share += "; at least one is in a call " + shareOfTime(a.busy, a.Span) + " of the time of these ranks"
		}
	}
	if math.IsInf(float64(a.Span), 0) {
		share = "and they end later than 292 years"
	}
	q.Printf("%s, %s, %s in calls, %s\n\n", text.Plural(a.Present, "rank"), text.Plural(a.Calls, "call"),
		text.Duration(a.Time), share)
	var t *text.Table
	switch by {
	case "function":
		t = q.Table("<function", "calls", "", "ranks", "time", "")
		for _, f := range a.Functions {
			t.Row(text.Printable(f.Name), f.Calls, text.Percent(f.Calls, a.Calls), f.Ranks, text.Duration(f.Time),
				shareOfTime(f.Time, a.Time))
		}
	case "signature":
		t = q.Table("<signature", "calls", "", "time", "")
		for _, s := range a.Signatures {
			t.Row(s.Call, s.Calls, text.Percent(s.Calls, a.Calls), text.Duration(s.Time), shareOfTime(s.Time, a.Time))
		}
	case "site":
		t = q.Table("<function, site", "calls", "", "ranks", "time", "")
		for _, s := range a.Sites {
			t.Row(text.Printable(s.Name)+", "+text.Printable(cmp.Or(s.Site, "at several places")), s.Calls,
				text.Percent(s.Calls, a.Calls), s.Ranks, text.Duration(s.Time), shareOfTime(s.Time, a.Time))
		}
	case "rank":
		t = q.Table("rank", "position", "calls", "in calls", "", "outside", "", "")
		for _, r := range a.Ranks {
			t.Row(text.ID(r.Rank), r.First, r.Calls, text.Duration(r.Time), shareOfTime(r.Time, r.Span),
				text.Duration(r.Outside), shareOfTime(r.Outside, r.Span))
		}
	}
	t.Close()
}

package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A regionText is what is asked about a part of the run: the same as of a trace that has that part alone.
type regionText struct {
	Title, About     string
	Diagnosis        []string
	Functions, Ranks *table
	Waits            *table // nil if they are not known
}

// addRegion adds the part of the run that the page is asked for.
func (p *page) addRegion(ctx context.Context, tr *trace.Trace, o Options) error {
	if o.Region == nil {
		return nil
	}
	a, err := p.times.Activity(ctx, 0, math.MaxInt64, p.regionQuery(o.Region))
	if errors.Is(err, query.ErrNoTimes) {
		return nil
	}
	if err != nil {
		return err
	}
	first, size := utf8.DecodeRuneInString(o.Region.String())
	t := &regionText{Title: printable(string(unicode.ToUpper(first)) + o.Region.String()[size:])}
	t.About = text.Plural(a.Present, "rank") + " make " + text.Plural(a.Calls, "call") + " there."
	if a.Source != query.None {
		t.About += fmt.Sprintf(" They spend %s in calls, %s of their time there. Times are %s.", text.Duration(a.Time),
			shareOf(float64(a.Time), float64(a.Span)), regionSource(a))
	}
	t.addActivity(a)
	if p.hasSeries && p.profile.Calls <= query.MaxUnasked {
		if err := t.addDiagnosis(ctx, tr, o.Region); err != nil {
			return err
		}
	}
	p.Region = t
	return nil
}

// regionQuery returns the options of a query about a region.
func (p *page) regionQuery(g *query.Region) query.Options {
	o := p.query()
	o.Region = g
	return o
}

// regionSource says where the times of an activity are from.
func regionSource(a *query.Activity) string {
	switch {
	case a.Source != query.Series:
		return "estimates, from " + a.Source.String() + " of the whole run"
	case a.Guarantee == timing.Exact:
		return "exact"
	}
	return "those of every call, each with an error of at most " + percentOff(a.Guarantee)
}

// addActivity adds what functions and ranks do.
func (t *regionText) addActivity(a *query.Activity) {
	timed := a.Source != query.None
	columns := []string{"Function", "Calls", "Ranks"}
	if timed {
		columns = append(columns, "↓Time", "% of time in calls")
	}
	t.Functions = newTable("function", maxFunctions, columns...)
	for _, f := range a.Functions {
		row := []any{cell{Text: printable(f.Name), Name: true, Find: "function=" + printable(f.Name)}, f.Calls, f.Ranks}
		if timed {
			row = append(row, nanos(f.Time), valued(int64(f.Time), shareOf(float64(f.Time), float64(a.Time))))
		}
		t.Functions.row(row...)
	}
	columns = []string{"Rank", "Calls"}
	if timed {
		columns = append(columns, "Time in calls", "% of its time", "Time outside", "% of its time")
	}
	t.Ranks = newTable("rank", maxRankRows, columns...)
	for _, r := range a.Ranks {
		row := []any{cell{Text: fmt.Sprint(r.Rank), Value: r.Rank, Find: fmt.Sprintf("call=%d,%d", r.Rank, r.First)},
			r.Calls}
		if timed {
			row = append(row, nanos(r.Time), valued(int64(r.Time), shareOf(float64(r.Time), float64(r.Span))))
			row = append(row, outsideCells(r.Outside, r.Span)...)
		}
		t.Ranks.row(row...)
	}
	t.Functions, t.Ranks = t.Functions.shown(), t.Ranks.shown()
}

// outsideCells returns how long a rank is outside calls, and which share of its time that is, if it is known.
func outsideCells(outside, span query.Nanoseconds) []any {
	if math.IsInf(float64(outside), 1) {
		return []any{valued(-1, "–"), valued(-1, "–")}
	}
	return []any{nanos(outside), valued(int64(outside), text.Percent(outside, span))}
}

// addDiagnosis adds why ranks spend the time that they do in the region, and who waits there for whom.
func (t *regionText) addDiagnosis(ctx context.Context, tr *trace.Trace, g *query.Region) error {
	d, err := diagnosis.Open(ctx, tr, diagnosis.Options{Region: g, MaxCalls: query.MaxUnasked, Pairs: true})
	if d == nil || err != nil {
		return err
	}
	for _, s := range answers.Diagnosis(d) {
		t.Diagnosis = append(t.Diagnosis, printable(s))
	}
	if d.Waits != nil {
		t.Waits = waitsTable(d.Waits).shown()
	}
	return nil
}

package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A Reference is a trace that another is compared with.
type Reference struct {
	Trace *trace.Trace
	Name  string // such as the name of its file; the empty name means "reference"
}

// maxComparedRows is how many rows each table of a comparison has.
const maxComparedRows = 60

// A comparedText is what differs between the run of the page, B, and a reference, A.
type comparedText struct {
	About                   string
	Runs, Functions, Places *table        // nil if there are no rows
	Name                    string        // of the reference
	Timeline                *timelineText // of the reference; nil if it has no calls
}

// addReference adds a comparison with the run of another trace, and its timeline.
func (p *page) addReference(ctx context.Context, _ *trace.Trace, o Options) error {
	r := o.Reference
	if r == nil {
		return nil
	}
	other := Options{Name: cmp.Or(r.Name, "reference"), Ranks: o.Ranks, Budget: o.Budget / 2, Progress: o.Progress}
	a, err := gather(ctx, r.Trace, other, false)
	if err != nil {
		return err
	}
	t := &comparedText{Name: a.Title, Timeline: a.Timeline}
	t.About = fmt.Sprintf("A is %s, with %s by %s; B is %s, with %s by %s. Differences are in per cent of A.", a.Title,
		text.Plural(a.profile.Calls, "call"), text.Plural(r.Trace.RankSet().Len(), "rank"), p.Title,
		text.Plural(p.profile.Calls, "call"), text.Plural(p.trace.RankSet().Len(), "rank"))
	t.Runs = newTable("number", maxComparedRows, "Run", "A", "B", "Difference")
	t.Runs.Narrow = true
	for _, row := range answers.Comparison(a.diagnosis, p.diagnosis) {
		t.Runs.row(name(row.Name), row.A, row.B, row.Change)
	}
	t.Runs = t.Runs.shown()
	t.Functions = comparedTable("Function", a.comparedFunctions(), p.comparedFunctions())
	t.Places = comparedTable("Call site", a.comparedPlaces(), p.comparedPlaces())
	if t.Timeline != nil {
		t.Timeline.Figure = "other"
		p.data.Other = &pageData{Functions: a.data.Functions, Timeline: a.data.Timeline, Nodes: a.data.Nodes}
	}
	p.Compared = t
	return nil
}

// A comparedCalls is how many calls there are of a function or in a place, and how long they take: −1 if that is
// not known.
type comparedCalls struct {
	calls uint64
	time  float64
}

// comparedFunctions returns the functions of a page by name.
func (p *page) comparedFunctions() map[string]comparedCalls {
	all := make(map[string]comparedCalls)
	for _, f := range p.profile.Functions {
		all[f.Name] = p.comparedOf(f.Calls, f.Time)
	}
	return all
}

// comparedPlaces returns the places where calls are made, with their functions.
func (p *page) comparedPlaces() map[string]comparedCalls {
	all := make(map[string]comparedCalls)
	if !query.HasSites(p.trace) {
		return all
	}
	for _, s := range p.profile.Sites(p.trace) {
		key := cmp.Or(s.Site, "several call sites") + ": " + s.Function
		c, of := all[key], p.comparedOf(s.Calls, s.Time)
		all[key] = comparedCalls{c.calls + of.calls, c.time + of.time}
	}
	return all
}

func (p *page) comparedOf(calls uint64, time *query.Durations) comparedCalls {
	if !p.profile.Timed || time == nil {
		return comparedCalls{calls, -1}
	}
	return comparedCalls{calls, float64(time.Total)}
}

// comparedTable returns a table of what there is in A, in B and how much more that is, the largest difference of
// times first, or of calls; nil if nothing differs.
func comparedTable(thing string, a, b map[string]comparedCalls) *table {
	type row struct {
		name string
		a, b comparedCalls
	}
	var rows []row
	timed := true
	for name, x := range a {
		rows = append(rows, row{name, x, b[name]})
		timed = timed && x.time >= 0
	}
	for name, y := range b {
		if _, both := a[name]; !both {
			rows = append(rows, row{name, comparedCalls{}, y})
		}
		timed = timed && y.time >= 0
	}
	slices.SortFunc(rows, func(x, y row) int {
		if o := query.CompareOutside(x.name, y.name); o != 0 {
			return o
		}
		if timed {
			return cmp.Or(cmp.Compare(math.Abs(y.b.time-y.a.time), math.Abs(x.b.time-x.a.time)),
				cmp.Compare(x.name, y.name))
		}
		calls := func(r row) uint64 { return max(r.a.calls, r.b.calls) - min(r.a.calls, r.b.calls) }
		return cmp.Or(cmp.Compare(calls(y), calls(x)), cmp.Compare(x.name, y.name))
	})
	titles := []string{thing}
	if timed {
		titles = append(titles, "Time in A", "in B", "in %", "↓Difference")
	}
	t := newTable("row", maxComparedRows, append(titles, "Calls in A", "in B", "in %")...)
	for _, r := range rows {
		cells := []any{name(printable(r.name))}
		if more := r.b.time - r.a.time; timed {
			sign := ""
			if more > 0 {
				sign = "+"
			}
			cells = append(cells, nanos(r.a.time), nanos(r.b.time),
				valued(more/max(r.a.time, 1), text.Change(r.a.time, r.b.time)),
				valued(int64(more), sign+text.Duration(more)))
		}
		t.row(append(cells, r.a.calls, r.b.calls,
			valued(float64(r.b.calls)-float64(r.a.calls), text.Change(r.a.calls, r.b.calls)))...)
	}
	return t.shown()
}

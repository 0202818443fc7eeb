package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
)

// maxFunctions is how many functions a page lists.
const maxFunctions = 200

// A functionText is the functions of a trace.
type functionText struct {
	About string
	Timed bool
	Table *table
}

// addFunctions adds the functions.
func (p *page) addFunctions(ctx context.Context, trace *reprise.Trace, _ Options) error {
	profile, err := query.OpenProfile(ctx, trace, p.query())
	if err != nil {
		return err
	}
	p.profile = profile
	p.data.Functions = []functionData{}
	p.functions = make(map[string]int)
	if len(profile.Functions) == 0 {
		return nil
	}
	list := slices.Clone(profile.Functions)
	if profile.Timed {
		slices.SortStableFunc(list, func(a, b query.FunctionProfile) int { return cmp.Compare(totalTime(b), totalTime(a)) })
	}
	total := 0.0
	for _, f := range list {
		total += totalTime(f)
	}
	titles := []string{"Function", "↓Calls", "of calls", "Ranks"}
	if profile.Timed {
		titles = []string{"Function", "Calls", "of calls", "Ranks", "↓Time in calls", "of time", "Mean", "Least", "Most", "on rank"}
	}
	t := &functionText{Timed: profile.Timed, Table: newTable("function", maxFunctions, titles...)}
	for _, f := range list {
		row := []any{name(printable(f.Name)), f.Calls, valued(f.Calls, text.Percent(float64(f.Calls), float64(profile.Calls))), f.Ranks}
		switch s := f.Time; {
		case s != nil:
			row = append(row, nanos(s.Total), valued(int64(s.Total), text.Percent(float64(s.Total), total)), nanos(tenth(float64(s.Mean))),
				nanos(s.Min), nanos(s.Max), order(s.MaxRank))
		case profile.Timed:
			row = append(row, slices.Repeat([]any{valued(0, "–")}, 6)...)
		}
		t.Table.row(row...)
	}
	for _, f := range list[:min(len(list), maxFunctions)] {
		d := functionData{Name: printable(f.Name), Calls: f.Calls}
		if profile.Timed {
			sum := totalTime(f)
			d.Time = &sum
		}
		p.functions[f.Name] = len(p.data.Functions)
		p.data.Functions = append(p.data.Functions, d)
	}
	p.inCalls = total
	t.About = fmt.Sprintf("%s of %s.", text.Plural(profile.Calls, "call"), text.Plural(len(list), "function"))
	if profile.Timed {
		t.About += fmt.Sprintf(" All ranks together spent %s in them.", text.Duration(total))
	}
	if profile.Timed && p.guarantee > timing.Exact {
		t.About += fmt.Sprintf(" These times are statistics that the recorder kept of all calls, and exact; the timeline has the times of every call, each at most %s off, so that the two differ.", percentOff(p.guarantee))
	}
	p.Functions = t
	return nil
}

// totalTime returns how long the calls of a function take, 0 if that is not known.
func totalTime(f query.FunctionProfile) float64 {
	if f.Time == nil {
		return 0
	}
	return float64(f.Time.Total)
}

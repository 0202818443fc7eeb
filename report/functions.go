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

// A functionTable is the functions of a trace.
type functionTable struct {
	About string
	Timed bool
	Rows  []functionRow
	More  string
}

type functionRow struct {
	Name             string
	Calls            uint64
	Share            string
	Ranks            uint64
	Timed            bool
	Time, Mean       float64
	TimeShare        string
	Min, Max         int64
	MinRank, MaxRank int
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
	t := &functionTable{Timed: profile.Timed}
	total := 0.0
	for i, f := range list {
		if profile.Timed {
			total += totalTime(f)
		}
		if i >= maxFunctions {
			continue
		}
		t.Rows = append(t.Rows, rowOf(f, profile))
		p.functions[f.Name] = len(p.data.Functions)
		p.data.Functions = append(p.data.Functions, functionOf(f, profile))
	}
	for i := range t.Rows {
		if t.Rows[i].Timed {
			t.Rows[i].TimeShare = text.Percent(t.Rows[i].Time, total)
		}
	}
	p.inCalls = total
	if n := len(list) - maxFunctions; n > 0 {
		t.More = fmt.Sprintf("… and %s more", text.Plural(n, "function"))
	}
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

func rowOf(f query.FunctionProfile, of *query.Profile) functionRow {
	row := functionRow{Name: printable(f.Name), Calls: f.Calls, Share: text.Percent(float64(f.Calls), float64(of.Calls)), Ranks: uint64(f.Ranks)}
	if s := f.Time; s != nil {
		row.Timed, row.Time, row.Mean = true, float64(s.Total), tenth(float64(s.Mean))
		row.Min, row.Max, row.MinRank, row.MaxRank = s.Min, s.Max, s.MinRank, s.MaxRank
	}
	return row
}

func functionOf(f query.FunctionProfile, of *query.Profile) functionData {
	d := functionData{Name: printable(f.Name), Calls: f.Calls}
	if of.Timed {
		sum := totalTime(f)
		d.Time = &sum
	}
	return d
}

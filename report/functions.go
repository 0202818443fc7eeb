package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of what a page lists.
const (
	maxFunctions = 200
	maxPlaces    = 200
)

// A functionText is the functions of a trace.
type functionText struct {
	About string
	Timed bool
	Table *table
}

// addFunctions adds the functions.
func (p *page) addFunctions(ctx context.Context, tr *trace.Trace, _ Options) error {
	profile, err := query.OpenProfile(ctx, tr, p.query())
	if err != nil {
		return err
	}
	p.profile = profile
	if p.hasSeries && profile.Calls <= query.MaxUnasked {
		if p.exact, err = p.times.ReadSeries(ctx, p.query()); err != nil {
			return err
		}
		if p.guarantee == timing.Exact {
			profile.SetTimes(p.exact)
		}
	}
	p.data.Functions = []functionData{}
	p.functions = make(map[string]int)
	if len(profile.Functions) == 0 {
		return nil
	}
	list := slices.Clone(profile.Functions)
	if profile.Timed {
		slices.SortStableFunc(list, func(a, b query.FunctionProfile) int {
			return cmp.Or(query.CompareOutside(a.Name, b.Name), cmp.Compare(timeOf(b.Time), timeOf(a.Time)))
		})
	}
	total := 0.0
	for _, f := range list {
		if !query.OutsideRun(f.Name) {
			total += timeOf(f.Time)
		}
	}
	p.inCalls = total
	t := &functionText{Timed: profile.Timed, Table: newTable("function", maxFunctions, p.profileTitles("Function")...)}
	for _, f := range list {
		t.Table.row(append(
			[]any{cell{Text: printable(f.Name), Name: true, Find: "function=" + printable(f.Name)}},
			p.profileCells(f.Calls, f.Ranks, f.Time, f.Name)...)...)
	}
	p.addPlaces(tr)
	for _, f := range list[:min(len(list), maxFunctions)] {
		d := functionData{Name: printable(f.Name), Calls: f.Calls, Outside: query.OutsideRun(f.Name)}
		if profile.Timed {
			sum := timeOf(f.Time)
			d.Time = &sum
		}
		p.functions[f.Name] = len(p.data.Functions)
		p.data.Functions = append(p.data.Functions, d)
	}
	t.About = fmt.Sprintf("%s of %s.", text.Plural(profile.Calls, "call"), text.Plural(len(list), "function"))
	if profile.Timed {
		t.About += fmt.Sprintf(
			" All ranks together spent %s in these calls, without those that begin and end the run.",
			text.Duration(total))
		if off := roundedBy(list); off > 0 {
			t.About += fmt.Sprintf(
				" Times are rounded sums and means: the error of their total is %s.", atMost(off, total))
		}
	}
	if profile.Timed && p.guarantee > timing.Exact {
		t.About += fmt.Sprintf(
			" These times are statistics of all calls; the timeline has the times of every call, each with an error of at most %s, so the two differ.", percentOff(p.guarantee))
	}
	p.Functions = t
	return nil
}

// atMost writes a bound as a share of a whole.
func atMost(part, whole float64) string {
	if share, less := strings.CutPrefix(shareOf(part, whole), "< "); less {
		return "less than " + share
	}
	return "at most " + shareOf(part, whole)
}

// roundedBy returns how far the times of functions may be off together.
func roundedBy(list []query.FunctionProfile) (off float64) {
	for _, f := range list {
		if f.Time != nil && !math.IsInf(float64(f.Time.Error), 1) {
			off += float64(f.Time.Error)
		}
	}
	return off
}

// addPlaces adds the places in the program where calls are made.
func (p *page) addPlaces(tr *trace.Trace) {
	if !query.HasSites(tr) {
		return
	}
	list := p.profile.Sites(tr)
	if p.profile.Timed {
		slices.SortStableFunc(list, func(a, b query.SiteProfile) int {
			return cmp.Compare(timeOf(b.Time), timeOf(a.Time))
		})
	}
	p.Places = newTable("call site", maxPlaces, p.profileTitles("Call site")...)
	for _, s := range list {
		place := cell{Text: printable(cmp.Or(s.Site, "several call sites")), Note: printable(s.Function),
			Name: true, Code: true}
		if s.Site != "" {
			place.Find = "text=site=" + strconv.Quote(s.Site)
		}
		p.Places.row(append([]any{place}, p.profileCells(s.Calls, s.Ranks, s.Time, s.Function)...)...)
	}
}

// profileTitles returns the titles of a table of things with what [page.profileCells] returns.
func (p *page) profileTitles(thing string) []string {
	if p.profile.Timed {
		return []string{thing, "Calls", "% of calls", "Ranks", "↓Time in calls", "% of time", "Mean", "Min",
			"Max", "on rank"}
	}
	return []string{thing, "↓Calls", "% of calls", "Ranks"}
}

// profileCells returns what ranks did in some calls.
func (p *page) profileCells(calls uint64, ranks int, time *query.Durations, function string) []any {
	row := []any{calls, valued(calls, text.Percent(float64(calls), float64(p.profile.Calls))), ranks}
	switch {
	case time != nil:
		share := text.Percent(float64(time.Total), p.inCalls)
		switch {
		case query.InStartup(function):
			share = "startup"
		case query.InShutdown(function):
			share = "shutdown"
		}
		row = append(row, nanos(time.Total), valued(int64(time.Total), share), nanos(tenth(float64(time.Mean))),
			nanos(time.Min), nanos(time.Max), order(time.MaxRank))
	case p.profile.Timed:
		row = append(row, slices.Repeat([]any{valued(0, "–")}, 6)...)
	}
	return row
}

// timeOf returns how long calls take, 0 if that is not known.
func timeOf(time *query.Durations) float64 {
	if time == nil {
		return 0
	}
	return float64(time.Total)
}

// callsOf returns how many calls of a signature there are, on all ranks.
func (p *page) callsOf(signature int) uint64 {
	list := p.profile.Signatures
	i, ok := slices.BinarySearchFunc(list, signature, func(s query.SignatureProfile, n int) int {
		return cmp.Compare(s.Signature, n)
	})
	if !ok {
		return 0
	}
	return list[i].Calls
}

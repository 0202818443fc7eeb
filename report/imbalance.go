package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of the section about imbalance.
const (
	maxSites = 30
	maxLoads = 400 // bars
)

// maxRankRows is how many ranks the table of ranks has.
const maxRankRows = 200

// An imbalanceText is the calls in which ranks wait.
type imbalanceText struct {
	About, Load      string
	Chart            bool   // of what the ranks have to do
	Ranks, Functions *table // nil if ranks cannot be told apart
	RanksAbout       string
	Table            *table
}

// addRanks adds what each rank spends its time in, and the functions in which ranks wait.
func (p *page) addRanks() {
	t, b := p.Imbalance, p.byRank
	if b == nil || len(b.Ranks) < 2 {
		return
	}
	total, off := 0.0, 0.0
	t.Ranks = newTable("rank", maxRankRows, "Rank", "Calls", "Time in calls", "% of its time", "Time outside",
		"% of its time", "Top function", "")
	for _, r := range b.Ranks {
		total, off = total+float64(r.Time), off+float64(r.Error)
		most, of := "", ""
		if len(r.Functions) > 0 {
			most, of = printable(r.Functions[0].Name), text.Percent(r.Functions[0].Time, r.Span)
		}
		rank := cell{Text: fmt.Sprint(r.Rank), Value: r.Rank, Find: fmt.Sprintf("call=%d,0", r.Rank)}
		row := []any{rank, r.Calls, nanos(r.Time), valued(int64(r.Time), text.Percent(r.Time, r.Span))}
		row = append(row, outsideCells(r.Outside, r.Span)...)
		t.Ranks.row(append(row, name(most), valued(of, of))...)
	}
	t.Functions = newTable("function", maxSites, "Function", "Calls", "Mean", "Fastest", "on rank", "Slowest",
		"on rank", "↓Wait time")
	for _, f := range b.Functions {
		if f.Wait > 0 {
			t.Functions.row(cell{Text: printable(f.Name), Name: true, Find: "function=" + printable(f.Name)},
				f.Calls, nanos(f.Mean),
				nanos(f.Fast.Mean), order(f.Fast.Rank), nanos(f.Slow.Mean), order(f.Slow.Rank),
				valued(int64(min(f.Wait, 1<<62)), text.Around(f.Wait, f.WaitError)))
		}
	}
	t.Functions = t.Functions.shown()
	t.RanksAbout = "Time of ranks by function. The wait time of a function is the time beyond the mean of the fastest rank."
	if query.HasThreads(p.trace) {
		t.RanksAbout += " Times in calls are those of all threads together, and may exceed the time of the rank."
	}
	if b.Source != query.Series {
		t.RanksAbout += fmt.Sprintf(
			" Times of ranks are rounded sums: the error of their total is %s.", atMost(off, total))
	}
}

// addImbalance adds what is unevenly distributed over the ranks.
func (p *page) addImbalance(ctx context.Context, tr *trace.Trace, _ Options) error {
	p.Imbalance = new(imbalanceText)
	if p.profile.Calls == 0 {
		p.Imbalance.About = "There are no calls in this trace."
		return nil
	}
	times, exact := p.times, p.exact != nil
	if exact {
		times = p.exact
	}
	if kept := times.HasRanks(p.query()); exact || kept {
		var err error
		series := exact && (!kept || p.guarantee == timing.Exact) // else what is kept is nearer to the truth
		if p.byRank, err = times.ByRank(ctx, p.profile, series, p.query()); err != nil {
			return err
		}
	}
	p.addLoad(tr)
	p.addRanks()
	return p.addSites(tr, times, exact)
}

// addSites adds the calls in which most time is lost.
func (p *page) addSites(tr *trace.Trace, times *query.Times, exact bool) error {
	t := p.Imbalance
	sites, err := times.Imbalance()
	if err != nil {
		return err
	}
	lossy, wait := 0, "↓Wait time at most"
	for lossy < len(sites) && sites[lossy].Wait > 0 {
		lossy++
	}
	switch {
	case len(sites) == 0:
		t.About = "The trace has no times to show the calls in which ranks wait for others." + advice(tr, "to see it")
		return nil
	case lossy == 0:
		t.About = "No call takes longer on one rank than on another."
		return nil
	case exact:
		wait = "↓Wait time"
		t.About = "The calls with most wait time. The wait time is the time beyond the mean of the fastest rank: the mean extra duration, times the number of calls."
	default:
		t.About = "The calls that may have most wait time. The wait time is an upper bound: the time of all calls beyond the shortest, which is more than the time beyond the mean of the fastest rank."
	}
	words := signatureWords(tr)
	t.Table = newTable("call", maxSites, "Call", "Calls", "Mean", "Min", "on rank", "Max", "on rank", wait)
	t.Table.more = max(0, lossy-maxSites)
	for _, s := range sites[:min(lossy, maxSites)] {
		call := cell{Text: words(s.Signature), Note: groupText(s), Name: true, Code: true,
			Find: fmt.Sprint("signature=", s.Signature)}
		t.Table.row(call, s.Calls, nanos(tenth(float64(s.Mean))), nanos(s.Min), order(s.MinRank),
			nanos(s.Max), order(s.MaxRank),
			valued(int64(min(s.Wait, 1<<62)), text.Around(s.Wait, s.WaitError)))
	}
	return nil
}

// groupText tells the groups of the durations of a call, if there are several.
func groupText(s query.Site) string {
	if len(s.Groups) < 2 {
		return ""
	}
	var parts []string
	for _, g := range s.Groups {
		parts = append(parts, fmt.Sprintf("%s take about %s",
			text.Percent(float64(g.Calls), float64(s.Calls)), text.Duration(g.Mean)))
	}
	return strings.Join(parts, ", ")
}

// signatureWords returns a function that writes the signatures of a trace: requests as
// a rank calls them that makes the call.
func signatureWords(tr *trace.Trace) func(int) string {
	words, p := make(map[int]func(int) string), tr.Printer(trace.PrintOptions{})
	for number := range tr.Shapes() {
		shape, err := tr.Shape(number)
		if err != nil {
			continue
		}
		of := wordsOf(tr, shape, p, tr.Signature)
		for n := range shape.Grammar.Occurrences() {
			if words[int(n)] == nil {
				words[int(n)] = of
			}
		}
	}
	return func(n int) string {
		if words[n] == nil {
			return unreadable(tr, n)
		}
		return words[n](n)
	}
}

// addLoad adds what each rank has to do: the time in its calls if that is known, and otherwise
// their number, unless it is the same for all.
func (p *page) addLoad(tr *trace.Trace) {
	ranks, timed := tr.Ranks(), p.byRank != nil && len(p.byRank.Ranks) == tr.RankSet().Len()
	l := &loadData{Ranks: ranks, Bins: min(ranks, maxLoads), Timed: timed}
	sums, counts := make([]float64, l.Bins), make([]float64, l.Bins)
	least, most := rankValue{}, rankValue{rank: -1}
	bin := func(rank int) int { return int(uint64(rank) * uint64(l.Bins) / uint64(ranks)) }
	add := func(rank int, v float64) {
		sums[bin(rank)] += v
		counts[bin(rank)]++
		if most.rank < 0 || v < least.value {
			least = rankValue{rank, v}
		}
		if most.rank < 0 || v > most.value {
			most = rankValue{rank, v}
		}
	}
	if timed {
		for _, r := range p.byRank.Ranks {
			add(r.Rank, float64(r.Time))
		}
	} else {
		for _, s := range p.profile.Shapes {
			eachRank(s.Ranks, func(rank int) { add(rank, float64(s.Calls)) })
		}
	}
	for i, n := range counts {
		if n > 0 {
			sums[i] = tenth(sums[i] / n)
		}
	}
	write := func(v float64) string { return text.Plural(uint64(v), "call") }
	what := "Calls of a rank"
	if timed {
		write, what = text.Duration[float64], "Time of a rank in calls"
	}
	if most.rank < 0 || ranks == 1 {
		return
	}
	l.Values = sums
	if timed && p.addParts(l, counts, bin) {
		p.data.Load = l
	}
	if most.value == least.value {
		p.Imbalance.Load = "All ranks make equally many calls: " + text.Count(uint64(most.value)) + "."
		return
	}
	p.Imbalance.Load = fmt.Sprintf("%s: from %s (rank %d) to %s (rank %d).", what, write(least.value),
		least.rank, write(most.value), most.rank)
	if p.data.Load == nil {
		p.Imbalance.Chart, p.data.Load = true, l
	}
}

type rankValue struct {
	rank  int
	value float64
}

func eachRank(s rankenc.Set, do func(rank int)) {
	for _, rank := range s.All() {
		do(int(rank))
	}
}

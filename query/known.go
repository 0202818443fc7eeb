package query

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Why a question about times has no answer.
var (
	// ErrNoTimes means that there are no times of the calls that the question is about.
	ErrNoTimes = errors.New("query: the trace has no times")

	// ErrNoSeries means that the trace does not have the times of every call, of any rank.
	ErrNoSeries = errors.New("query: the trace does not have the times of every call")

	// ErrTogether means that the question is about some ranks, and the trace has times of all ranks together
	// alone.
	ErrTogether = errors.New("query: the trace has only statistics of all ranks together")

	// ErrUnasked means that the question is about some ranks, and only the times of every call tell these
	// apart, which are read if [Options] ask for them.
	ErrUnasked = errors.New(
		"query: statistics are of all ranks together, and the times of every call were not asked for")
)

// needsEach are the questions whose answer is about single calls, or about their order, by the names of their
// commands.
var needsEach = map[string]bool{
	"at": true, "diff": true, "efficiency": true, "export": true, "hang": true, "match": true, "predict -o": true,
	"verify": true, "view": true,
}

// CheckExact returns an error if a question, which has the name of its command, needs each call as it was
// recorded, and the trace, which was made to fit a size, does not have some: see [trace.Content]. It costs
// what that costs.
func CheckExact(t *trace.Trace, question string) error {
	need.That(t != nil, "query: no trace")
	if t.Content().Exact || !needsEach[question] {
		return nil
	}
	return fmt.Errorf("query: the trace was made to fit a size, and %s needs each call as it was", question)
}

// ByFunction returns the durations of the calls of each function that has some, of all ranks together, and the
// gaps before them, from statistics or, if there are none, from histograms: each in descending order of the
// sum. The number of values is 2⁶³−1 also if they are more. Functions of one name are one. It takes time in
// proportion to the signatures, and to the histograms if it needs these.
func (t *Times) ByFunction() (durations, gaps iter.Seq2[FunctionCount, *Durations]) {
	return t.byFunction(&t.summaries[0]), t.byFunction(&t.summaries[1])
}

func (t *Times) byFunction(s *timing.Summary) iter.Seq2[FunctionCount, *Durations] {
	functions := t.trace.Functions()
	all := make([]timing.Statistics, len(functions))
	of := make([]*timing.Statistics, len(all)) // that of the first of the name
	byName := make(map[string]*timing.Statistics)
	for f := range functions {
		name := functions[f].Name
		if byName[name] == nil {
			byName[name] = &all[f]
		}
		of[f] = byName[name]
	}
	for n := range s.Statistics {
		of[t.trace.FunctionOf(n)].Merge(&s.Statistics[n])
	}
	if len(s.Statistics) == 0 && s.Histograms != nil {
		for p, h := range s.Histograms.All() {
			of[t.trace.FunctionOf(int(p.Terminal))].Merge(h.Statistics())
		}
	}
	type row struct {
		FunctionCount
		*Durations
	}
	var list []row
	for f := range all {
		if d := durationsOf(&all[f]); d != nil {
			list = append(list, row{FunctionCount{functions[f].Name, all[f].Count}, d})
		}
	}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(b.Total, a.Total) })
	return func(yield func(FunctionCount, *Durations) bool) {
		for _, r := range list {
			if !yield(r.FunctionCount, r.Durations) {
				return
			}
		}
	}
}

// A SomeRanksError means that the times of every call were asked for of ranks of which the trace does not
// have them.
type SomeRanksError struct {
	Ranks rankenc.Set // that have them
}

func (e *SomeRanksError) Error() string {
	return fmt.Sprintf("query: the trace has the times of every call of ranks %v only", e.Ranks)
}

// MaxUnasked is how many calls the times of every call are read of without being asked for: it takes some
// seconds at most.
const MaxUnasked = 5_000_000

// Known returns by what the times of any call of the trace are known at best, Series if it has those of every
// call of a rank, and the ranks that have these. An error is one of reading them.
func (t *Times) Known() (best Source, series rankenc.Set, err error) {
	series, _, err = t.trace.SeriesRanks()
	switch d, g := &t.summaries[durations], &t.summaries[gaps]; {
	case err != nil:
		return None, series, err
	case series.Len() > 0:
		return Series, series, nil
	case d.Histograms != nil || g.Histograms != nil:
		return Histograms, series, nil
	case !layout.NoSummary(d) || !layout.NoSummary(g):
		return Statistics, series, nil
	}
	return None, series, nil
}

// seriesIsExact reports whether there are times of every call, and all of them are exact.
func (t *Times) seriesIsExact(series rankenc.Set) (bool, error) {
	if series.Len() == 0 {
		return false, nil
	}
	g, err := t.Guarantee()
	return g == timing.Exact, err
}

// among returns the ranks of p that are in a set, and how many calls they make.
func (p *Profile) among(set rankenc.Set) (ranks rankenc.Set, calls uint64) {
	all := make([]rankenc.Set, len(p.Shapes))
	for i, s := range p.Shapes {
		all[i] = s.Ranks.Intersection(set)
		calls = wire.AddSat(calls, wire.MulSat(s.Calls, uint64(all[i].Len())))
	}
	return ranks.Union(all...), calls
}

// whole returns the options without a choice of ranks, if that is of all ranks of a trace that make calls:
// statistics are of these together.
func (o Options) whole(t *trace.Trace) Options {
	if o.Ranks != nil && t.RankSet().Difference(*o.Ranks).Len() == 0 {
		o.Ranks = nil
	}
	return o
}

// HasThreads reports whether functions of a trace say which thread called them, as those do that other
// threads than the first call.
func HasThreads(t *trace.Trace) bool {
	need.That(t != nil, "query: no trace")
	return slices.ContainsFunc(t.Functions(), func(f cst.Function) bool {
		return len(f.Params) > 0 && f.Params[0].Name == trace.ThreadParam && f.Params[0].Type.Kind == cst.KindInt
	})
}

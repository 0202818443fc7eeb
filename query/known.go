package query

import (
	"errors"
	"fmt"
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
	ErrUnasked = errors.New("query: statistics are of all ranks together, and the times of every call were not asked for")
)

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

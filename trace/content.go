package trace

import (
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Content says what a trace has of a run and what it lacks, but for times of calls, of which
// [Trace.SeriesRanks] tells, and damage, of which [Trace.Damage] does.
type Content struct {
	// Recorded are the ranks that made calls, also those that [Options.LeaveOutDamage] left out, which are
	// not in [Trace.RankSet]. [Trace.Summaries] are of them all.
	Recorded rankenc.Set

	// Unrecorded are the ranks of MPI_COMM_WORLD of which nothing was recorded, as far as the trace tells:
	// each made calls, at least one that begins, and none is here.
	Unrecorded rankenc.Set

	// Exact is set if all calls are as they were recorded. Those of a trace that was made to fit a size may
	// not be, see [Call.Exact]; calls by function and rank always are, and messages and their bytes by
	// function and pair of ranks.
	Exact bool

	// LostOrder is set if the calls of different ranks had an order that the file does not hold: they are
	// read rank by rank then.
	LostOrder bool

	// NoRankTimes is set if the trace has statistics of times but not those of each of so many ranks, which
	// may have been too many to be kept.
	NoRankTimes bool

	// Foreign are the ranks whose times of every call are in a codec that this program does not know:
	// [Trace.SeriesCodec] has its name, and [timing.Register] makes it known. Where [Options.LeaveOutDamage]
	// is set, these ranks are not in [Trace.SeriesRanks].
	Foreign rankenc.Set
}

// Content returns what the trace has and lacks. It is found once, at the cost of the index of the times of
// every call, if the trace has these, of a few operations on sets of ranks and, of a trace of very many
// ranks, of the times of each of them.
func (t *Trace) Content() Content { return t.content() }

func (t *Trace) findContent() Content {
	return Content{
		Recorded: t.recorded(), Unrecorded: t.unrecorded(), Exact: t.isExact(), NoRankTimes: t.leavesOutRankTimes(),
		LostOrder: t.lostOrder(), Foreign: t.foreignRanks(),
	}
}

// lostOrder reports whether the calls of different ranks had an order that is not there.
func (t *Trace) lostOrder() bool { return t.interleaved && t.run.Interleaving == nil }

// unrecorded returns the ranks of MPI_COMM_WORLD that should have made calls, and did not.
func (t *Trace) unrecorded() rankenc.Set {
	if t.run.Origin.World == 0 {
		return rankenc.Set{}
	}
	others := rankenc.World(t.run.Ranks).Difference(t.recorded())
	if t.run.Origin.Off.Len() > 0 {
		others = others.Difference(t.run.Origin.Off)
	}
	if others.Len() == 0 {
		return rankenc.Set{}
	}
	return others
}

// isExact reports whether all calls are as they were recorded.
func (t *Trace) isExact() bool {
	b := t.run.Bounded
	return b == nil || len(b.Stretches)+len(b.InOrder) == 0
}

// leavesOutRankTimes reports whether there may have been too many ranks to keep the times of each.
func (t *Trace) leavesOutRankTimes() bool {
	ranks := t.recorded().Len()
	if !t.sections.Has(layout.KindSummaries) || !layout.MayNotFit(ranks, len(t.Functions())) {
		return false
	}
	r, err := t.rankTimes()
	if r == nil {
		return err == nil && !t.sections.Has(layout.KindRankTimes) // they are not damaged
	}
	return r.Len() < ranks
}

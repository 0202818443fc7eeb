package waits

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Bound is how long calls of a rank in one place, of a collective operation, wait for others at most.
type Bound struct {
	Site
	Rank  int               `json:"rank"`
	Calls uint64            `json:"calls"`      // that may wait
	Most  query.Nanoseconds `json:"at_most_ns"` // waiting of all of them
}

// Bounds returns how long ranks, all if that is nil, wait at most in blocking collective operations, by the sums
// that a trace keeps of each rank and the statistics of signatures: those that may wait longest first, and nothing
// if it has none of these, or if it is not known what calls do. A call waits no longer than it takes, so that the
// bound is its time. The root of MPI_Bcast, say, waits for nobody: of such calls, and those in other places, the
// sum of the rank has as much as if each took the shortest time of its signature. How long it waits at least is
// not known. It costs what [semantics.Rank.All] costs, for each rank.
func Bounds(ctx context.Context, model *semantics.Model, ranks *rankenc.Set) ([]Bound, error) {
	need.That(model != nil, "waits: no model")
	tr := model.Trace()
	o := query.Options{Ranks: ranks}
	times, err := query.OpenTimes(tr)
	if err != nil || !model.Known() || !tr.Content().Exact || !times.HasRanks(o) {
		return nil, err
	}
	profile, err := query.OpenProfile(ctx, tr, o)
	if err != nil {
		return nil, err
	}
	all, err := times.ByRank(ctx, profile, false, o)
	if err != nil {
		return nil, err
	}
	b := bounds{trace: tr, names: query.SitesOf(tr)}
	if b.durations, _, err = tr.Summaries(); err != nil {
		return nil, err
	}
	for i := range all.Ranks {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		of, err := model.Rank(all.Ranks[i].Rank)
		if err != nil {
			return nil, err
		}
		b.add(of, &all.Ranks[i])
	}
	slices.SortFunc(b.list, func(a, b Bound) int {
		return cmp.Or(cmp.Compare(b.Most, a.Most), cmp.Compare(a.Rank, b.Rank), a.Site.compare(b.Site))
	})
	return b.list, nil
}

// Bounds of calls, and what they are from.
type bounds struct {
	trace     *trace.Trace
	names     query.Sites
	durations timing.Summary
	list      []Bound
}

// A siteSum is the calls of a rank in a place: how often they may wait, how long these take at most, and how long
// the others take at least, as all of them do.
type siteSum struct {
	calls                   uint64
	most, leastOther, least query.Nanoseconds
}

// add adds the bounds of a rank.
func (b *bounds) add(of *semantics.Rank, p *query.RankProfile) {
	waits := make(map[uint32]uint64) // calls that may, by terminal
	for o := range of.All() {
		if replay.MayWait(o.Operation, of.Number()) {
			waits[o.Terminal] += o.Count
		}
	}
	sites, least := make(map[Site]siteSum), make(map[string]query.Nanoseconds)
	for terminal, count := range of.Occurrences() {
		call := of.Call(terminal)
		s := Site{Function: call.Function.Name}
		if place := b.names.Of(&call); place != "" {
			s.Place = query.Frames(place)[0]
		}
		shortest, most := b.of(of.Signature(terminal), waits[terminal])
		sum := sites[s]
		sum.calls, sum.most = sum.calls+waits[terminal], sum.most+most
		sum.leastOther += shortest * query.Nanoseconds(count-waits[terminal])
		sum.least += shortest * query.Nanoseconds(count)
		sites[s] = sum
		least[s.Function] += shortest * query.Nanoseconds(count)
	}
	for s, sum := range sites {
		if sum.calls == 0 || query.OutsideRun(s.Function) {
			continue
		}
		i := slices.IndexFunc(p.Functions, func(f query.RankFunction) bool { return f.Name == s.Function })
		if i < 0 {
			continue
		}
		f := &p.Functions[i]
		most := min(sum.most, f.Time+f.Error-(least[s.Function]-sum.least)-sum.leastOther)
		if most > 0 && !math.IsInf(float64(most), 1) {
			b.list = append(b.list, Bound{s, of.Number(), sum.calls, most})
		}
	}
}

// of returns how long a call of a signature takes at least, and n of them at most.
func (b *bounds) of(signature int, n uint64) (shortest, most query.Nanoseconds) {
	if n > 0 {
		most = query.Nanoseconds(math.Inf(1))
	}
	if signature >= len(b.durations.Statistics) {
		return 0, most
	}
	s := &b.durations.Statistics[signature]
	if s.Count == 0 {
		return 0, most
	}
	if sum := s.Sum() + float64(s.SumError()); n > 0 {
		most = min(query.Nanoseconds(n)*query.Nanoseconds(max(0, s.Max)), query.Nanoseconds(max(0, sum)))
	}
	return query.Nanoseconds(max(0, s.Min)), most
}

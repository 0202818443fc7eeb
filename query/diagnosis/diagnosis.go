// Package diagnosis says in short why a run took as long as it did: how efficient it was, which rank the others
// wait for, and where that rank computes meanwhile.
//
//	d, err := diagnosis.Open(ctx, trace, diagnosis.Options{})
//	…
//	fmt.Println(d.Factors.Parallel, d.Slowest.Rank)
//
// It has no number that the trace does not tell. From the sums that a trace keeps of each rank come the parallel
// efficiency, the load balance and the communication efficiency; what others wait for, serialization and
// transfer need the times of every call.
package diagnosis

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// MaxCalls is up to how many calls the times of every call are read, unless [Options] say it.
const MaxCalls = 1_000_000

// Options configures [Open].
type Options struct {
	// Region, unless it is nil, is the part of the run that the diagnosis is of. It needs the times of every call.
	Region *query.Region

	// MaxCalls is up to how many calls of all ranks the times of every call are read. Zero means the constant.
	MaxCalls uint64

	// Pairs and Calls are those of [waits.Options], for Diagnosis.Waits.
	Pairs bool
	Calls *rankenc.Set

	// Progress, unless it is nil, is called with the number of calls that are done.
	Progress func(calls uint64)
}

// A Diagnosis says why a run took as long as it did.
type Diagnosis struct {
	query.RunTimes
	Ranks   int         `json:"ranks"`                        // that made calls
	Missing rankenc.Set `json:"missing_rank_set,omitzero"`    // which are not in the trace
	Early   rankenc.Set `json:"unfinished_rank_set,omitzero"` // which did not come to MPI_Finalize
	Aborted rankenc.Set `json:"aborted_rank_set,omitzero"`    // which called MPI_Abort
	Off     bool        `json:"recording_off,omitempty"`      // for a part of the run, or it may have been

	OffRanks rankenc.Set `json:"off_rank_set,omitzero"` // of which it is known that recording was off meanwhile

	// Share is the time in calls, nil where calls overlap.
	Share *query.CallShare `json:"share_in_calls"`

	Factors *Factors `json:"efficiency"`   // nil if they are not known
	Slowest *Slowest `json:"slowest_rank"` // nil if it is not known
	Waiting *Waiting `json:"waiting"`      // nil if it is not known, or if no rank waits

	// Unreceived are messages that the trace has no receive of, if these are so many that it is not known how ranks
	// wait for messages. Apart is how far the clocks of ranks differ at least, if it is not known therefore who waits.
	Unreceived uint64            `json:"unreceived_messages,omitzero"`
	Apart      query.Nanoseconds `json:"clocks_differ_ns,omitzero"`

	// Exact says that the times of every call were read, and Series that the trace has them.
	Exact  bool `json:"times_read"`
	Series bool `json:"series"`

	// Efficiency and Waits are what Factors and Waiting are from, nil where the times of every call do not tell it.
	Efficiency *efficiency.Run `json:"-"`
	Waits      *waits.Run      `json:"-"`
}

// Factors are those of [efficiency.Factors].
type Factors struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	// nil without the times of every call, or where these are too inexact, like Transfer
	Serialization *float64 `json:"serialization"`
	Transfer      *float64 `json:"transfer"`
}

// A Slowest is the rank that computes longest.
type Slowest struct {
	query.SlowRank

	// Time is how long it computes where it does so longest, from a call at From to one at To; nil where these
	// are not known.
	Time query.Nanoseconds `json:"longest_computing_ns,omitzero"`
	From *waits.Site       `json:"after,omitempty"`
	To   *waits.Site       `json:"before,omitempty"`
}

// A Waiting is that ranks wait for one of them more than for any other.
type Waiting struct {
	Ranks  rankenc.Set       `json:"rank_set"`      // that wait, for whomever
	Wait   query.Nanoseconds `json:"wait_ns"`       // of all of them
	Error  query.Nanoseconds `json:"wait_error_ns"` // how far Wait may be off
	Rank   int               `json:"rank"`          // that causes most of it
	Caused query.Nanoseconds `json:"caused_ns"`     // of Wait, by this rank
	Cause  waits.Cause       `json:"cause"`         // its longest
}

// Open says why the run of a trace took as long as it did. It returns nil if the trace does not tell how long
// that is: see [query.Times.Run].
func Open(ctx context.Context, t *trace.Trace, o Options) (*Diagnosis, error) {
	need.That(t != nil, "diagnosis: no trace")
	times, err := query.OpenTimes(t)
	if err != nil {
		return nil, err
	}
	if o.Region != nil {
		return openRegion(ctx, t, times, o)
	}
	run, err := times.Run(ctx)
	if err != nil || run == nil {
		return nil, err
	}
	d := &Diagnosis{RunTimes: *run, Ranks: t.RankSet().Len()}
	profile, err := query.OpenProfile(ctx, t, query.Options{Functions: true})
	if err != nil {
		return nil, err
	}
	d.Missing = rankenc.World(t.Ranks()).Difference(t.RankSet())
	if d.Early, err = query.RanksWithout(ctx, t, "MPI_Finalize", query.Options{}); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(profile.Functions, func(f query.FunctionProfile) bool { return query.InStartup(f.Name) }) {
		d.Early = rankenc.Set{}
	}
	if d.Early.Len() > 0 {
		if d.Aborted, err = query.RanksInCalls(ctx, t, "MPI_Abort", query.Options{}); err != nil {
			return nil, err
		}
	}
	if off := t.Run().Origin.Off.Intersection(t.RankSet()); off.Len() > 0 {
		d.OffRanks = off
	}
	// with a name, it is of a region
	d.Off = d.OffRanks.Len() > 0 || slices.ContainsFunc(t.Functions(), func(f cst.Function) bool {
		return f.Name == "MPI_Pcontrol" && !slices.ContainsFunc(f.Params, func(p cst.Param) bool {
			return p.Name == "name"
		})
	})
	if d.Missing.Len() > 0 || d.Early.Len() > 0 || d.Off { // the rest is not all of the run
		return d, nil
	}
	best, series, err := times.Known()
	if err != nil {
		return nil, err
	}
	d.Series = best == query.Series && series.Len() == d.Ranks
	model, err := semantics.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	few := d.Series && profile.Calls <= cmp.Or(o.MaxCalls, MaxCalls)
	if few && model.Known() {
		if err := d.addExact(ctx, model, times, o); err != nil {
			return nil, err
		}
	}
	if !few && !times.HasRanks(query.Options{}) {
		return d, nil
	}
	return d, d.addSums(ctx, times, profile, t, model.Known())
}

// openRegion says why a part of the run took as long as it did.
func openRegion(ctx context.Context, t *trace.Trace, times *query.Times, o Options) (*Diagnosis, error) {
	best, series, err := times.Known()
	switch {
	case err != nil:
		return nil, err
	case best != query.Series || t.RankSet().Difference(series).Len() > 0:
		return nil, query.ErrNoSeries
	}
	model, err := semantics.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	a, err := times.Activity(ctx, 0, math.MaxInt64, query.Options{Region: o.Region})
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Ranks: o.Region.Ranks.Len(), Series: true}
	var list []query.RankProfile
	for _, r := range a.Ranks {
		if r.Span > 0 {
			list = append(list, query.RankProfile{RankActivity: r})
		}
		d.Run = max(d.Run, r.Span)
	}
	if len(list) > 0 {
		d.Share = (&query.ByRank{Ranks: list}).Share()
	}
	if !model.Known() {
		return d, nil
	}
	if err := d.addExact(ctx, model, times, o); err != nil {
		return nil, err
	}
	if d.Efficiency != nil {
		d.Run = d.Efficiency.Time
	}
	return d, nil
}

// addFactors adds how efficient the run was.
func (d *Diagnosis) addFactors(e *efficiency.Run) {
	f := e.Factors
	d.Efficiency = e
	d.Factors = &Factors{Parallel: f.Parallel, LoadBalance: f.LoadBalance, Communication: f.Communication}
	if !e.Longer { // else times are too inexact for them
		d.Factors.Serialization, d.Factors.Transfer = f.Serialization, f.Transfer
	}
	if e.LacksReceives {
		d.Unreceived = e.Unreceived
	}
}

// maxBoth is up to how many ranks a run is followed twice at once, which takes twice the memory.
const maxBoth = 1 << 12

// addExact adds what the times of every call tell, as far as they do: a run that was cut short has no ideal one.
func (d *Diagnosis) addExact(ctx context.Context, model *semantics.Model, times *query.Times,
	o Options) error {
	var (
		e                  *efficiency.Run
		w                  *waits.Run
		incomparable, none error // why there is no e and no w
	)
	if err := model.Trace().DecodeTimes(ctx); err != nil { // once for both
		return err
	}
	workers := 0
	if model.Trace().Ranks() > maxBoth {
		workers = 1
	}
	err := parallel.Each(ctx, workers, 2, func(i int) error {
		if i == 0 {
			e, incomparable = efficiency.Open(ctx, model, efficiency.Options{Times: times, Region: o.Region})
		} else {
			w, none = waits.Open(ctx, model, waits.Options{Times: times, Region: o.Region, Series: true,
				Pairs: o.Pairs, Calls: o.Calls, Progress: o.Progress})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if incomparable == nil && e.Factors != nil {
		d.addFactors(e)
	}
	if differ := (*waits.ClocksError)(nil); errors.As(none, &differ) {
		if d.Apart = differ.Apart; d.Factors != nil { // so is how long the run took
			d.Factors.Serialization, d.Factors.Transfer = nil, nil
		}
	}
	if none != nil {
		return nil
	}
	if d.Exact, d.Waits = true, w; w.LacksReceives {
		d.Unreceived = w.Unreceived
	}
	by, all := make(map[int]query.Nanoseconds), query.Nanoseconds(0)
	for _, c := range w.Causes {
		if !inStartup(&c) {
			by[c.Rank], all = by[c.Rank]+c.Cost, all+c.Cost
		}
	}
	if all <= 0 {
		return nil
	}
	const some = 100 // a hundredth of all waits
	var ranks []int
	for _, v := range w.Victims {
		if v.Wait >= w.Wait/some {
			ranks = append(ranks, v.Rank)
		}
	}
	d.Waiting = &Waiting{Ranks: rankenc.SetOf(ranks...), Wait: min(all, w.Wait), Error: w.WaitError}
	for _, c := range w.Causes { // those of most cost first
		if caused := by[c.Rank]; caused > d.Waiting.Caused && !inStartup(&c) {
			d.Waiting.Rank, d.Waiting.Caused, d.Waiting.Cause = c.Rank, caused, c
		}
	}
	return nil
}

// inStartup reports whether the delay of a cause is before the run begins.
func inStartup(c *waits.Cause) bool { return query.InStartup(c.To.Function) }

// addSums adds what the sums of each rank tell, which are those of the times of every call if the trace keeps no
// others.
func (d *Diagnosis) addSums(ctx context.Context, times *query.Times, p *query.Profile, t *trace.Trace,
	known bool) error {
	b, err := times.ByRank(ctx, p, !times.HasRanks(query.Options{}), query.Options{})
	if err != nil {
		return err
	}
	d.Share = b.Share()
	slow := b.Slowest()
	if slow == nil {
		return nil
	}
	d.Slowest = &Slowest{SlowRank: *slow}
	const inexact = 0.05 // of the run
	if d.Error > inexact*d.Run || slow.Outside > (1+inexact)*d.Run {
		d.Slowest, d.Factors = nil, nil
		return nil
	}
	if balance, ok := b.LoadBalance(); ok && known && d.Factors == nil && d.Run > 0 {
		communication := min(1, float64(slow.Outside/d.Run))
		d.Factors = &Factors{Parallel: balance * communication, LoadBalance: balance, Communication: communication}
	}
	r, err := t.Rank(slow.Rank)
	if err != nil {
		return err
	}
	c, err := times.LongestComputing(r)
	if c == nil || err != nil {
		return err
	}
	sites := query.SitesOf(t)
	d.Slowest.Time, d.Slowest.To = min(c.Time, slow.Outside), siteAt(r, sites, c.Before)
	if c.After != nil {
		d.Slowest.From = siteAt(r, sites, *c.After)
	}
	return nil
}

// siteAt returns the site of a call of a rank.
func siteAt(r *trace.Rank, sites query.Sites, position uint64) *waits.Site {
	call := r.Call(uint32(r.Walk(position).Next().Symbol))
	s := &waits.Site{Function: call.Function.Name}
	if place := sites.Of(&call); place != "" {
		s.Place = query.Frames(place)[0]
	}
	return s
}

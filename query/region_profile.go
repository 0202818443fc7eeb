package query

import (
	"context"
	"errors"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A RegionProfile is how long ranks are in the regions of a run.
type RegionProfile struct {
	Run       Nanoseconds      `json:"run_ns"`         // from MPI_Init to MPI_Finalize; 0 if it is not known
	Source    Source           `json:"source"`         // of the times: the least exact of those of the ranks
	Guarantee timing.Guarantee `json:"relative_error"` // if the Source is Series
	Unphased  bool             `json:"phases_unknown"` // the control flows of ranks are too long to be compared
	Regions   []RegionTime     `json:"by_region"`      // in the order of [Regions]
}

// A RegionTime is how long ranks are in a region. Time and InCalls are 0 if there are no times.
type RegionTime struct {
	*Region
	Mean    Nanoseconds `json:"mean_ns"`     // of the ranks that are in it
	Max     Nanoseconds `json:"max_ns"`      // the longest of these
	MaxRank int         `json:"rank_of_max"` // which that is
	InCalls Nanoseconds `json:"in_calls_ns"` // of Mean: a rank of several threads is in a call while one of these is

	// Exclusive is the part of Mean in which a rank is in no call, and in no region in a NamedRegion; nil of others,
	// and if it is not known, as some million calls of threads overlap.
	Exclusive *Nanoseconds `json:"exclusive_ns,omitempty"`
}

// OpenRegionProfile returns how long the ranks of the options are in each region of the trace. It reads the times of
// the calls of each rank once, however many regions there are and however they nest, and the boundaries of these.
func OpenRegionProfile(ctx context.Context, t *trace.Trace, o Options) (*RegionProfile, error) {
	need.That(t != nil, "query: no trace")
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	p := &RegionProfile{Source: None, Regions: []RegionTime{}}
	run, err := times.Run(ctx)
	if err != nil {
		return nil, err
	}
	if run != nil {
		p.Run = run.Run
	}
	regions, err := Regions(ctx, t)
	if p.Unphased = errors.Is(err, ErrUnphased); err != nil && !p.Unphased {
		return nil, err
	}
	all := slices.Clone(regions)
	for _, g := range regions {
		if g.own != nil {
			all = append(all, g.own)
		}
	}
	sums, source, guarantee, err := times.useOf(ctx, all, o)
	if err != nil {
		return nil, err
	}
	own := sums[len(regions):]
	for i, g := range regions {
		r := RegionTime{Region: g}
		of, n := &sums[i], Nanoseconds(sums[i].ranks)
		if n > 0 {
			r.Mean, r.InCalls, r.Max, r.MaxRank = of.span/n, of.inCalls/n, of.max, of.maxRank
			p.Source, p.Guarantee = source, guarantee
		}
		if g.own != nil {
			if n > 0 && !(own[0].unknown && HasThreads(t)) {
				exclusive := (own[0].span - own[0].inCalls) / n
				r.Exclusive = &exclusive
			}
			own = own[1:]
		}
		p.Regions = append(p.Regions, r)
	}
	return p, nil
}

// A usesSum is what ranks do in a region. Those that do not come to it do not count among ranks.
type usesSum struct {
	regionUse
	ranks   int
	max     Nanoseconds // span
	maxRank int
}

// add adds what a rank does.
func (s *usesSum) add(rank int, u regionUse) {
	if u.calls > 0 {
		if s.ranks++; u.span > s.max {
			s.max, s.maxRank = u.span, rank
		}
	}
	s.span, s.inCalls, s.unknown = s.span+u.span, s.inCalls+u.inCalls, s.unknown || u.unknown
}

// useOf returns what the ranks of the options do in regions, and how exact that is.
func (t *Times) useOf(ctx context.Context, regions []*Region, o Options) (sums []usesSum, source Source,
	guarantee timing.Guarantee, err error) {
	ranks, err := o.ranks(t.trace, fewPerRank)
	if err != nil {
		return nil, None, timing.Exact, err
	}
	sums, o.Progress = make([]usesSum, len(regions)), nil
	sources, guarantees := make([]Source, len(ranks)), make([]timing.Guarantee, len(ranks))
	const together = 16 // ranks whose results are held at once: sums are in their order
	for first := 0; first < len(ranks); first += together {
		some := ranks[first:min(first+together, len(ranks))]
		uses := make([][]regionUse, len(some))
		err = t.eachClock(ctx, some, o, func(i int, c *Clock) (err error) {
			sources[first+i], guarantees[first+i] = c.Source(), c.Guarantee()
			uses[i], err = c.uses(t.trace, regions)
			return err
		})
		if err != nil {
			return nil, None, timing.Exact, err
		}
		for i, of := range uses {
			for n := range of {
				sums[n].add(some[i], of[n])
			}
		}
	}
	if len(ranks) == 0 {
		return sums, None, timing.Exact, nil
	}
	return sums, slices.Min(sources), slices.Max(guarantees), nil
}

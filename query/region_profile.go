package query

import (
	"context"
	"errors"

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

// OpenRegionProfile returns how long the ranks of the options are in each region of the trace, as [Times.Activity] has
// it. It costs that for each region.
func OpenRegionProfile(ctx context.Context, t *trace.Trace, o Options) (*RegionProfile, error) {
	need.That(t != nil, "query: no trace")
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	p := &RegionProfile{Source: Series}
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
	o.Progress = nil
	for _, g := range regions {
		r := RegionTime{Region: g}
		o.Region = g
		a, err := times.activity(ctx, 0, maxTime, o)
		if err != nil {
			return nil, err
		}
		n := Nanoseconds(0)
		for _, of := range a.Ranks {
			if of.Calls == 0 {
				continue
			}
			if n++; of.Span > r.Max {
				r.Max, r.MaxRank = of.Span, of.Rank
			}
			r.Mean, r.InCalls = r.Mean+of.Span, r.InCalls+of.inCalls()
		}
		if n > 0 {
			r.Mean, r.InCalls = r.Mean/n, r.InCalls/n
			if r.Exclusive, err = times.exclusive(ctx, g, n, o); err != nil {
				return nil, err
			}
			p.Source, p.Guarantee = min(p.Source, a.Source), max(p.Guarantee, a.Guarantee)
		}
		p.Regions = append(p.Regions, r)
	}
	if best, _, err := times.Known(); err != nil || best == None || len(regions) == 0 {
		p.Source = None
		return p, err
	}
	return p, nil
}

// exclusive returns how long n ranks are, in the mean, in a NamedRegion and in no region in it, nor in a call.
func (t *Times) exclusive(ctx context.Context, g *Region, n Nanoseconds, o Options) (*Nanoseconds, error) {
	if g.own == nil {
		return nil, nil
	}
	o.Region = g.own
	a, err := t.activity(ctx, 0, maxTime, o)
	if err != nil {
		return nil, err
	}
	sum := Nanoseconds(0)
	for _, of := range a.Ranks {
		if sum += of.Span - of.inCalls(); of.Outside > of.Span && HasThreads(t.trace) {
			return nil, nil
		}
	}
	sum /= n
	return &sum, nil
}

// inCalls returns how long a rank is in at least one call.
func (r *RankActivity) inCalls() Nanoseconds {
	if r.Outside <= r.Span {
		return r.Span - r.Outside
	}
	return min(r.Time, r.Span)
}

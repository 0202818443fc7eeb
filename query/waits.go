package query

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// An Imbalance is the calls in which ranks wait for others, by the times that tell it best.
type Imbalance struct {
	// Exact says that Sites are by the times of every call of the ranks that have these. Otherwise they are
	// by statistics of all ranks together, and their wait time is an upper bound.
	Exact bool `json:"exact"`

	Total Nanoseconds `json:"time_ns"`       // in all calls, but for startup and shutdown
	Error Nanoseconds `json:"time_error_ns"` // how far Total may be off

	// Sites are those of most wait time first: none if the question is about some ranks, which
	// statistics do not tell apart.
	Sites []Site `json:"signatures"`

	// Functions and Slowest are by the sums that the trace keeps of each rank. There are none unless it keeps
	// those of all ranks that the question is about, and Slowest is nil where it is not known.
	Functions []FunctionRanks `json:"functions,omitempty"`
	Slowest   *SlowRank       `json:"slowest_rank,omitempty"`

	// Unordered says that the order in which the threads of a rank made their calls is not known: nor is it who was late.
	Unordered bool `json:"threads_unordered,omitzero"`

	Overlapping bool `json:"-"` // calls of a rank overlap, by the sums that are kept of it
	NoSeries    bool `json:"-"` // the trace has the times of every call of no rank
}

// OpenImbalance returns the calls in which ranks wait. It reads the times of every call if [Options] ask for
// them, if there are no statistics, or if all ranks that the question is about have them, of [MaxUnasked]
// calls at most: this takes time as [Times.ReadSeries] does. Otherwise the
// answer is from statistics, and takes as long as [Times.Imbalance].
//
// An error is [ErrNoTimes], [ErrNoSeries] if Options ask for what the trace does not have, or [ErrTogether]
// or [ErrUnasked] if statistics are all there is, and the question is about some ranks alone.
func OpenImbalance(ctx context.Context, t *trace.Trace, o Options) (*Imbalance, error) {
	need.That(t != nil, "query: no trace")
	o = o.whole(t)
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	_, series, err := times.Known()
	if err != nil {
		return nil, err
	}
	quiet := o
	quiet.Progress = nil
	profile := sync.OnceValues(func() (*Profile, error) { return OpenProfile(ctx, t, quiet) })
	a := &Imbalance{Unordered: t.Run().ThreadsUnordered, NoSeries: series.Len() == 0}
	kept := times.HasRanks(o) && o.Region == nil
	if o.Region != nil && series.Len() == 0 {
		return nil, ErrNoSeries
	}
	if a.Exact, err = times.readsSeries(profile, series, kept, o); err != nil {
		return nil, err
	}
	if kept {
		p, err := profile()
		if err != nil {
			return nil, err
		}
		if err := a.addRanks(ctx, times, p, quiet); err != nil {
			return nil, err
		}
	}
	read := times
	if a.Exact {
		if read, err = times.ReadSeries(ctx, o); err != nil {
			return nil, err
		}
	}
	if a.Exact || o.Ranks == nil && o.Region == nil {
		if a.Sites, err = read.Imbalance(); err != nil {
			return nil, err
		}
		a.sum()
	}
	return a, nil
}

// readsSeries reports whether the times of every call are read: if that is asked for, if there is nothing
// else, or if the ranks of the profile are all in series, which have them, and their calls are not too many.
// If kept is set, the trace keeps times of each of these.
func (t *Times) readsSeries(profile func() (*Profile, error), series rankenc.Set, kept bool, o Options) (bool, error) {
	switch {
	case o.Series && series.Len() == 0:
		return false, ErrNoSeries
	case !t.Summarized() && series.Len() == 0:
		return false, ErrNoTimes
	case o.Series || !t.Summarized() || o.Region != nil:
		return true, nil
	case series.Len() == 0 && (kept || o.Ranks == nil):
		return false, nil
	case series.Len() == 0:
		return false, ErrTogether
	}
	p, err := profile()
	if err != nil {
		return false, err
	}
	some, calls := p.among(series)
	few := some.Len() == p.Ranks && p.Ranks > 0 && calls <= MaxUnasked
	if o.Ranks != nil && !few && !kept {
		return false, ErrUnasked
	}
	return few, nil
}

// addRanks adds what the trace keeps of the times of ranks.
func (a *Imbalance) addRanks(ctx context.Context, times *Times, p *Profile, o Options) error {
	b, err := times.ByRank(ctx, p, false, o)
	if err != nil {
		return err
	}
	a.Functions, a.Slowest, a.Overlapping = b.Functions, b.Slowest(), overlapping(b.Ranks)
	for _, r := range b.Ranks {
		a.Total, a.Error = a.Total+r.Time-r.wait, a.Error+r.Error // MPI_Finalize is no site of the run
	}
	return nil
}

// overlapping reports whether calls of a rank overlap, by the sums that are kept of it.
func overlapping(ranks []RankProfile) bool {
	return slices.ContainsFunc(ranks, func(r RankProfile) bool {
		return math.IsInf(float64(r.Outside), 1) && !math.IsInf(float64(r.Span+r.Time), 1)
	})
}

// sum sums up the times of the sites, unless the sums that are kept of the same calls are nearer.
func (a *Imbalance) sum() {
	total, off, calls := Nanoseconds(0), Nanoseconds(0), uint64(0)
	for _, s := range a.Sites {
		if !OutsideRun(s.Function) {
			total, off = total+s.Total, off+s.Error
		}
		calls += s.Calls
	}
	for _, f := range a.Functions {
		calls -= f.Calls
	}
	if calls != 0 || off <= a.Error {
		a.Total, a.Error = total, off
	}
}

package query

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A TimedProfile is a profile with the times that tell most of it.
type TimedProfile struct {
	Profile

	// Source says where the times are from: Series if those of every call were read, Statistics or Histograms
	// of all ranks together, or Statistics if they are the sums that the trace keeps of each rank. It is None
	// if there are no times, or not without reading too many calls.
	Source Source `json:"-"`

	// Guarantee is how far the times of every call may be off, nil unless these were read.
	Guarantee *timing.Guarantee `json:"relative_error,omitempty"`

	// OfRanks says that the times are those of each rank: of [FunctionProfile.OfRanks], or of RankTimes.
	OfRanks bool `json:"-"`

	// RankTimes are those of each rank, of a profile by rank.
	RankTimes   []RankProfile `json:"by_rank,omitzero"`
	Overlapping bool          `json:"-"` // calls of a rank overlap, by the sums that are kept of it

	// Series are the ranks of the profile that have the times of every call, and SeriesCalls how many calls
	// they make. Where there are no times, it is as these are not all ranks, or their calls are more than
	// [MaxUnasked].
	Series      rankenc.Set `json:"-"`
	SeriesCalls uint64      `json:"-"`
}

// OpenTimedProfile returns a profile with times: statistics of all ranks together, if the question is about
// all and these are exact. Otherwise it reads the times of every call, as [Times.ReadSeries] does, if
// [Options] ask for it, or all ranks of the profile have them, exactly, and make [MaxUnasked] calls at most;
// inexact ones only if there is nothing else. If there are more, functions have the sums that the trace keeps
// of each rank, in [FunctionProfile.OfRanks].
//
// An error is [ErrNoSeries] if Options ask for what the trace does not have, and a [*SomeRanksError] if it
// has it of some ranks alone.
func OpenTimedProfile(ctx context.Context, t *trace.Trace, o Options) (*TimedProfile, error) {
	return openTimedProfile(ctx, t, o, false)
}

// OpenRankProfile returns a profile with the times of each rank: those of every call if [Options] ask for it,
// or if the trace does not keep sums of each rank, or all ranks have them exactly; unasked, of [MaxUnasked]
// calls at most. Ranks without are left out.
//
// An error is as that of [OpenTimedProfile].
func OpenRankProfile(ctx context.Context, t *trace.Trace, o Options) (*TimedProfile, error) {
	return openTimedProfile(ctx, t, o, true)
}

func openTimedProfile(ctx context.Context, t *trace.Trace, o Options, byRank bool) (*TimedProfile, error) {
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
	if o.Series && series.Len() == 0 {
		return nil, ErrNoSeries
	}
	p, err := OpenProfile(ctx, t, o)
	if err != nil {
		return nil, err
	}
	a := &TimedProfile{Profile: *p}
	a.Series, a.SeriesCalls = a.among(series)
	switch {
	case !a.Timed || byRank:
	case times.summaries[durations].Histograms != nil:
		a.Source = Histograms
	default:
		a.Source = Statistics
	}
	if byRank || !a.Timed || o.Series || a.isRounded() {
		err = a.readTimes(ctx, times, series, byRank, o)
	}
	return a, err
}

// isRounded reports whether times of the profile are not exact.
func (p *Profile) isRounded() bool {
	return slices.ContainsFunc(p.Functions, func(f FunctionProfile) bool { return f.Time != nil && f.Time.Error > 0 })
}

// readTimes adds the times of ranks, or those of every call, of those ranks of series that the profile is
// about.
func (a *TimedProfile) readTimes(ctx context.Context, times *Times, series rankenc.Set, byRank bool, o Options) error {
	few := a.Series.Len() == a.Ranks && a.SeriesCalls <= MaxUnasked
	exact := false
	if few {
		var err error
		if exact, err = times.seriesIsExact(series); err != nil {
			return err
		}
	}
	// Sums of durations that are not exact are farther from the truth than those that are kept.
	kept := !o.Series && times.HasRanks(o) && (byRank && !(few && exact) || !byRank && !a.Timed && !few)
	switch {
	case kept:
		return a.readRanks(ctx, times, byRank, false, o)
	case !byRank && a.Timed && !o.Series && !(few && exact): // statistics will do
		return nil
	case o.Series && a.Series.Len() < a.Ranks && (a.Series.Len() == 0 || !byRank):
		return &SomeRanksError{series}
	case a.Series.Len() == 0, a.Series.Len() < a.Ranks && !byRank, a.SeriesCalls > MaxUnasked && !o.Series:
		return nil
	}
	o.Ranks = &a.Series
	if byRank {
		return a.readRanks(ctx, times, byRank, true, o)
	}
	read, err := times.ReadSeries(ctx, o)
	if err != nil {
		return err
	}
	g, err := times.Guarantee()
	a.SetTimes(read)
	a.Source, a.Guarantee = Series, &g
	return err
}

// readRanks adds the times of ranks: from the times of every call if series is set, and otherwise those that
// the trace keeps of each rank.
func (a *TimedProfile) readRanks(ctx context.Context, times *Times, byRank, series bool, o Options) error {
	found, err := times.ByRank(ctx, &a.Profile, series, o)
	if err != nil {
		return err
	}
	a.Source, a.OfRanks = found.Source, true
	if series {
		a.Guarantee = &found.Guarantee
	}
	if byRank {
		a.RankTimes, a.Overlapping = found.Ranks, overlapping(found.Ranks)
		return nil
	}
	of := make(map[string]*FunctionRanks)
	for i := range found.Functions {
		of[found.Functions[i].Name] = &found.Functions[i]
	}
	for i := range a.Functions {
		a.Functions[i].OfRanks = of[a.Functions[i].Name]
	}
	return nil
}

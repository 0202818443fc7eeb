package query

import (
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestKnown asks about traces that have times of each kind, or none: the answers say which they are from, and
// errors which there are not.
func TestKnown(t *testing.T) {
	const ranks = 3
	some, f := rankenc.SetOf(0, 1), testtrace.Function("f")
	untimed := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{{{Function: f}}, {{Function: f}},
		{{Function: f}}})
	for _, source := range []Source{None, Statistics, Histograms, Series} {
		trace := untimed
		if source != None {
			trace = testtrace.Timed(t, ranks, 20, testtrace.Times(source.String()))
		}
		timed, exact := source != None, source == Series
		times, err := OpenTimes(trace)
		if err != nil {
			t.Fatal(err)
		}
		if best, series, err := times.Known(); err != nil || best != source || (series.Len() == ranks) != exact {
			t.Errorf("%v: known by %v, the times of every call of %v, %v", source, best, series, err)
		}
		for _, o := range []Options{{}, {Ranks: &some}} {
			whole := o.Ranks == nil
			a, err := OpenImbalance(t.Context(), trace, o)
			if timed && (err != nil || a.Exact != exact || len(a.Sites) > 0 != (whole || exact) ||
				len(a.Functions) == 0 || a.Total <= 0) ||
				!timed && !errors.Is(err, ErrNoTimes) {
				t.Errorf("%v, all %v: imbalance %+v, %v", source, whole, a, err)
			}
			p, err := OpenTimedProfile(t.Context(), trace, o)
			if err != nil || (p.Source != None) != timed || p.Series.Len() > 0 != exact {
				t.Errorf("%v, all %v: profile %+v, %v", source, whole, p, err)
			}
			byRank, err := OpenRankProfile(t.Context(), trace, o)
			if err != nil || (len(byRank.RankTimes) == byRank.Ranks) != timed ||
				(byRank.Source == Series) != exact || byRank.OfRanks != timed {
				t.Errorf("%v, all %v: profile by rank %+v, %v", source, whole, byRank, err)
			}
			if o.Series = true; !exact {
				_, imbalance := OpenImbalance(t.Context(), trace, o)
				_, profile := OpenTimedProfile(t.Context(), trace, o)
				_, activity := times.Activity(t.Context(), 0, maxTime, o)
				if !errors.Is(imbalance, ErrNoSeries) || !errors.Is(profile, ErrNoSeries) ||
					!errors.Is(activity, ErrNoSeries) {
					t.Errorf("%v: asked for every call: %v, %v, %v", source, imbalance, profile, activity)
				}
			} else if p, err := OpenTimedProfile(t.Context(), trace, o); err != nil || p.Source != Series ||
				p.Guarantee == nil {
				t.Errorf("asked for every call: %+v, %v", p, err)
			}
		}
		r, err := trace.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := times.Clock(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _, positions := c.Positions(0, maxTime)
		_, at := times.At(t.Context(), 0, Options{})
		_, activity := times.Activity(t.Context(), 0, maxTime, Options{})
		for question, err := range map[string]error{"positions": positions, "at": at, "activity": activity} {
			if timed != (err == nil) || !timed && !errors.Is(err, ErrNoTimes) {
				t.Errorf("%v: %s: %v", source, question, err)
			}
		}
		durations, gaps := times.ByFunction()
		calls, before := uint64(0), uint64(0)
		for f, d := range durations {
			if calls += f.Calls; f.Name == "" || d.Max < d.Min {
				t.Errorf("%v: %+v, %+v", source, f, d)
			}
		}
		for f := range gaps {
			before += f.Calls
		}
		if timed != (calls > 0) || timed && before+ranks != calls {
			t.Errorf("%v: durations of %d calls, and %d gaps", source, calls, before)
		}
		l, err := OpenRankLoops(t.Context(), trace, r, Options{})
		if err != nil || l.Source != source || l.Scaled != (timed && !exact) || l.Unread {
			t.Errorf("%v: loops of a rank by %v, %v", source, l.Source, err)
		}
		if l, err = OpenShapeLoops(t.Context(), trace, 0, Options{}); err != nil || l.Source != source || l.Scaled {
			t.Errorf("%v: loops of a shape by %v, %v", source, l.Source, err)
		}
	}
}

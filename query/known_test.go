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
	untimed := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{{{Function: f}}, {{Function: f}}, {{Function: f}}})
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
			if timed && (err != nil || a.Exact != exact || len(a.Sites) > 0 != (whole || exact) || len(a.Functions) == 0 || a.Total <= 0) ||
				!timed && !errors.Is(err, ErrNoTimes) {
				t.Errorf("%v, all %v: imbalance %+v, %v", source, whole, a, err)
			}
			p, err := OpenTimedProfile(t.Context(), trace, o)
			if err != nil || (p.Source != None) != timed || p.Series.Len() > 0 != exact {
				t.Errorf("%v, all %v: profile %+v, %v", source, whole, p, err)
			}
			byRank, err := OpenRankProfile(t.Context(), trace, o)
			if err != nil || (len(byRank.RankTimes) == byRank.Ranks) != timed || (byRank.Source == Series) != exact || byRank.OfRanks != timed {
				t.Errorf("%v, all %v: profile by rank %+v, %v", source, whole, byRank, err)
			}
			if o.Series = true; !exact {
				_, imbalance := OpenImbalance(t.Context(), trace, o)
				_, profile := OpenTimedProfile(t.Context(), trace, o)
				if !errors.Is(imbalance, ErrNoSeries) || !errors.Is(profile, ErrNoSeries) {
					t.Errorf("%v: asked for every call: %v, %v", source, imbalance, profile)
				}
			} else if p, err := OpenTimedProfile(t.Context(), trace, o); err != nil || p.Source != Series || p.Guarantee == nil {
				t.Errorf("asked for every call: %+v, %v", p, err)
			}
		}
		r, err := trace.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		l, err := OpenRankLoops(t.Context(), trace, r, Options{})
		if err != nil || l.Source != source || l.Scaled != (timed && !exact) || l.Unread {
			t.Errorf("%v: loops of a rank by %v, %v", source, l.Source, err)
		}
		if l, err = OpenShapeLoops(t.Context(), trace, 0, Options{}); err != nil || l.Source != source || l.Scaled {
			t.Errorf("%v: loops of a shape by %v, %v", source, l.Source, err)
		}
		if s, err := OpenSummary(t.Context(), trace); err != nil || (s != nil) != timed {
			t.Errorf("%v: summary %+v, %v", source, s, err)
		}
	}
}

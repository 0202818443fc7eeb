package query

import (
	"maps"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestRegions checks that the spans of regions have the calls of these, on recorded runs.
func TestRegions(t *testing.T) {
	for _, name := range []string{"halves.exact", "messages.exact", "startall.exact", "stencil.exact",
		"wildcard.exact"} {
		t.Run(name, func(t *testing.T) { testSpans(t, testtrace.Recorded(t, name)) })
	}
	for _, name := range tier.Some([]string{"cg.S.16", "cg.S.64", "is.S.16", "lu.W.16", "lu.W.64", "mg.S.16",
		"mg.S.64", "sp.S.16"}, 3) {
		t.Run(name, func(t *testing.T) { testSpans(t, testtrace.Real(t, "ti/"+name+".ti.zst")) })
	}
}

// TestPhasesOfPolls checks that a program that polls has phases, which have nearly all of its calls: how often
// it does differs in each iteration, and on each rank.
func TestPhasesOfPolls(t *testing.T) {
	p := programs.Polling(8, tier.Number(100, 600), 1)
	tr := testtrace.Open(t, testtrace.File(t, p.Run(), p.Parts()))
	testSpans(t, tr)
	phases, err := findPhases(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	all, in := uint64(0), uint64(0)
	for _, part := range p.Parts() {
		all += part.Grammar.Len()
	}
	for _, p := range phases {
		in += p.Calls
	}
	if in < all-all/10 {
		t.Errorf("%d of %d calls are in phases", in, all)
	}
}

// testSpans checks that spans are apart and in order, and that they have the calls of each function. Phases follow each
// other, and loops are in the phase before them.
func testSpans(t *testing.T, tr *trace.Trace) {
	regions, err := Regions(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	ends := make(map[int]uint64) // of the phase before, by rank
	var phase *Region
	for _, g := range regions {
		t.Logf("%v: %d to %d × %v, ranks %v", g, g.MinTrips, g.MaxTrips, g.Functions, g.Ranks)
		found, calls := make(map[string]uint64), uint64(0)
		for rank := range tr.Ranks() {
			r := must.Get(tr.Folded(rank, nil))
			spans := g.Spans(rank)
			if (len(spans) > 0) != g.Ranks.Contains(rank) {
				t.Fatalf("%v: %d spans of rank %d of %v", g, len(spans), rank, g.Ranks)
			}
			last := uint64(0)
			for _, s := range spans {
				if s.First < last || s.End <= s.First || s.End > r.Len() {
					t.Fatalf("%v: rank %d of %d calls: %+v after %d", g, rank, r.Len(), s, last)
				}
				if last = s.End; g.Kind == PhaseRegion && s.First < ends[rank] ||
					g.Kind == LoopRegion && !(phase.Contains(rank, s.First) && phase.Contains(rank, s.End-1)) {
					t.Fatalf("%v: rank %d: %+v after %d", g, rank, s, ends[rank])
				}
			}
			if len(spans) > 0 && (!g.Contains(rank, spans[0].First) || g.Contains(rank, last)) {
				t.Errorf("%v: rank %d: Contains does not know %v", g, rank, spans)
			}
			if g.Kind == PhaseRegion {
				ends[rank] = max(ends[rank], last)
			}
			for x, n := range r.Within(spans) {
				found[tr.Functions()[r.Function(x)].Name] += n
				calls += n
			}
		}
		want := make(map[string]uint64)
		for _, f := range g.Functions {
			want[f.Name] = f.Calls
		}
		if calls != g.Calls || !maps.Equal(found, want) {
			t.Errorf("%v: %d calls of %v are in the spans, not %d of %v", g, calls, found, g.Calls, want)
		}
		times := must.Get(OpenTimes(tr))
		if a := must.Get(times.Activity(t.Context(), 0, maxTime, Options{Region: g})); a.Calls != g.Calls {
			t.Errorf("%v: an activity of %d calls, not %d", g, a.Calls, g.Calls)
		}
		if g.Kind == PhaseRegion {
			phase = g
		}
	}
}

// TestEnterAndLeave checks the times of regions that begin and end with Enter and Leave, one in the other.
func TestEnterAndLeave(t *testing.T) {
	codec := must.Get(timing.NewLossless(timing.Zstd))
	r := must.Get(tracer.New(tracer.Options{Series: must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))}))
	region := []cst.Param{{Name: "region", Type: cst.Type{Kind: cst.KindString}}}
	enter, leave := r.Declare(cst.Function{Name: "Enter", Params: region}),
		r.Declare(cst.Function{Name: "Leave", Params: region})
	work := r.Declare(cst.Function{Name: "work"})
	r.CallAt(enter, 0, 0, cst.String("outer"))
	for i := range int64(3) {
		r.CallAt(work, 100*i+10, 20)
		r.CallAt(enter, 100*i+50, 0, cst.String("inner"))
		r.CallAt(work, 100*i+60, 5)
		r.CallAt(leave, 100*i+80, 0, cst.String("inner"))
	}
	r.CallAt(leave, 400, 0, cst.String("outer"))
	tr := testtrace.Open(t, testtrace.File(t, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}))
	p, err := OpenRegionProfile(t.Context(), tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string][3]Nanoseconds)
	for _, g := range p.Regions {
		if g.Kind == NamedRegion {
			got[g.Name] = [3]Nanoseconds{g.Mean, g.InCalls, *g.Exclusive}
		}
	}
	if want := map[string][3]Nanoseconds{"outer": {400, 75, 250}, "inner": {90, 15, 75}}; !maps.Equal(got, want) {
		t.Errorf("inclusive, in calls and exclusive: %v, not %v", got, want)
	}
}

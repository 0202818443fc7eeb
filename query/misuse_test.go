package query_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	file := testtrace.File(t, p.Run(), p.Parts())
	trace := testtrace.Open(t, file)
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	rank, err := trace.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	regions, err := query.Regions(t.Context(), trace)
	if err != nil {
		t.Fatal(err)
	}
	call := rank.Call(0)
	misuse.Walk{
		Package: "query",
		Functions: []any{
			query.Faults, query.AlignFile, query.AlignTrace, query.Overlaps, query.OpenDiff, query.OpenHang,
			query.OpenMatch,
			query.OpenMessages, query.OpenNumbering, query.CheckExact, query.OpenProfile, query.RanksInCalls,
			query.RanksWithout, query.Programs, query.SitesOf, query.Frames, query.HasSites, query.OpenTimes,
			query.ComparedTimesOf, query.InStartup, query.InShutdown, query.OutsideRun, query.CompareOutside,
			query.RunCallsOf, query.ThreadSpans,
			query.HasThreads, query.OpenImbalance, query.OpenTimedProfile, query.OpenRankProfile,
			query.OpenRankLoops, query.OpenShapeLoops, query.Regions, query.OpenRegion,
			query.OpenRegionProfile, query.MarkerOf, query.NeedsAll, query.ClocksDiffer,
		},
		Values: []any{trace, regions[0], model, rank, &call, file, new(query.SomeRanksError), query.InCall,
			query.ForMessage, query.Matrix{}, new(query.Source)},
	}.Run(t)
}

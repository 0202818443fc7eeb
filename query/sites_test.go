package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/tracer"
)

// TestSites counts the calls of ranks that make them in places of a program, to some of which
// different calls lead.
func TestSites(t *testing.T) {
	const path = layout.PathBit
	for _, test := range []struct {
		name  string
		sites []int64 // of ranks
		names map[int64]string
		want  []query.SiteProfile
	}{
		{"Lines", []int64{5, 6, 5}, map[int64]string{5: "a.c:1 f", 6: "a.c:2 f"}, []query.SiteProfile{
			{Site: "a.c:1 f", Function: "barrier", Calls: 20, Ranks: 2},
			{Site: "a.c:2 f", Function: "barrier", Calls: 10, Ranks: 1},
		}},
		{"Paths", []int64{path, path + 1, path + 2}, map[int64]string{path: "f < g < main",
			path + 1: "f < g < h < main", path + 2: "f < g #2"}, []query.SiteProfile{
			{Site: "f < g < …", Function: "barrier", Calls: 30, Ranks: 3},
		}},
		{"Prefix", []int64{path + 1, path}, map[int64]string{path: "f < g < main", path + 1: "f"}, []query.SiteProfile{
			{Site: "f < …", Function: "barrier", Calls: 20, Ranks: 2},
		}},
		{"Nameless", []int64{5, 16}, nil, []query.SiteProfile{
			{Site: "0x10", Function: "barrier", Calls: 10, Ranks: 1},
			{Site: "0x5", Function: "barrier", Calls: 10, Ranks: 1},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := merge.Run{Ranks: len(test.sites)}
			for value, name := range test.names {
				run.Names = append(run.Names, format.Name{Kind: cst.KindHandle, Class: layout.Site.Type.Class,
					Value: value, Name: name})
			}
			var parts []merge.Part
			for rank, site := range test.sites {
				r, err := tracer.New(tracer.Options{})
				if err != nil {
					t.Fatal(err)
				}
				r.Declare(cst.Function{Name: "barrier", Params: []cst.Param{layout.Site}})
				for range 10 {
					r.Call(0, cst.Handle(site))
				}
				parts = append(parts, r.Finish(rank))
			}
			trace := testtrace.Write(t, run, parts)
			profile, err := query.OpenProfile(t.Context(), trace, query.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := profile.Sites(trace); !slices.Equal(got, test.want) {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestSiteStreams counts the calls of a rank that come through many paths without a pattern: none
// is counted where it was not made.
func TestSiteStreams(t *testing.T) {
	r, err := tracer.New(tracer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Declare(cst.Function{Name: "barrier", Params: []cst.Param{layout.Site}})
	run, calls := merge.Run{Ranks: 1}, make(map[string]uint64)
	random := rand.New(rand.NewPCG(1, 2))
	for place := range int64(2) {
		for path := range int64(40) {
			name := fmt.Sprintf("f%d < g%d", place, path)
			run.Names = append(run.Names, format.Name{Kind: cst.KindHandle, Class: layout.Site.Type.Class,
				Value: layout.PathBit | place<<layout.PathBits | path, Name: name})
		}
	}
	for i := range int64(4000) {
		place := i % 3 % 2
		r.Call(0, cst.Handle(layout.PathBit|place<<layout.PathBits|random.Int64N(40)))
		calls[fmt.Sprintf("f%d < …", place)]++
	}
	trace := testtrace.Write(t, run, []merge.Part{r.Finish(0)})
	if trace.Signatures() > 2 || len(trace.Signature(0).Args[0].Stream()) == 0 {
		t.Fatalf("%d signatures, %v: not a stream", trace.Signatures(), trace.Signature(0))
	}
	profile, err := query.OpenProfile(t.Context(), trace, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := uint64(0)
	for _, s := range profile.Sites(trace) {
		if all += s.Calls; s.Site != "" && s.Calls != calls[s.Site] {
			t.Errorf("%+v, want %v", s, calls)
		}
	}
	if all != 4000 {
		t.Errorf("%d calls", all)
	}
}

package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestPlaces merges ranks that make the same calls in different places of a program, and in one
// place to which different calls lead.
func TestPlaces(t *testing.T) {
	barrier := cst.Function{Name: "barrier", Params: []cst.Param{layout.Site}}
	path := func(place, hash int64) int64 { return layout.PathBit | place<<layout.PathBits | hash }
	for _, test := range []struct {
		name               string
		sites              []int64 // of the calls of each rank
		shapes, signatures int
	}{
		{"Same", []int64{70, 70, 70, 70}, 1, 1},
		{"Regular", []int64{70, 80, 90, 100}, 4, 4},
		{"Two", []int64{70, 80, 70, 80}, 2, 2},
		{"NoFile", []int64{-1, -1, 70, 70}, 2, 2},
		{"Paths", []int64{path(7, 5), path(7, 1), path(7, 1<<32-1), path(7, 0)}, 1, 1},
		{"PathsOfTwo", []int64{path(7, 5), path(8, 5), path(7, 9), path(8, 9)}, 2, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			var parts []Part
			for rank, site := range test.sites {
				var table cst.Table
				var grammar sequitur.Builder
				for range 100 {
					grammar.Append(table.Intern(table.Declare(barrier), cst.Handle(site)))
				}
				parts = append(parts, Part{Rank: rank, Table: &table, Grammar: grammar.Finish()})
			}
			trace := open(t, write(t, Run{Ranks: len(parts)}, parts))
			checkCalls(t, trace, parts)
			if trace.Shapes() != test.shapes || trace.Signatures() != test.signatures {
				t.Errorf("%d shapes, %d signatures, want %d, %d", trace.Shapes(), trace.Signatures(),
					test.shapes, test.signatures)
			}
		})
	}
}

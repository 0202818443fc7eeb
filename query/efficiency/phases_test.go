package efficiency

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/trace"
)

// TestSpans checks that the spans of phases have the calls of these, on recorded runs.
func TestSpans(t *testing.T) {
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

// testSpans checks that spans are apart and in order, and that they have the calls of each function.
func testSpans(t *testing.T, tr *trace.Trace) {
	phases, err := findPhases(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	var shapes []*trace.Shape
	for n := range tr.Shapes() {
		s, err := tr.Shape(n)
		if err != nil {
			t.Fatal(err)
		}
		shapes = append(shapes, s)
	}
	ends := make([]uint64, len(shapes))
	for _, p := range phases {
		t.Logf("%d to %d × %v, ranks %v", p.MinTrips, p.MaxTrips, p.Functions, p.Ranks)
		found, calls := make(map[string]uint64), uint64(0)
		for n, s := range p.spans {
			if s.from < ends[n] || s.to <= s.from || s.to > shapes[n].Grammar.Len() {
				t.Fatalf("shape %d of %d calls: phase %+v after %d", n, shapes[n].Grammar.Len(), s, ends[n])
			}
			ends[n] = s.to
			walk, left := shapes[n].Grammar.Walk(s.from), s.to-s.from
			for left > 0 {
				run := walk.Next()
				k := min(run.Count, left)
				found[tr.Functions()[tr.FunctionOf(int(run.Symbol))].Name] += k * uint64(shapes[n].Ranks.Len())
				calls += k * uint64(shapes[n].Ranks.Len())
				left -= k
			}
		}
		if calls != p.Calls || len(found) != len(p.Functions) {
			t.Errorf("%d calls of %d functions are in the spans of a phase of %d calls of %d functions",
				calls, len(found), p.Calls, len(p.Functions))
		}
		for _, f := range p.Functions {
			if found[f.Name] != f.Calls {
				t.Errorf("%d calls of %s in the spans of a phase, not %d", found[f.Name], f.Name, f.Calls)
			}
		}
	}
}

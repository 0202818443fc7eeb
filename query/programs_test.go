package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestProgramsAlike checks that ranks of one text are one program, however their shapes differ, but
// for a root that all others send to.
func TestProgramsAlike(t *testing.T) {
	list := append(programs.All(16), programs.TripCounts(64, 50), programs.RandomTrips(64, 1),
		programs.Refinement(64, 3, 20, 1))
	for _, p := range tier.Some(list, 5) {
		trace := openProgram(t, p)
		got, err := Programs(t.Context(), trace)
		if strings.HasPrefix(p.Name, "Gather") {
			if err != nil || len(got) != 2 || got[0].Ranks.Len() != 1 || got[1].Shapes.Len() != trace.Shapes()-1 {
				t.Errorf("%s: %v, %v", p.Name, got, err)
			}
			continue
		}
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d shapes are %v, %v", p.Name, trace.Shapes(), got, err)
			continue
		}
		if s := got[0]; s.Shapes.Len() != trace.Shapes() || !s.Ranks.Equal(trace.RankSet()) {
			t.Errorf("%s: %d shapes: %v", p.Name, trace.Shapes(), s)
		}
	}
}

// stepper returns what a rank records that calls the functions of these names one after the other.
func stepper(rank int, names ...string) merge.Part {
	var table cst.Table
	var calls sequitur.Builder
	for _, name := range names {
		f := table.Declare(cst.Function{Name: name})
		calls.Append(sequitur.Symbol(table.Intern(f)))
	}
	return merge.Part{Rank: rank, Table: &table, Grammar: calls.Finish()}
}

// TestProgramsApart checks that shapes with less than half of their steps in common are several
// programs.
func TestProgramsApart(t *testing.T) {
	trace := openParts(t, merge.Run{Ranks: 6}, []merge.Part{
		stepper(0, "init", "read", "send", "end"),
		stepper(1, "init", "recv", "end"),
		stepper(2, "init", "read", "send", "send", "end"),     // one more step than rank 0
		stepper(3, "init", "recv", "recv", "recv", "end"),     // the same of rank 1
		stepper(4, "init", "read", "put", "get", "end"),       // two steps of five of rank 0
		stepper(5, "init", "read", "send", "end", "end", "x"), // four of six
	})
	got, err := Programs(t.Context(), trace)
	const want = "[{0-2:2, 5 0-2:2, 5} {1-3:2 1-3:2} {4 4}]"
	if s := fmt.Sprint(got); err != nil || s != want {
		t.Errorf("%s, %v, want %s", s, err, want)
	}
}

// TestProgramsMany checks that each shape is in one program, also where they are too many to be
// compared.
func TestProgramsMany(t *testing.T) {
	const ranks = 3 * maxPrograms
	var parts []merge.Part
	for rank := range ranks {
		names := []string{fmt.Sprint("a", rank/2), fmt.Sprint("b", rank/2)}
		if rank%2 == 1 {
			names = append(names, names[1])
		}
		parts = append(parts, stepper(rank, names...))
	}
	got, err := Programs(t.Context(), openParts(t, merge.Run{Ranks: ranks}, parts))
	if err != nil || len(got) != maxPrograms+ranks-2*maxPrograms {
		t.Errorf("%d programs, %v", len(got), err)
	}
	shapes := 0
	for i, p := range got {
		shapes += p.Shapes.Len()
		if i < maxPrograms && p.Ranks.Len() != 2 {
			t.Errorf("program %d: %v", i, p)
		}
	}
	if shapes != ranks {
		t.Errorf("%d shapes of %d", shapes, ranks)
	}
}

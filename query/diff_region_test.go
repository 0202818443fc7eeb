package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// twoPhases returns a trace of ranks that go round two loops, of messages of some bytes and of broadcasts.
func twoPhases(t *testing.T, ranks int, messages, bytes, broadcasts int) *trace.Trace {
	var lines strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&lines, "%d init\n", rank)
		for range messages {
			if rank%2 == 0 {
				fmt.Fprintf(&lines, "%d send %d 0 %d 1\n", rank, rank+1, bytes)
			} else {
				fmt.Fprintf(&lines, "%d recv %d 0 %d 1\n", rank, rank-1, bytes)
			}
			fmt.Fprintf(&lines, "%d barrier\n", rank)
		}
		for i := range broadcasts {
			fmt.Fprintf(&lines, "%d bcast 4 0 0 \n%d allreduce %d 0 0 \n", rank, rank, 1+i/(broadcasts-1))
		}
		fmt.Fprintf(&lines, "%d finalize\n", rank)
	}
	return testtrace.TI(t, lines.String())
}

// TestDiffRegions compares parts of traces: only what differs in them counts, with positions in the whole run.
func TestDiffRegions(t *testing.T) {
	a := twoPhases(t, 4, 10, 100, 8)
	of := func(tr *trace.Trace, phase string) *query.Region {
		t.Helper()
		return must.Get(query.OpenRegion(t.Context(), tr, query.Selection{Phase: phase}))
	}
	open := func(b *trace.Trace, phase string) *query.Diff {
		t.Helper()
		return must.Get(query.OpenDiff(t.Context(), a, b,
			query.DiffOptions{Regions: [2]*query.Region{of(a, phase), of(b, phase)}}))
	}
	longer := twoPhases(t, 4, 12, 100, 8)
	if d := open(longer, "2"); !d.Equal() || d.Compared != 4 {
		t.Errorf("phase 2 of a run with a longer phase 1: %+v", d)
	}
	d := open(longer, "1")
	if d.Equal() || d.Different.Len() != 4 || d.First == nil || d.First.Position != 21 || d.First.PositionB != 21 ||
		d.First.A != "" || !strings.HasPrefix(d.First.B, "send(") || d.A.Calls != 4*20 || d.B.Calls != 4*24 {
		t.Errorf("phase 1: %+v, first %+v", d, d.First)
	}
	if m := d.Messages; m == nil || m.A.Messages != 20 || m.B.Messages != 24 {
		t.Errorf("messages of phase 1: %+v", m)
	}
	if len(d.Functions) != 3 || d.Functions[0].Name != "barrier" || d.Functions[0].A != 40 || d.Functions[0].B != 48 {
		t.Errorf("functions of phase 1: %+v", d.Functions)
	}
	wider := twoPhases(t, 4, 10, 200, 9)
	d = open(wider, "2") // the last allreduce is another
	if d.Equal() || d.First.Position != 1+20+15 || d.First.PositionB != 1+20+15 || len(d.Functions) != 2 {
		t.Errorf("phase 2: %+v, first %+v", d, d.First)
	}
	if d := open(twoPhases(t, 2, 10, 100, 8), "1"); d.Equal() || d.Different.Len() != 0 || d.A.Only.Len() != 2 {
		t.Errorf("of fewer ranks: %+v", d)
	}
	for _, ignored := range []query.Ignored{{Addresses: true}, {Completions: true}, {Functions: []string{"MPI_X"}}} {
		d := must.Get(query.OpenDiff(t.Context(), a, longer, query.DiffOptions{Ignore: ignored,
			Regions: [2]*query.Region{of(a, "2"), of(longer, "2")}}))
		if !d.Equal() {
			t.Errorf("but for %+v: %+v", ignored, d)
		}
	}
}

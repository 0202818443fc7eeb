package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/report"
)

// TestNodes groups ranks by node, and compares what stays within nodes with the pairs of ranks: nodes have ranks in a
// row, or in turn.
func TestNodes(t *testing.T) {
	for name, nodeOf := range map[string]func(rank int) int{
		"blocks": func(rank int) int { return rank / 6 },
		"turns":  func(rank int) int { return rank % 3 },
	} {
		t.Run(name, func(t *testing.T) {
			const ranks = 16
			sets := make([][]int, 3)
			for rank := range ranks {
				sets[nodeOf(rank)] = append(sets[nodeOf(rank)], rank)
			}
			plain := retimed(t, program(t, programs.Stencil2D(4, 4, 8)))
			run := plain.Run()
			for i, set := range sets {
				run.Clocks = append(run.Clocks, format.Clock{Machine: fmt.Sprint("machine ", i),
					Ranks: rankenc.SetOf(set...)})
			}
			calls := make([][]testtrace.Call, ranks)
			for rank := range calls {
				r := must.Get(plain.Rank(rank))
				clock := clockOf(t, plain, rank)
				for c, err := range r.Calls(0) {
					if err != nil {
						t.Fatal(err)
					}
					start, duration, err := clock.Time(c.Position)
					if err != nil {
						t.Fatal(err)
					}
					calls[rank] = append(calls[rank], testtrace.Call{Function: *c.Function, Args: c.Args,
						Start: start, Duration: duration})
				}
			}
			tr := testtrace.Record(t, run, true, calls)
			b := open(t, file(t, tr, report.Options{}), desktop)
			b.show("timeline")
			b.arrange("group", "node")
			groups := groupsOf(b)
			if len(groups) != 3 {
				t.Fatalf("%+v", groups)
			}
			for i, g := range groups {
				if g.Name != fmt.Sprint("Node ", i) || !slices.Equal(g.Ranks, sets[i]) {
					t.Errorf("%+v, not ranks %v", g, sets[i])
				}
			}
			model := must.Get(semantics.Open(t.Context(), tr))
			all := must.Get(query.OpenMessages(t.Context(), model, 0, query.Options{}))
			b.show("matrix")
			within, total := uint64(0), uint64(0)
			for p := range all.Traffic.All() {
				bytes := p.Bytes + p.Exchanged.Bytes
				if total += bytes; nodeOf(p.Source) == nodeOf(p.Destination) {
					within += bytes
				}
			}
			seen := eval[string](b, "document.querySelector('#communication .seen').textContent")
			if want := fmt.Sprintf("; %.1f %% within nodes",
				100*float64(within)/float64(total)); !strings.HasSuffix(seen, want) {
				t.Errorf("%q does not say %q", seen, want)
			}
			lines, borders := eval[int](b, "report.figures.get('matrix').nodeLines().length"), 0
			for rank := 1; rank < ranks; rank++ {
				if nodeOf(rank) != nodeOf(rank-1) {
					borders++
				}
			}
			if lines != 2*borders {
				t.Errorf("%d lines, not %d", lines, 2*borders)
			}
			at := b.place("matrix", 1.5/ranks, 0.5/ranks)
			b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
			b.wait("document.getElementById('tip').style.visibility === 'visible'")
			if text := eval[string](b, "document.getElementById('tip').innerText"); !strings.HasPrefix(text,
				fmt.Sprintf("0 (node 0) → 1 (node %d)", nodeOf(1))) {
				t.Errorf("it tells %q", text)
			}
		})
	}
}

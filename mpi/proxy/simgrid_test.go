package proxy

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/trace"
)

// TestAmounts checks that amounts of computing become the gaps before calls, whatever stands between these,
// and that a loop with amounts that vary stays a loop.
func TestAmounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, rounds := rapid.IntRange(1, 3).Draw(t, "ranks"), rapid.IntRange(1, 20).Draw(t, "rounds")
		var lines strings.Builder
		want := make([][]float64, ranks) // nanoseconds before each barrier
		for rank := range ranks {
			fmt.Fprintf(&lines, "%d init\n", rank)
			for round := range rounds {
				sum, least := 0.0, 0
				if rank+round == 0 {
					least = 1 // a trace without amounts has no gaps
				}
				for range rapid.IntRange(least, 3).Draw(t, "actions") {
					amount := rapid.IntRange(0, 1000).Draw(t, "amount")
					if rapid.Bool().Draw(t, "sleeps") {
						fmt.Fprintf(&lines, "%d sleep %de-9\n", rank, amount)
					} else {
						fmt.Fprintf(&lines, "%d compute %d\n", rank, amount)
					}
					sum += float64(amount)
				}
				want[rank] = append(want[rank], sum)
				fmt.Fprintf(&lines, "%d barrier\n", rank)
			}
			fmt.Fprintf(&lines, "%d finalize\n", rank)
		}
		tr := testtrace.TI(t, lines.String())
		for _, gaps := range []Gaps{Means, Every} {
			g := &generator{ctx: context.Background(), trace: tr,
				options: Options{Compute: Spin, Gaps: gaps, Scale: 2}, size: ranks}
			if err := g.read(); err != nil {
				t.Fatal(err)
			}
			checkAmounts(t, g, want)
			p, err := Generate(context.Background(), tr, Options{Compute: Spin, Gaps: gaps})
			if err != nil {
				t.Fatal(err)
			}
			if p.Lines > 200 || len(p.LeftOut) > 0 || p.Calls != uint64(ranks*(rounds+2)) {
				t.Errorf("%d lines for %d calls, left out %v", p.Lines, p.Calls, p.LeftOut)
			}
		}
	})
}

// checkAmounts checks the gaps before the barriers of each rank.
func checkAmounts(t *rapid.T, g *generator, want [][]float64) {
	for number := range g.calls {
		if g.grammars[number] == nil { // a shape of no rank
			continue
		}
		mean := 0.0
		for _, n := range g.grammars[number].AppendSymbols(nil) {
			c := g.calls[number][n]
			if c.computes() || c.dropped {
				t.Fatalf("%s stands in the program", c.signature.Function.Name)
			}
			if c.signature.Function.Name != "barrier" {
				continue
			}
			mean += c.gap * 1e9 * float64(len(c.ranks))
			if g.options.Gaps != Every || c.gaps == nil { // none of the shape computes
				continue
			}
			for k, rank := range c.ranks {
				for i, x := range c.gaps.of[k] {
					if math.Abs(float64(x.Int())-2*want[rank][i]) > 1 {
						t.Fatalf("rank %d, barrier %d: %d ns, want %v", rank, i, x.Int(), 2*want[rank][i])
					}
				}
			}
		}
		sum := 0.0
		for _, rank := range g.trace.ShapeRanks(number).All() {
			for _, ns := range want[rank] {
				sum += 2 * ns
			}
		}
		if math.Abs(mean-sum) > 1e-6*sum+1e-3 {
			t.Fatalf("shape %d: barriers follow %v ns, want %v", number, mean, sum)
		}
	}
}

// TestOneFile checks that a program in one file needs no other, as of a trace of SimGrid, which has a header
// of its own.
func TestOneFile(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"SimGrid": testtrace.TI(t, "0 init\n0 send 1 0 8\n0 finalize\n1 init\n1 recv 0 0 8\n1 finalize\n"),
		"Stencil": testtrace.Stencil(t, "exact"),
	} {
		p, err := Generate(t.Context(), tr, Options{Name: "a.rpz"})
		if err != nil {
			t.Fatal(err)
		}
		if one := p.OneFile(); strings.Contains(one, "#include \"") || strings.Count(one, runtimeHeader) != 1 {
			t.Errorf("%s: includes what is not there:\n%s", name, one)
		}
	}
}

package semantics_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// traceOf returns the trace of a program.
func traceOf(t tester, p programs.Program) *trace.Trace { return written(t, p.Run(), p.Parts()) }

// BenchmarkAll opens a model and goes through the operations of all ranks. A rank makes
// so many calls, in as many rounds of a stencil as that takes.
func BenchmarkAll(b *testing.B) {
	for _, ranks := range []int{64, 1024} {
		for _, rounds := range []uint64{1000, 100_000} {
			b.Run(fmt.Sprintf("ranks=%d/rounds=%d", ranks, rounds), func(b *testing.B) {
				side := 1
				for side*side < ranks {
					side++
				}
				tr := traceOf(b, programs.Stencil2D(side, side, rounds))
				b.ReportAllocs()
				calls := uint64(0)
				for b.Loop() {
					calls = 0
					m, err := semantics.Open(context.Background(), tr)
					if err != nil {
						b.Fatal(err)
					}
					for _, rank := range tr.RankSet().All() {
						r, err := m.Rank(rank)
						if err != nil {
							b.Fatal(err)
						}
						for o := range r.All() {
							calls += o.Count
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ranks), "ns/rank")
				b.ReportMetric(float64(calls), "calls")
			})
		}
	}
}

package efficiency_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/efficiency"
)

// BenchmarkOpen finds the efficiency of a run with statistics, and replays it on the same times alone.
func BenchmarkOpen(b *testing.B) {
	p := programs.Stencil2D(8, 8, 2000).Timed()
	model, err := semantics.Open(b.Context(), testtrace.Write(b, p.Run(), p.Parts()))
	if err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct {
		name string
		run  func() (calls uint64, err error)
	}{
		{"efficiency", func() (calls uint64, err error) {
			_, err = efficiency.Open(b.Context(), model, efficiency.Options{Progress: func(n uint64) { calls = n }})
			return calls, err
		}},
		{"replay", func() (uint64, error) {
			recorded, err := replay.NewRecorded(model.Trace())
			if err != nil {
				return 0, err
			}
			r, err := replay.Run(b.Context(), model, struct{ replay.Machine }{recorded}) // no loop is skipped
			return r.Calls, err
		}},
	} {
		b.Run("of="+of.name, func(b *testing.B) {
			calls := uint64(0)
			for b.Loop() {
				n, err := of.run()
				if err != nil {
					b.Fatal(err)
				}
				calls += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

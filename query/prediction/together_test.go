package prediction_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/prediction"
)

// TestTogether predicts runs in which few iterations compute for long: on all ranks at once, on each by itself, and
// half of them so. What was drawn from histograms takes as long as the run did.
func TestTogether(t *testing.T) {
	const ranks, iterations = 4, 4000
	for _, share := range []float64{0, 0.5, 1} {
		random := rand.New(rand.NewPCG(1, uint64(100*share)))
		calls := make([][]testtrace.Call, ranks)
		ends := [ranks]int64{}
		add := func(rank int, name string, start, end int64, pairs ...any) {
			call := testtrace.MPICall(name, pairs...)
			call.Start, call.Duration = start, end-start
			calls[rank] = append(calls[rank], call)
			ends[rank] = end
		}
		for rank := range ranks {
			add(rank, "MPI_Init", 0, 1000)
		}
		for range iterations {
			var arrived [ranks]int64
			all, last := random.Float64() < 0.02, int64(0)
			for rank := range ranks {
				long := all
				if random.Float64() >= share {
					long = random.Float64() < 0.02
				}
				arrived[rank] = ends[rank] + 100_000 + random.Int64N(100)
				if long {
					arrived[rank] += 10_000_000
				}
				last = max(last, arrived[rank])
			}
			for rank := range ranks {
				add(rank, "MPI_Barrier", arrived[rank], last+1000, "comm", "MPI_COMM_WORLD")
			}
		}
		for rank := range ranks {
			add(rank, "MPI_Finalize", ends[rank], ends[rank]+1000)
		}
		for _, times := range []testtrace.Times{testtrace.Histograms, testtrace.Paths} {
			tr := testtrace.RecordTimes(t, times, calls)
			model, err := semantics.Open(context.Background(), tr)
			if err != nil {
				t.Fatal(err)
			}
			machine := loggps.Default()
			run, err := prediction.Open(context.Background(), model, prediction.Options{Machine: machine, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			off := float64(run.Time)/float64(*run.Recorded) - 1
			t.Logf("%v of the long iterations are the same, %v: predicted %.2f %% longer", share, times, 100*off)
			if math.Abs(off) > 0.1 {
				t.Errorf("%v of the long iterations are the same, %v: predicted %v, was %v", share, times, run.Time,
					*run.Recorded)
			}
		}
	}
}

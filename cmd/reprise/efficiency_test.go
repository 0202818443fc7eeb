package main

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// writeScaling writes scale2.rpz and scale4.rpz, traces of a program on 2 and 4 ranks with the times of every
// call: a loop with imbalance, and one that the network limits. scale4.sums.rpz has the statistics of the
// latter alone, and scale4.part.rpz its first three ranks.
func writeScaling(t testing.TB) {
	t.Helper()
	exact := tracer.Options{Series: noError(timing.NewSeriesCodec(noError(timing.NewLossless(timing.LZ4)),
		noError(timing.NewLossless(timing.LZ4)), timing.Gaps))}
	write := func(name string, o tracer.Options, ranks, of int) {
		var parts []merge.Part
		for rank := range ranks {
			r, err := tracer.New(o)
			if err != nil {
				t.Fatal(err)
			}
			now := int64(1_000_000 + 500*rank)
			call := func(computes, takes int, name string, pairs ...any) {
				c := testtrace.MPICall(name, pairs...)
				r.CallAt(r.Declare(c.Function), now+1000*int64(computes), 1000*int64(takes), c.Args...)
				now += 1000 * int64(computes+takes)
			}
			call(0, 50, "MPI_Init")
			now = 1_100_000
			for range 20 {
				computes := 400/of + 20*rank
				call(computes, 400/of+20*of-computes, "MPI_Barrier", "comm", "MPI_COMM_WORLD")
			}
			for range 10 {
				call(50, 20+10*of, "MPI_Allreduce", "count", 1, "datatype", "MPI_DOUBLE", "comm", "MPI_COMM_WORLD")
			}
			call(5, 30, "MPI_Finalize")
			parts = append(parts, r.Finish(rank))
		}
		writeFile(t, name, string(testtrace.File(t, merge.Run{Source: collect.Source, Ranks: of}, parts)))
	}
	for _, ranks := range []int{2, 4} {
		write(fmt.Sprintf("scale%d.rpz", ranks), exact, ranks, ranks)
	}
	write("scale4.sums.rpz", tracer.Options{}, 4, 4)
	write("scale4.part.rpz", exact, 3, 4)
}

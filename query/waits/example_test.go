package waits_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/trace"
)

func ExampleOpen() {
	tr, err := trace.Open("../../examples/notebook/heat.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		log.Fatal(err)
	}
	run, err := waits.Open(context.Background(), model, waits.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range run.Victims[:2] {
		fmt.Printf("rank %d, %s in %s: %.0f µs for rank %d\n", v.Rank, v.Kind, v.Function, float64(v.Wait)/1000, v.For)
	}
	c := run.Causes[0]
	fmt.Printf("rank %d, from %s to %s: %.0f µs\n", c.Rank, c.From.Function, c.To.Function, float64(c.Cost)/1000)
	// Output:
	// rank 0, late sender in MPI_Waitall: 583350 µs for rank 1
	// rank 1, late sender in MPI_Waitall: 379029 µs for rank 2
	// rank 2, from MPI_Isend to MPI_Waitall: 1030270 µs
}

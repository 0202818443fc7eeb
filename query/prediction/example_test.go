package prediction_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/prediction"
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
	run, err := prediction.Open(context.Background(), model, prediction.Options{Machine: loggps.Default()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d calls, computing from %s, rank %d computes longest\n", run.Calls, run.Computing, run.Slowest.Rank)
	// Output: 3320 calls, computing from series, rank 2 computes longest
}

package efficiency_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/efficiency"
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
	run, err := efficiency.Open(context.Background(), model, efficiency.Options{})
	if err != nil {
		log.Fatal(err)
	}
	f := run.Factors
	fmt.Printf("parallel %.3f = load balance %.3f · serialization %.3f · transfer %.3f\n", f.Parallel,
		f.LoadBalance, *f.Serialization, *f.Transfer)
	for _, p := range run.Phases {
		fmt.Println(p.MaxTrips, "rounds of", p.Functions[0].Name, "and others on ranks", p.Ranks)
	}
	// Output:
	// parallel 0.646 = load balance 0.665 · serialization 1.000 · transfer 0.972
	// 4 rounds of MPI_Irecv and others on ranks 0-3
}

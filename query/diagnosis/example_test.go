package diagnosis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/trace"
)

func ExampleOpen() {
	tr, err := trace.Open("../../examples/notebook/heat.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	d, err := diagnosis.Open(context.Background(), tr, diagnosis.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("parallel efficiency %.2f, load balance %.2f\n", d.Factors.Parallel, d.Factors.LoadBalance)
	c := d.Waiting.Cause
	fmt.Println("others wait most for rank", c.Rank, "which computes between", c.From.Place, "and", c.To.Place)
	// Output:
	// parallel efficiency 0.65, load balance 0.67
	// others wait most for rank 2 which computes between heat.c:29 exchange and heat.c:33 exchange
}

package loggps_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// testTrace stands for a trace that is opened.
var testTrace = testtrace.TI(fatal{}, "0 init\n0 send 1 0 1000 6\n0 finalize\n1 init\n1 recv 0 0 1000 6\n1 finalize\n")

type fatal struct{}

func (fatal) Helper()           {}
func (fatal) Fatal(args ...any) { log.Fatal(args...) }

func Example() {
	model, err := semantics.Open(context.Background(), testTrace)
	if err != nil {
		log.Fatal(err)
	}
	computing, err := replay.NewRecorded(testTrace)
	if err != nil {
		log.Fatal(err)
	}
	for _, together := range []int{1, 2} {
		parameters := loggps.Default()
		parameters.RanksPerNode = together
		machine, err := loggps.New(parameters, testTrace.Ranks(), computing)
		if err != nil {
			log.Fatal(err)
		}
		result, err := replay.Run(context.Background(), model, machine)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(together, "ranks per node:", result.End)
	}
	// Output:
	// 1 ranks per node: 2.2µs
	// 2 ranks per node: 1µs
}

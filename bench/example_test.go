package bench_test

import (
	"log"
	"os"

	"github.com/reprise-trace/reprise/bench"
)

// The report says what a section needs where that is missing.
func ExampleReport() {
	if err := bench.Report(os.Stdout, bench.Input{Traces: "testdata/ti", Only: "Size of traces"}); err != nil {
		log.Fatal(err)
	}
}

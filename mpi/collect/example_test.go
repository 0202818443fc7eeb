package collect_test

import (
	"context"
	"log"
	"os"

	"github.com/reprise-trace/reprise/mpi/collect"
)

// Makes a trace of the raw records of a program that has ended.
func Example() {
	collector, err := collect.New("spool", collect.Options{Keep: true})
	if err != nil {
		log.Fatal(err)
	}
	ranks, summary, err := collector.Finish(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d calls of %d processes", summary.Calls, summary.Processes)
	out, err := os.Create("run.rpz")
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	if err := ranks.Write(out); err != nil {
		log.Fatal(err)
	}
}

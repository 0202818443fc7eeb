package report_test

import (
	"context"
	"log"
	"os"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/report"
)

// Writes the report of a trace.
func ExampleWrite() {
	trace, err := reprise.Open("run.rpz")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	page, err := os.Create("run.html")
	if err != nil {
		log.Fatal(err)
	}
	defer page.Close()
	if err := report.Write(context.Background(), page, trace, report.Options{}); err != nil {
		log.Fatal(err)
	}
}

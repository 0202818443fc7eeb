package report_test

import (
	"context"
	"log"
	"os"

	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
)

// Writes the report of a trace.
func ExampleWrite() {
	tr, err := trace.Open("run.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	page, err := os.Create("run.html")
	if err != nil {
		log.Fatal(err)
	}
	defer page.Close()
	if err := report.Write(context.Background(), page, tr, report.Options{}); err != nil {
		log.Fatal(err)
	}
}

package export_test

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// Writes the second second of ranks 0 to 7 for Perfetto.
func ExampleOptions() {
	tr, err := trace.Open("run.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	file, err := os.Create("run.pftrace")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	ranks := rankenc.World(8)
	chosen := export.Options{Ranks: &ranks, Between: &export.Interval{From: time.Second.Nanoseconds(),
		To: 2 * time.Second.Nanoseconds()}}
	if err := perfetto.Write(context.Background(), file, tr, chosen); err != nil {
		log.Fatal(err)
	}
}

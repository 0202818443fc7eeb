package beam_test

import (
	"context"
	"log"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	rbeam "github.com/reprise-trace/reprise/beam"
	"github.com/reprise-trace/reprise/merge"
)

// The parts in a directory become a trace.
func Example() {
	beam.Init()
	paths, err := merge.PartFiles("run.rpz", 0, "run.parts")
	if err != nil {
		log.Fatal(err)
	}
	pipeline, scope := beam.NewPipelineWithRoot()
	rbeam.Write(scope, "/shared/run.rpz", rbeam.Trace(scope, rbeam.Read(scope, paths)))
	if _, err := beam.Run(context.Background(), "prism", pipeline); err != nil {
		log.Fatal(err)
	}
}

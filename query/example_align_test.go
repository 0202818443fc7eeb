package query_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
)

// Parts of several machines are merged, and then their clocks are aligned.
func ExampleAlignFile() {
	if err := merge.Files("run.rpz", 0, "run.parts"); err != nil {
		log.Fatal(err)
	}
	clocks, err := query.AlignFile(context.Background(), "run.rpz")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range clocks {
		fmt.Printf("ranks %v: %d ns, and %d ns at most from there\n", c.Ranks, c.Offset, c.Error)
	}
}

package trace_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/trace"
)

// Which files a merge of a directory is of, for an engine that merges them itself.
func ExamplePartFiles() {
	_, err := trace.PartFiles("run.rpz", 0)
	fmt.Println(err)
	// Output: trace: run.rpz: no parts to merge
}

package merge_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/merge"
)

// Which files a merge of a directory is of, for an engine that merges them itself.
func ExamplePartFiles() {
	_, err := merge.PartFiles("run.rpz", 0)
	fmt.Println(err)
	// Output: merge: run.rpz: no parts to merge
}

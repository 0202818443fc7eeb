package reprise_test

import (
	"fmt"

	"github.com/reprise-trace/reprise"
)

// Which files a merge of a directory is of, for an engine that merges them itself.
func ExamplePartFiles() {
	_, err := reprise.PartFiles("run.rpz", 0)
	fmt.Println(err)
	// Output: reprise: run.rpz: no parts to merge
}

//go:build race

package merge_test

import (
	"flag"

	. "github.com/reprise-trace/reprise/merge"
)

// The race detector makes pools forget what they hold at random, and compressors
// are expensive to make: less is tried. Memory is not what it is otherwise.
func init() {
	flag.Set("rapid.checks", "5")
	Racing, damageStep = true, 61
}

//go:build race

package timing

import "flag"

// raceEnabled reports whether the race detector runs.
const raceEnabled = true

// The race detector makes pools forget what they hold at random, and compressors
// are expensive to make: less is tried.
func init() { flag.Set("rapid.checks", "10") }

//go:build race

package fewchecks

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // for the flag
)

func init() {
	if testing.Testing() {
		_ = flag.Set("rapid.checks", "25")
	}
}

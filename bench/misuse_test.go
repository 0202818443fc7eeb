package bench

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
)

// TestMisuse reports to nothing. What there is to measure is no argument that could be wrong in another way.
func TestMisuse(t *testing.T) {
	misuse.Panic(t, "bench", map[string]func(){"to nothing": func() { Report(nil, Input{Only: "none of them"}) }})
	misuse.Harmless(t, map[string]func(){
		"no traces": func() { MeasureSizesAndErrors("") },
		"no file":   func() { MeasureSizesAndErrors("\x00") },
	})
}

package symbolic_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/symbolic"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	misuse.Panic(t, "symbolic", map[string]func(){
		"constant handle with an id of objects": func() { new(symbolic.Handles).Declare(1, 0) },
		"region with an id of allocations":      func() { new(symbolic.Memory).Declare(symbolic.Region{Segment: 0}) },
		"releasing what is not taken":           func() { new(symbolic.Pool).Release(0) },
		"releasing a negative id":               func() { new(symbolic.Pool).Release(-1) },
		"releasing a large id":                  func() { new(symbolic.Pool).Release(math.MaxInt64) },
	})
	misuse.Harmless(t, map[string]func(){
		"empty tables": func() {
			var h symbolic.Handles
			h.Lookup(7)
			h.Detach(7)
			var m symbolic.Memory
			m.Free(7)
			m.Unmap(7, math.MaxUint64)
			m.Detach(7)
			m.Resolve(math.MaxUint64)
			m.Contains(0)
			m.Region(0)
			m.Allocate(math.MaxUint64, math.MaxUint64, -9)
			var p symbolic.Pool
			p.Taken(-1)
			p.Taken(math.MaxInt64)
		},
	})
}

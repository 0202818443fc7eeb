package merge_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/reprise-trace/reprise/merge"
)

// TestOnProgress checks that writing tells of its steps in their order, of a bound that does not rise, and that
// the trace is the same.
func TestOnProgress(t *testing.T) {
	var a Accumulator
	for r := range 8 {
		if err := a.Add(variedPart(r)); err != nil {
			t.Fatal(err)
		}
	}
	want := traceFile(t, &a)
	var steps []string
	var bounds []time.Duration
	a.OnProgress(func(step string, left time.Duration) {
		steps, bounds = append(steps, step), append(bounds, -left)
	})
	if got := traceFile(t, &a); !bytes.Equal(got, want) {
		t.Error("another trace")
	}
	if !slices.IsSorted(steps) || !slices.IsSorted(bounds) || bounds[0] > -time.Second || bounds[len(bounds)-1] > 0 {
		t.Errorf("steps %q, bounds %v", steps, bounds)
	}
	if first, last := steps[0], steps[len(steps)-1]; !strings.HasPrefix(first, "step 1 of 4, ") ||
		!strings.HasPrefix(last, "step 4 of 4, ") {
		t.Errorf("steps from %q to %q", first, last)
	}
	steps = nil
	if err := a.WriteBounded(t.Context(), new(bytes.Buffer), 64, nil); err == nil || len(steps) == 0 ||
		steps[len(steps)-1] != "making it fit" || bounds[len(bounds)-1] <= 0 {
		t.Errorf("%v after steps %q", err, steps)
	}
}

package query

import (
	"math"
	"testing"
)

// TestCover adds more calls than a cover keeps, and one that goes back to some.
func TestCover(t *testing.T) {
	const calls = 3 * maxSpans
	for _, tt := range []struct {
		from int64 // of the last call
		want float64
	}{
		{10*calls - 5, 5*calls + 10},
		{10 * (calls - 1000), 5*(calls-1000) + 10_005},
		{0, math.Inf(1)},
	} {
		c := cover{most: maxSpans}
		for i := range int64(calls) {
			c.add(10*i, 10*i+5)
		}
		c.add(tt.from, 10*calls+5)
		if got := c.total(); got != tt.want {
			t.Errorf("%g with a call from %d, want %g", got, tt.from, tt.want)
		}
		if len(c.spans) > maxSpans {
			t.Errorf("%d spans are kept", len(c.spans))
		}
	}
}

package rows

import (
	"math"
	"testing"
)

// TestSince checks times that are far from the beginning of a run.
func TestSince(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	for _, tt := range []struct{ begin, time, want int64 }{
		{0, 5, 5}, {1000, 1005, 5}, {1000, 995, -5}, {-5, most, most}, {5, least, least}, {least, most, most},
		{most, least, least},
		{least, least, 0}, {most, most, 0}, {least, least + 7, 7}, {least, -1, most}, {0, least, least},
	} {
		if got := (&Table{runBegin: tt.begin}).since(tt.time); got != tt.want {
			t.Errorf("%d after %d is %d, want %d", tt.time, tt.begin, got, tt.want)
		}
	}
}

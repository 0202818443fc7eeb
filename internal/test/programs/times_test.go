package programs

import "testing"

// TestTimed compares statistics with the values that they are of.
func TestTimed(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 1000, 1 << 40} {
		s := values(5, 10, n)
		sum := float64(n/2)*30 + float64(n%2)*10
		if s.Count != n || s.Sum() != sum || n > 1 && (s.Min != 10 || s.Max != 20) || n > 0 && s.MinRank != 5 {
			t.Errorf("%d values: %+v of sum %g, want %g", n, s, s.Sum(), sum)
		}
	}
	p := Stencil2D(3, 3, 1e6).Timed()
	part := p.Part(4)
	calls := uint64(0)
	for i := range part.Times.Durations.Statistics {
		calls += part.Times.Durations.Statistics[i].Count
	}
	if calls != part.Grammar.Len() {
		t.Errorf("times of %d calls of %d", calls, part.Grammar.Len())
	}
}

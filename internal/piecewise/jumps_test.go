package piecewise

import (
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"pgregory.net/rapid"
)

// TestJumps checks that times are led back after a jump, and jump again where the next is.
func TestJumps(t *testing.T) {
	j := Jumps{{Since: 100, Ahead: 10}, {Since: 196, Ahead: 8}, {Since: math.MaxInt64, Ahead: 5}}
	for _, tt := range [][2]int64{
		{math.MinInt64, math.MinInt64}, {99, 99}, {100, 110}, {131, 141}, {132, 141}, {195, 203}, {196, 204},
		{196 + 255, 196 + 256}, {196 + 256, 196 + 256},
		{1 << 40, 1 << 40}, {math.MaxInt64 - 1, math.MaxInt64 - 1}, {math.MaxInt64, math.MaxInt64},
	} {
		if got := j.Apply(tt[0]); got != tt[1] {
			t.Errorf("%d becomes %d, want %d", tt[0], got, tt[1])
		}
	}
	if j.Most() != 10 || Jumps(nil).Most() != 0 || Jumps(nil).Apply(7) != 7 {
		t.Error(j.Most(), Jumps(nil).Most(), Jumps(nil).Apply(7))
	}
}

// TestJumpsOrder checks that later times stay later or become equal, that times between jumps get closer by a
// nanosecond in 32 at most, and that times are later by no more than is told.
func TestJumpsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j Jumps
		since := rapid.SliceOfNDistinct(rapid.Int64Range(-1000, 1000), 1, 5, rapid.ID).Draw(t, "since")
		slices.Sort(since)
		for _, s := range since {
			j = append(j, format.Jump{Since: s, Ahead: j.Ahead(s) + rapid.Int64Range(1, 100).Draw(t, "ahead")})
		}
		last, ago := int64(math.MinInt64), int64(math.MinInt64)
		for time := int64(-1100); time < 6000; time++ {
			at := j.Apply(time)
			if at < last || at-time > j.Most() || at < time {
				t.Fatalf("%d becomes %d, and before it was %d", time, at, last)
			}
			if time%32 == 0 {
				if ago > math.MinInt64 && at-ago < 31 {
					t.Fatalf("%d becomes %d, and 32 before it was %d", time, at, ago)
				}
				ago = at
			}
			if undone := j.Undo(at); j.Apply(undone) != at || undone < time-1 || undone > time+1 {
				t.Fatalf("%d becomes %d, and that %d", time, at, undone)
			}
			last = at
		}
		if time := since[len(since)-1] + 32*j.Most(); j.Apply(time) != time {
			t.Fatalf("%d becomes %d", time, j.Apply(time))
		}
	})
}

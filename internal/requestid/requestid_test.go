package requestid

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// panics reports whether f does.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestJoin(t *testing.T) {
	tests := []struct{ pool, index, id int64 }{
		{0, 0, 0},
		{0, 3, 3},
		{1, 0, 8},
		{1000, 2, 8002},
		{0, 4, 0b000_100},
		{0, 5, 0b000_101},
		{0, 8, 0b001_100},
		{0, 19, 0b011_111},
		{0, 20, 0b000_100_100},
		{7, 20, 0b111_000_100_100},
		{math.MaxInt64 >> 3, 3, math.MaxInt64&^7 | 3},
	}
	for _, tt := range tests {
		if got := Join(tt.pool, tt.index); got != tt.id {
			t.Errorf("Join(%d, %d) = %b, want %b", tt.pool, tt.index, got, tt.id)
		}
		if pool, index := Split(tt.id); pool != tt.pool || index != tt.index {
			t.Errorf("Split(%b) = %d, %d, want %d, %d", tt.id, pool, index, tt.pool, tt.index)
		}
	}
	for _, bad := range [][2]int64{{-1, 0}, {0, -1}, {math.MaxInt64>>3 + 1, 0}, {1 << 40, 1 << 20},
		{0, math.MaxInt64}} {
		if !panics(func() { Join(bad[0], bad[1]) }) {
			t.Errorf("Join(%d, %d) did not panic", bad[0], bad[1])
		}
	}
}

// TestSplit checks that ids and pairs of numbers correspond one to one, and
// that no number makes Split do anything but answer.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool, index := rapid.Int64Range(0, 1<<22).Draw(t, "pool"), rapid.Int64Range(0, 1<<25).Draw(t, "index")
		if p, i := Split(Join(pool, index)); p != pool || i != index {
			t.Fatalf("%d, %d came back as %d, %d", pool, index, p, i)
		}
		id := rapid.Int64().Draw(t, "id")
		if p, i := Split(id); p >= 0 && Join(p, i) != id {
			t.Fatalf("id %d is %d, %d, which is %d", id, p, i, Join(p, i))
		}
	})
}

package extrapolate_test

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/mpi/extrapolate"
)

// TestBalanced compares the factors of numbers of ranks with those that trying all finds, and asks for those
// of numbers for which that would take minutes.
func TestBalanced(t *testing.T) {
	for n := 1; n <= 300; n++ {
		of := balanced(n)
		if got := extrapolate.Balanced(int64(n), 3); !slices.Equal(got,
			[]int64{int64(of[0]), int64(of[1]), int64(of[2])}) {
			t.Fatalf("%d as %v, want %v", n, got, of)
		}
		two := [2]int{n, 1}
		for a := n; a*a >= n; a-- {
			if n%a == 0 {
				two = [2]int{a, n / a}
			}
		}
		if got := extrapolate.Balanced(int64(n), 2); !slices.Equal(got, []int64{int64(two[0]), int64(two[1])}) {
			t.Fatalf("%d as %v, want %v", n, got, two)
		}
	}
	for n, want := range map[int64][]int64{1 << 30: {1024, 1024, 1024}, 1<<31 - 1: {1<<31 - 1, 1, 1}} {
		if got := extrapolate.Balanced(n, 3); !slices.Equal(got, want) {
			t.Errorf("%d as %v, want %v", n, got, want)
		}
	}
}

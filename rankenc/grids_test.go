package rankenc

import (
	"math/rand/v2"
	"testing"
)

// TestFitGrids counts in how many of many small process grids the neighbour in a
// random direction is found, for all processes and for parts of them. Small ones
// are the hard ones: their rows show only once or twice.
func TestFitGrids(t *testing.T) {
	parts := []struct {
		name        string
		in          func(x, y, z int) bool
		open, wraps float64 // least shares that must be found
	}{
		{"All", func(_, _, _ int) bool { return true }, 0.99, 1},
		{"Interior", func(x, y, _ int) bool { return x > 0 && y > 0 }, 0.96, 1},
		{"Faces", func(x, y, _ int) bool { return x == 0 || y == 0 }, 0.99, 1},
		{"Colour", func(x, y, z int) bool { return (x+y+z)%2 == 0 }, 0.94, 0.99},
	}
	for _, tt := range parts {
		t.Run(tt.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			for _, wrap := range []bool{false, true} {
				want := tt.open
				if wrap {
					want = tt.wraps
				}
				found, total := 0, 0
				for range 1000 {
					k, m := 2+rnd.IntN(9), 2+rnd.IntN(9)
					n := k * m * (2 + rnd.IntN(5))
					value := neighbour(n, wrap, []int{k, m}, rnd.IntN(5)-2, rnd.IntN(5)-2, rnd.IntN(5)-2)
					d, values := sampleOf(n, func(r int) bool { return tt.in(r%k, r/k%m, r/k/m) }, value)
					e, ok := Fit(d, values, Options{Ranks: true})
					if total++; ok {
						found++
					}
					if ok && !fits(e, d, values) {
						t.Fatalf("%v is not %v", e, values)
					}
				}
				share := float64(found) / float64(total)
				t.Logf("wrap %v: %.3f", wrap, share)
				if share < want {
					t.Errorf("wrap %v: found %.3f of %d, want %.2f", wrap, share, total, want)
				}
			}
		})
	}
}

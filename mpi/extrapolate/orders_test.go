package extrapolate

import "testing"

// TestOrders checks that a grid whose extents vary in a mixed order is not tried if traces do not tell it from one
// with a plain order, and is if they do.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		numbers []int64
		mixed   int
	}{{[]int64{12, 27, 36, 48}, 0}, {[]int64{24, 48, 60}, 4}} {
		mixed := 0
		for _, g := range grids(3, c.numbers) {
			e := g.extents(c.numbers[len(c.numbers)-1])
			if !(e[0] <= e[1] && e[1] <= e[2] || e[0] >= e[1] && e[1] >= e[2]) {
				mixed++
			}
		}
		if mixed != c.mixed {
			t.Errorf("%v ranks: %d grids in mixed orders, want %d", c.numbers, mixed, c.mixed)
		}
	}
}

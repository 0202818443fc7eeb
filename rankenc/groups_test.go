package rankenc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestFitGroups fits values that refer to groups of several sizes: what it finds
// yields all of them, and it finds a ring, a line and a shift.
func TestFitGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ranks, sizes, values []int64
		c := rapid.Int64Range(-3, 3).Draw(t, "c")
		form := rapid.SampledFrom([]Expr{{ringNumber, params{c}}, {3, params{c, -2}}, Shift(c + 3), Constant(c)}).Draw(t, "form")
		for i := range rapid.IntRange(1, 4).Draw(t, "groups") {
			n := rapid.Int64Range(8, 40).Draw(t, "size")
			for r := range n {
				if i > 0 && rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
					continue
				}
				ranks, sizes = append(ranks, r), append(sizes, n)
				values = append(values, form.Eval(r, n))
			}
		}
		e, ok := FitGroups(ranks, sizes, values, Options{})
		if !ok {
			t.Fatalf("no expression for %v", form)
		}
		at := rapid.IntRange(0, len(values)-1).Draw(t, "at")
		check := func() {
			for i, v := range values {
				if got := e.Eval(ranks[i], sizes[i]); got != v {
					t.Fatalf("%v yields %d for rank %d of %d, not %d", e, got, ranks[i], sizes[i], v)
				}
			}
		}
		check()
		values[at] += rapid.Int64Range(-2, 2).Draw(t, "change")
		if e, ok = FitGroups(ranks, sizes, values, Options{Ranks: true}); ok {
			check()
		}
	})
	if e, ok := FitGroups(nil, nil, nil, Options{}); !ok || e != (Expr{}) {
		t.Errorf("nothing fits %v, %v", e, ok)
	}
	if _, ok := FitGroups([]int64{0, 0}, []int64{2, 2}, []int64{0, 1}, Options{}); ok {
		t.Error("a rank has two values")
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	FitGroups([]int64{0}, []int64{1}, nil, Options{})
}

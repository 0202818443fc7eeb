package merge

import (
	"pgregory.net/rapid"
	"slices"
	"testing"
)

func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		var a, b spans
		var want []int
		for i := range n {
			switch rapid.IntRange(0, 2).Draw(t, "x") {
			case 0:
				a = a.add(i, i)
				want = append(want, i)
			case 1:
				b = b.add(i, i)
				want = append(want, i)
			}
		}
		u, ok := a.union(b)
		var got []int
		u.each(func(p, r int) {
			got = append(got, r)
			if u.at(p) != r {
				t.Fatal("at")
			}
		})
		if !ok || !slices.Equal(got, want) {
			t.Fatal(a, b, u, ok, got, want)
		}
		var g2 []int
		for _, r := range u.set().All() {
			g2 = append(g2, int(r))
		}
		if !slices.Equal(g2, want) {
			t.Fatal(g2)
		}
	})
}

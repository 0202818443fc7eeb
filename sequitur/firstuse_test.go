package sequitur

import (
	"testing"

	"pgregory.net/rapid"
)

// TestFirstUses compares first uses with those in the sequence.
func TestFirstUses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Builder
		for _, s := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "sequence") {
			b.AppendRun(Symbol(s), 1+uint64(s)%3)
		}
		g := b.Finish()
		known := make(map[Symbol]uint64)
		var order []Symbol
		for at, s := range g.All() {
			if _, ok := known[s]; !ok {
				known[s] = at
				order = append(order, s)
			}
		}
		i := 0
		for at, s := range g.FirstUses() {
			if i >= len(order) || s != order[i] || at != known[s] {
				t.Fatalf("%d is first at %d, want %v at %v", s, at, order, known)
			}
			i++
		}
		if i != len(order) {
			t.Fatalf("%d terminals, want %v", i, order)
		}
	})
}

package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"testing"
)

// TestBudget writes a trace that polls within budgets of work from nothing to more than it takes: each is
// read back call by call, a larger budget makes none larger, and the largest makes what Write does.
func TestBudget(t *testing.T) {
	const ranks, rounds = 3, 300
	var (
		a     Accumulator
		parts []Part
	)
	for rank := range ranks {
		parts = append(parts, polling(rank, rounds))
		if err := a.Add(parts[rank]); err != nil {
			t.Fatal(err)
		}
	}
	last, sizes := 0, make(map[int]bool)
	for _, budget := range []int{0, 1 << 14, 1 << 16, 1 << 23} {
		var b bytes.Buffer
		if err := a.WriteWithin(&b, budget); err != nil {
			t.Fatal(err)
		}
		if last > 0 && b.Len() > last {
			t.Errorf("%d bytes within %d, but %d within less", b.Len(), budget, last)
		}
		last = b.Len()
		sizes[last] = true
		checkCalls(t, open(t, b.Bytes()), parts)
	}
	var whole bytes.Buffer
	if err := a.Write(&whole); err != nil {
		t.Fatal(err)
	}
	if whole.Len() != last || len(sizes) < 2 {
		t.Errorf("%d bytes, %d within the largest budget, %d sizes", whole.Len(), last, len(sizes))
	}
}

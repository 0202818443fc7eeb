package mixing

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestWork has less and less work for a block: it is written as long as there is enough, in a form that is
// chosen as far as there is more, and what it took is counted.
func TestWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, a := drawMembers(t)
		whole := Work(math.MaxInt)
		blocks, ok := Append(context.Background(), nil, members, a, math.MaxInt, &whole)
		if !ok {
			t.Skip("no block")
		}
		took := math.MaxInt - whole
		if took == 0 {
			t.Skip("no members")
		}
		enough := took
		same, ok := Append(context.Background(), nil, members, a, math.MaxInt, &enough)
		if ok && enough < 0 {
			t.Fatalf("%d bits more than there were", -enough)
		}
		if ok && len(same) != len(blocks) {
			t.Fatalf("%d blocks, want %d", len(same), len(blocks))
		}
		none := Work(0)
		if _, ok := Append(context.Background(), nil, members, a, math.MaxInt, &none); ok {
			t.Fatal("blocks without work")
		}
		if none > 0 || -none > took {
			t.Fatalf("%d bits left of none", none)
		}
	})
}

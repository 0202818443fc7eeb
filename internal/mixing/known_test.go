package mixing

import (
	"bytes"
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestTrial checks that the blocks of a trial are those of [Append], and that they take less work, as the first form is
// coded once.
func TestTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, a := drawMembers(t)
		all := Work(math.MaxInt64)
		want, ok := Append(context.Background(), nil, members, a, math.MaxInt, &all)
		trial, tried := Try(context.Background(), members, a, nil)
		if !tried {
			if ok && len(want) == 1 {
				t.Fatal("not tried")
			}
			return
		}
		left := Work(math.MaxInt64)
		got, ok2 := trial.Append(nil, math.MaxInt, &left)
		if ok != ok2 || len(got) != len(want) {
			t.Fatalf("%d blocks, %v, not %d, %v", len(got), ok2, len(want), ok)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("block %d differs", i)
			}
		}
		if left < all+trial.w.known[0].work {
			t.Errorf("%d bits left, %d without the trial of %d", left, all, trial.w.known[0].work)
		}
	})
}

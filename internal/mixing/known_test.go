package mixing

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

// TestTrial checks that the blocks of a trial are those of [Append], and that they take less work, as the first form is
// coded once.
func TestTrial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, a := drawMembers(t)
		all := Work(math.MaxInt64)
		want, ok := Append(context.Background(), nil, members, a, math.MaxInt, &all)
		trial, tried := Try(context.Background(), members, a, Rival{}, nil)
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

// TestRival checks that a trial is in vain if its half is longer than that of a rival by more than it may be, with less
// work, and is the same as without a rival else, but for a smaller table.
func TestRival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, a := drawMembers(t)
		rival, ok := Try(context.Background(), members, a, Rival{}, nil)
		if !ok {
			return
		}
		for _, more := range []int{0, 1 << 20} {
			trial, ok := Try(context.Background(), members, a, Rival{rival, true, more}, nil)
			if rival.w.known[0].size > largestTable(rival.Len()) { // the table is smaller, and the half may be longer
				continue
			}
			if !ok || !bytes.Equal(trial.w.known[0].block, rival.w.known[0].block) {
				t.Fatalf("a trial that is its rival is in vain, or differs")
			}
		}
		if rival.w.halfLen == 0 { // no item ends where half of the symbols do
			return
		}
		all, left := Work(1<<40), Work(1<<40)
		if _, ok := Try(context.Background(), members, a, Rival{rival, false, 0}, &all); !ok {
			t.Fatal("not tried")
		}
		if _, ok := Try(context.Background(), members, a, Rival{rival, true, -rival.w.halfLen - 1}, &left); ok ||
			left < all {
			t.Fatalf("%v: a trial in vain takes %d, and %d to its end", ok, 1<<40-left, 1<<40-all)
		}
	})
}

// TestRivalOfRun checks that a trial is not in vain that has all its symbols in one item, as they are alike but for
// values: what is coded behind the half of them is a half of it.
func TestRivalOfRun(t *testing.T) {
	const n = 1000
	var calls, run sequitur.Builder
	values := make([]uint32, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = r.Uint32N(4)
		calls.AppendRun(values[i], 1)
	}
	run.AppendRun(0, n)
	each := membersOf(calls.Finish())
	rival, ok := Try(context.Background(), each, Plain(4), Rival{}, nil)
	if !ok {
		t.Fatal("not tried")
	}
	a := Plain(1)
	a.Values, a.Streams = [][]int64{{0, 1, 2, 3}}, [][]int{{0}}
	members := []Member{{Grammar: run.Finish(), Streams: [][]uint32{values}}}
	trial, ok := Try(context.Background(), members, a, Rival{rival, true, n / 32}, nil)
	if !ok || trial.Len() > rival.Len()+n/32 {
		t.Fatalf("a run of values is in vain beside %d bytes: %+v", rival.Len(), trial)
	}
	if _, ok := Try(context.Background(), each, Plain(4), Rival{trial, true, n / 32}, nil); !ok {
		t.Errorf("calls are in vain beside a run of values")
	}
}

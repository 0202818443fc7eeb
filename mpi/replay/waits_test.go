package replay_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A recording has the times of calls that a replay came to, or others.
type recording struct {
	t     tester
	times map[call][2]replay.Time
	waits []replay.Waited
	kept  []int
}

type call struct {
	rank     int
	position uint64
}

func (r *recording) Times(c *replay.Call) (start, end, latest replay.Time) {
	at := r.times[call{c.Rank.Number(), c.Position}]
	return at[0], at[1], at[1]
}

func (r *recording) Site(c *replay.Call) int { return c.Rank.Function(c.Terminal) }

func (r *recording) Waited(w *replay.Waited) any {
	at := r.times[call{w.Call.Rank.Number(), w.Call.Position}]
	if w.Start != at[0] || w.Latest != at[1] || w.Since <= w.Start || w.Rank == w.Call.Rank.Number() {
		r.t.Fatalf("%+v of %v", w, at)
	}
	total := 0.0
	for _, d := range w.Delays() {
		if d.Share <= 0 || d.Before < 0 || d.After < -1 {
			r.t.Fatalf("%+v of %+v", d, w)
		}
		total += d.Share
	}
	if total != 0 && (total < 1-1e-9 || total > 1+1e-9) {
		r.t.Fatalf("%v of %+v", total, w)
	}
	r.waits = append(r.waits, *w)
	r.waits[len(r.waits)-1].Call = nil
	return len(r.waits) - 1
}

func (r *recording) WrongOrder(kept any) {
	if i := kept.(int); r.waits[i].Kind != replay.LateSender || slices.Contains(r.kept, i) {
		r.t.Fatalf("wrong order of %+v", r.waits[i])
	}
	r.kept = append(r.kept, kept.(int))
}

// recordingOf returns the times that calls have on a machine.
func recordingOf(t tester, model *semantics.Model, machine replay.Machine) *recording {
	r := &recording{t: t, times: make(map[call][2]replay.Time)}
	_, err := replay.RunWith(ctx, model, machine, replay.Options{Ended: func(c *replay.Call, start, end replay.Time) {
		r.times[call{c.Rank.Number(), c.Position}] = [2]replay.Time{start, end}
	}})
	if err != nil && !errors.As(err, new(*replay.DeadlockError)) {
		t.Fatal(err)
	}
	return r
}

// TestWaits checks that all calls of programs find what they wait for, and that each that waits longer than it
// would alone is told to wait.
func TestWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newProgram(func(n int) int {
			return rapid.IntRange(0, n-1).Draw(t, "n")
		}, rapid.IntRange(1, 25).Draw(t, "steps"))
		tr, _ := p.trace(t)
		model := open(t, tr)
		r := recordingOf(t, model, uneven{})
		res, err := replay.Waits(ctx, model, r, nil)
		if err != nil || res.Unknown+res.Outside+res.Unmatched > 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		last := replay.Time(0)
		for _, at := range r.times {
			last = max(last, at[1])
		}
		if res.Time != last {
			t.Fatalf("a path of %v, not %v", res.Time, last)
		}
	})
}

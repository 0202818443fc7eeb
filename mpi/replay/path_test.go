package replay_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// TestPathPrograms checks, of random programs, that critical paths add up to the time of the run, and that
// what a replay tells of calls is what events say.
func TestPathPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		trace, _ := newProgram(intn, rapid.IntRange(1, 40).Draw(t, "steps")).trace(t)
		model := open(t, trace)
		for _, machine := range []replay.Machine{replay.Instant{}, uneven{}, uneven{synchronous: true}} {
			testPath(t, model, machine)
		}
	})
}

type callKey struct {
	rank     int
	position uint64
}

func testPath(t tester, model *semantics.Model, machine replay.Machine) {
	t.Helper()
	ends := make(map[callKey][2]replay.Time)
	res, err := replay.RunWith(ctx, model, machine, replay.Options{CriticalPath: true,
		Ended: func(c *replay.Call, start, end replay.Time) {
			ends[callKey{c.Rank.Number(), c.Position}] = [2]replay.Time{start, end}
		}})
	if err != nil {
		t.Fatal(err)
	}
	var steps, ranks replay.Time
	for _, s := range res.Path.Steps {
		if s.Computing < 0 || s.Calls < 0 || s.Count == 0 {
			t.Fatalf("step %+v", s)
		}
		steps += s.Computing + s.Calls
	}
	for _, r := range res.Path.Ranks {
		ranks += r.Computing + r.Calls
	}
	if steps != res.End || ranks != res.End {
		t.Fatalf("%T: steps of %d, ranks of %d, want %d", machine, steps, ranks, res.End)
	}
	calls := 0
	for event, err := range replay.Events(ctx, model, machine) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Message != nil {
			continue
		}
		calls++
		if got := ends[callKey{event.Call.Rank.Number(),
			event.Call.Position}]; got != [2]replay.Time{event.Start, event.At} {
			t.Fatalf("%T: call from %d to %d, events say from %d to %d", machine, got[0], got[1], event.Start, event.At)
		}
	}
	if calls != len(ends) || uint64(calls) != res.Calls {
		t.Fatalf("%d calls, %d of events, %d of the result", len(ends), calls, res.Calls)
	}
}

// TestPathLong follows the path of programs that are long enough for its chains to be summed up.
func TestPathLong(t *testing.T) {
	for seed := range uint64(tier.Number(1, 3)) {
		trace, _ := newProgram(seeded(seed), 1500).trace(t)
		for _, synchronous := range []bool{false, true} {
			testPath(t, open(t, trace), uneven{synchronous: synchronous})
		}
	}
}

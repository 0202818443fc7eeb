package replay_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
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
	res, err := replay.RunWith(ctx, model, machine, replay.Options{CriticalPath: true, Ended: func(c *replay.Call, start, end replay.Time) {
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
		if got := ends[callKey{event.Call.Rank.Number(), event.Call.Position}]; got != [2]replay.Time{event.Start, event.At} {
			t.Fatalf("%T: call from %d to %d, events say from %d to %d", machine, got[0], got[1], event.Start, event.At)
		}
	}
	if calls != len(ends) || uint64(calls) != res.Calls {
		t.Fatalf("%d calls, %d of events, %d of the result", len(ends), calls, res.Calls)
	}
}

// lines is a machine whose computing before a call is told by its position.
type lines struct {
	replay.Instant
	before [][]replay.Time // by rank and position
}

func (l lines) Compute(c *replay.Call) (before, within replay.Time) {
	return l.before[c.Rank.Number()][c.Position], 0
}

func (lines) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Send: 1, Transfer: 10, Receive: 2, Rendezvous: m.Bytes > 500}
}

// TestPath checks where critical paths of small programs go.
func TestPath(t *testing.T) {
	for _, tt := range []struct {
		name, lines string
		before      [][]replay.Time
		want        []replay.PathRank
	}{
		{"LateSender", "0 init\n0 send 1 0 5 6\n0 finalize\n1 init\n1 recv 0 0 5 6\n1 finalize\n",
			[][]replay.Time{{0, 100, 0}, {0, 20, 30}}, []replay.PathRank{{Rank: 0, Computing: 100, Calls: 1}, {Rank: 1, Computing: 30, Calls: 12}}},
		{"LateReceiver", "0 init\n0 send 1 0 5 6\n0 finalize\n1 init\n1 recv 0 0 5 6\n1 finalize\n",
			[][]replay.Time{{0, 10, 0}, {0, 200, 30}}, []replay.PathRank{{Rank: 1, Computing: 230, Calls: 2}}},
		{"Rendezvous", "0 init\n0 send 1 0 501 6\n0 finalize\n1 init\n1 recv 0 0 501 6\n1 finalize\n",
			[][]replay.Time{{0, 10, 300}, {0, 200, 30}}, []replay.PathRank{{Rank: 0, Computing: 300, Calls: 10}, {Rank: 1, Computing: 200}}},
		{"Barrier", "0 init\n0 barrier\n0 finalize\n1 init\n1 barrier\n1 finalize\n",
			[][]replay.Time{{0, 10, 300}, {0, 200, 30}}, []replay.PathRank{{Rank: 0, Computing: 300}, {Rank: 1, Computing: 200}}},
		{"Bcast", "0 init\n0 bcast 5 1 6\n0 finalize\n1 init\n1 bcast 5 1 6\n1 finalize\n",
			[][]replay.Time{{0, 10, 300}, {0, 200, 30}}, []replay.PathRank{{Rank: 0, Computing: 300}, {Rank: 1, Computing: 200}}},
		{"Reduce", "0 init\n0 reduce 5 0 1 6\n0 finalize\n1 init\n1 reduce 5 0 1 6\n1 finalize\n",
			[][]replay.Time{{0, 10, 300}, {0, 200, 130}}, []replay.PathRank{{Rank: 1, Computing: 330}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := replay.RunWith(ctx, open(t, testtrace.TI(t, tt.lines)), lines{before: tt.before}, replay.Options{CriticalPath: true})
			if err != nil {
				t.Fatal(err)
			}
			var ranks []replay.PathRank
			for _, r := range res.Path.Ranks {
				if r.Computing+r.Calls > 0 {
					ranks = append(ranks, r)
				}
			}
			if len(ranks) != len(tt.want) {
				t.Fatalf("ranks %+v, want %+v", ranks, tt.want)
			}
			for i, r := range ranks {
				if r != tt.want[i] {
					t.Errorf("rank %+v, want %+v", r, tt.want[i])
				}
			}
		})
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

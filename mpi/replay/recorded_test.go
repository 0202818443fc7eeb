package replay_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// TestSpeed checks how long the amounts of computing take that SimGrid's actions have, also if the ranks have
// other amounts in one place.
func TestSpeed(t *testing.T) {
	trace := testtrace.TI(t,
		"0 init\n0 compute 3e+06\n0 sleep 0.002\n0 compute 1234567\n0 finalize\n1 init\n1 compute 5e+06\n1 sleep 0.001\n1 compute 7654321\n1 finalize\n")
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		speed int64
		ends  [2]replay.Time
	}{
		{0, [2]replay.Time{}},
		{1e9, [2]replay.Time{6_234_567 * replay.Nanosecond, 13_654_321 * replay.Nanosecond}},
		{2e9, [2]replay.Time{4_117_283_500, 7_327_160_500}},
	} {
		recorded, err := replay.NewRecorded(trace)
		if err != nil {
			t.Fatal(err)
		}
		recorded.Speed(tt.speed)
		result, err := replay.Run(context.Background(), model, recorded)
		if err != nil {
			t.Fatal(err)
		}
		for rank, want := range tt.ends {
			if r := result.Ranks[rank]; r.End != want || r.Computing != want {
				t.Errorf("speed %d: %+v, want %v", tt.speed, r, want)
			}
		}
		if err := recorded.Err(); err != nil {
			t.Error(err)
		}
	}
}

package loggps

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestAcross checks when members leave operations on an intercommunicator of three and two, into which the
// first enters at 5000.
func TestAcross(t *testing.T) {
	link := Link{Latency: 1000, Overhead: 10, Bandwidth: 1e12} // a picosecond for each byte
	const late, step = 5000, 10 + 1000 + 10
	for _, tt := range []struct {
		name      string
		operation string
		root      int
		sent      int64
		besides   replay.Time
		want      []replay.Time // −1 for members that take no part
	}{
		// Of a binomial broadcast among three, the root sends to one after the other.
		{"BcastFromFirst", "MPI_Bcast", 0, 100, 0, []replay.Time{late + 20, -1, -1, late + step + 10 + 100,
			late + step + 100}},
		{"BcastFromOther", "MPI_Bcast", 1, 100, 0, []replay.Time{-1, 20, -1, step + 10 + 100, step + 100}},
		{"BcastFromSecond", "MPI_Bcast", 3, 100, 0, []replay.Time{late + 10, step + 110, 2*step + 200, 20, -1}},
		{"Reduce", "MPI_Reduce", 0, 100, 0, []replay.Time{late + 20, -1, -1, 10, 10}}, // two messages that have come before
		{"ReduceToOther", "MPI_Reduce", 2, 100, 0, []replay.Time{-1, -1, step + 110, 10, 10}},
		{"Gatherv", "MPI_Gatherv", 3, 0, 0, []replay.Time{late + 10, 10, 10, late + 10 + 1000 + 3*10, -1}},
		{"Barrier", "MPI_Barrier", -1, 0, 0, []replay.Time{late + 3*step, 3 * step, 3 * step, late + 3*step,
			late + 3*step}},
		// The first of five gives to the second, which exchanges in two rounds, and gives back. What it has
		// is late in both for the last.
		{"Allreduce", "MPI_Allreduce", -1, 100, 7, []replay.Time{late + 3*(step+100) + 7, 2*step + 217,
			2*step + 227, late + 2*step + 227, late + 3*(step+100) + 7}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Parameters{Between: link, Besides: map[string]Besides{"allreduce": {{8, tt.besides}}}}
			m, err := New(p, 5, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &replay.Collective{Role: spec.RoleOf(tt.operation), Communicator: inter(t, 3, 2),
				Root: tt.root, Enter: []replay.Time{late, 0, 0, 0, 0}, Leave: slices.Repeat([]replay.Time{-1}, 5)}
			for i := range 5 {
				c.Sent, c.Received = append(c.Sent, tt.sent), append(c.Received, tt.sent)
				if tt.want[i] >= 0 {
					c.Leaving = append(c.Leaving, i)
				}
			}
			if m.Collective(c); !slices.Equal(c.Leave, tt.want) {
				t.Errorf("members leave at %d, want %d", c.Leave, tt.want)
			}
		})
	}
}

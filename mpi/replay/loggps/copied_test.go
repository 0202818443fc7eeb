package loggps

import (
	"testing"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestCopiedFromRoot has a root give to members again and again, which copy what they get: they are busy for
// that time with each operation, although the root does not wait for them.
func TestCopiedFromRoot(t *testing.T) {
	const size, times = 1 << 20, 10
	p := Parameters{Between: Link{Latency: 1000, Overhead: 10, Bandwidth: 1e9, EagerLimit: 1 << 14, Copied: true}}
	for _, tt := range []struct {
		name  string
		ranks int
		own   int64
	}{{"MPI_Bcast", 2, size}, {"MPI_Bcast", 5, size}, {"MPI_Scatter", 2, size / 2}, {"MPI_Scatter", 4, size / 4}} {
		m, err := New(p, tt.ranks, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &replay.Collective{Communicator: world(t, tt.ranks), Role: spec.RoleOf(tt.name),
			Enter: make([]replay.Time, tt.ranks), Leave: make([]replay.Time, tt.ranks)}
		for i := range tt.ranks {
			c.Leaving, c.Sent, c.Received = append(c.Leaving, i), append(c.Sent, size), append(c.Received, tt.own)
		}
		for range times {
			m.Collective(c)
			copy(c.Enter, c.Leave)
		}
		copying := replay.Time(tt.own) * replay.Second / 1e9
		for i := 1; i < tt.ranks; i++ {
			if got := c.Leave[i]; got < times*copying || got > (times+2)*(2*copying+replay.Microsecond)*2 {
				t.Errorf("%s on %d ranks: rank %d is done with %d at %v, where it copies each for %v",
					tt.name, tt.ranks, i, times, got, copying)
			}
		}
	}
}

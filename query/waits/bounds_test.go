package waits_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/tracer"
)

// A callSum is the calls of a function on a rank.
type callSum struct {
	rank     int
	function string
}

// TestBounds checks that ranks wait no longer in collective operations than statistics say, that they do not say
// more than calls take, and that calls that do not wait have no bound, whatever the program.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 4).Draw(t, "ranks")
		s := newSimulator(ranks)
		functions := []string{"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan"}
		may := make(map[callSum]uint64)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			computes := func(int) int64 { return int64(rapid.IntRange(0, 50).Draw(t, "computes")) * 1000 }
			if rapid.IntRange(0, 3).Draw(t, "sends") == 0 {
				s.send(0, 1, 0, [2]int64{computes(0), computes(1)}, false)
				continue
			}
			name, root := rapid.SampledFrom(functions).Draw(t, "function"), rapid.IntRange(0, ranks-1).Draw(t, "root")
			s.collect(name, root, computes)
			for rank := range ranks {
				if name != "MPI_Bcast" && name != "MPI_Reduce" || (rank == root) == (name == "MPI_Reduce") {
					may[callSum{rank, name}]++
				}
			}
		}
		model := must.Get(semantics.Open(t.Context(), s.trace(t, tracer.Options{})))
		list := must.Get(waits.Bounds(t.Context(), model, nil))
		times := make(map[callSum]float64)
		for _, p := range s.ranks {
			for _, c := range p.calls {
				times[callSum{p.rank, c.Function.Name}] += float64(c.Duration)
			}
		}
		waited := make(map[callSum]float64)
		for v, of := range s.victims {
			waited[callSum{v.rank, v.function}] += float64(of.wait)
		}
		for _, b := range list {
			k := callSum{b.Rank, b.Function}
			const rounded = 1.1 // sums of ranks
			if may[k] != b.Calls || float64(b.Most) < waited[k] || float64(b.Most) > rounded*times[k] {
				t.Fatalf("%+v, of %d calls that wait %v of %v", b, may[k], waited[k], times[k])
			}
			delete(may, k)
		}
		for k := range may {
			if times[k] > 0 {
				t.Fatalf("%+v has no bound in %+v", k, list)
			}
		}
	})
}

// TestBoundsPlanted checks that the bounds of ranks that wait for a planted delay are hardly more than it.
func TestBoundsPlanted(t *testing.T) {
	const ranks, late, loops, longer = 4, 2, 100, 50_000
	s := newSimulator(ranks)
	for range loops {
		for _, name := range []string{"MPI_Barrier", "MPI_Bcast"} {
			s.collect(name, late, func(rank int) int64 {
				if rank == late {
					return longer
				}
				return 0
			})
		}
	}
	model := must.Get(semantics.Open(t.Context(), s.trace(t, tracer.Options{})))
	list := must.Get(waits.Bounds(t.Context(), model, nil))
	for _, b := range list {
		got, want := float64(b.Most)/loops, float64(longer)
		if b.Rank == late { // which waits for nobody, and is in the operation as long as others are after a wait
			want = 0
		}
		if got < want || got > 1.05*want+2*latency {
			t.Errorf("%+v: %v, not %v a call", b, got, want)
		}
		if b.Rank == late && b.Function == "MPI_Bcast" {
			t.Errorf("the root waits: %+v", b)
		}
	}
	if len(list) != 2*ranks-1 {
		t.Errorf("%+v", list)
	}
	one := rankenc.SetOf(1)
	if some := must.Get(waits.Bounds(t.Context(), model, &one)); len(some) != 2 || some[0].Rank != 1 {
		t.Errorf("%+v", some)
	}
}

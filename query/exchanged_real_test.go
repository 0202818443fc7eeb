package query

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestExchangedMPI records a program of which it is known how much each process gives each
// other.
func TestExchangedMPI(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		trace := recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks = 3
			if out := m.Run(t, o, m.Build(t, "exchanged.c")); out.Status != 0 {
				t.Fatal(out.Rest)
			}
		})
		model := openModel(t, trace)
		if err := model.Unresolved(); err != nil {
			t.Fatal(err)
		}
		// Both MPI_Alltoallv, MPI_Gatherv, MPI_Scatter, MPI_Bcast, 5 MPI_Allreduce, MPI_Scan,
		// MPI_Reduce_scatter, MPI_Iallgather, MPI_Allgather, MPI_Neighbor_alltoall.
		checkExchanged(t, openMessages(t, model, 0, Options{}), map[[2]int]Blocks{
			{0, 1}: {Blocks: 13, Bytes: 4 + 8 + 8 + 7 + 80 + 4 + 8 + 5 + 8},
			{0, 2}: {Blocks: 12, Bytes: 8 + 8 + 7 + 80 + 4 + 12 + 3 + 8},
			{1, 0}: {Blocks: 10, Bytes: 12 + 8 + 80 + 4 + 5 + 8},
			{1, 2}: {Blocks: 11, Bytes: 20 + 8 + 80 + 4 + 12 + 5 + 8},
			{2, 0}: {Blocks: 11, Bytes: 24 + 8 + 24 + 80 + 4 + 3 + 8},
			{2, 1}: {Blocks: 12, Bytes: 28 + 8 + 24 + 24 + 80 + 8 + 5 + 8},
		}, 0)
	})
}

// TestExchangedBothSides compares what the arguments of the givers say with those of the
// receivers, in programs that check what they compute.
func TestExchangedBothSides(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		for _, source := range []string{"exchanged.c", "collectives.c", "icollectives.c"} {
			trace := recorded.Trace(t, m, func(o mpitest.Options) {
				o.Ranks = 3
				if out := m.Run(t, o, m.Build(t, source)); out.Status != 0 {
					t.Fatal(out.Rest)
				}
			})
			model := openModel(t, trace)
			got, want, calls := make(map[int]int64), make(map[int]int64), 0
			for rank := range trace.Ranks() {
				r, err := model.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				for o := range r.All() {
					if n := addSides(r, rank, o, got, want); n {
						calls++
					}
				}
			}
			if calls == 0 || !maps.Equal(got, want) {
				t.Errorf("%s: %d calls, in which ranks get %v from others, want %v", source, calls, got, want)
			}
		}
	})
}

// addSides adds what a call gives others, and what the receiver says it gets from others. It
// reports whether the operation is one of which both say something.
func addSides(r *semantics.Rank, rank int, o semantics.Occurrence, got, want map[int]int64) bool {
	op, c := o.Operation, o.Operation.Communicator
	if c == nil || c.IsInter() {
		return false
	}
	x, count := r.Exchange(op), int64(o.Count)
	given := int64(0)
	give := func(to int, bytes int64) {
		if to != rank {
			given += bytes
			got[to] += bytes * count
		}
	}
	received := op.Received
	data := spec.RoleOf(r.Call(o.Terminal).Function.Name).Data
	switch data {
	case "Bcast", "Scatter", "Scatterv", "Gather", "Gatherv", "Allgather", "Allgatherv", "Alltoall",
		"Alltoallv", "Alltoallw":
	default:
		return false
	}
	switch x.With {
	case semantics.EachOther:
		for i, to := range c.Members(x.Group) {
			if x.Blocks != nil {
				give(to, x.Blocks[i])
			} else {
				give(to, x.Bytes)
			}
		}
	case semantics.Listed:
		for _, to := range x.Peers {
			give(to, x.Bytes)
		}
	}
	switch data { // without what it gets from itself
	case "Bcast":
	case "Scatter", "Scatterv":
		if op.Root == rank {
			received = 0
		}
	case "Gather", "Gatherv":
		if op.Root == rank {
			received -= op.Sent
		}
	case "Allgather", "Allgatherv":
		received -= op.Sent
	default:
		received -= op.Sent - given
	}
	want[rank] += received * count
	return true
}

// TestExchangedText compares what ranks exchange in SimGrid traces with what their text says,
// call by call.
func TestExchangedText(t *testing.T) {
	for _, path := range tier.Some(realTraces(t, "ti/i*.16.ti.zst", "ti/[^i]*.16.ti.zst"), 8) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			const ranks = 16
			sizes := map[int64]int64{0: 8, 1: 4, 2: 1, 23: 4} // of the datatypes that there are
			want := make(map[[2]int]Blocks)
			give := func(from, to int, bytes int64) {
				if from != to && bytes > 0 {
					b := want[[2]int{from, to}]
					b.Blocks++
					b.Bytes += uint64(bytes)
					want[[2]int{from, to}] = b
				}
			}
			for c := range tiCalls(t, path) {
				f := simgrid.Functions()[c.Function]
				argument := func(name string) (n int64) {
					for i, p := range f.Params {
						if p.Name == name {
							n = c.Args[i].Int()
						}
					}
					return n
				}
				switch f.Name {
				case "bcast":
					for to := range ranks {
						if argument("root") == int64(c.Rank) {
							give(c.Rank, to, argument("count")*sizes[argument("type")])
						}
					}
				case "reduce":
					give(c.Rank, int(argument("root")), argument("count")*sizes[argument("type")])
				case "allreduce":
					for to := range ranks {
						give(c.Rank, to, argument("count")*sizes[argument("type")])
					}
				case "alltoall":
					for to := range ranks {
						give(c.Rank, to, argument("send_count")*sizes[argument("send_type")])
					}
				case "alltoallv":
					for to := range ranks {
						give(c.Rank, to, c.Args[1].Index(to).Int()*sizes[argument("send_type")])
					}
				case "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "scan", "exscan",
					"reducescatter":
					t.Fatalf("the test does not know %s", f.Name)
				}
			}
			checkExchanged(t, openMessages(t, openModel(t, openTI(t, path)), 0, Options{}), want, 0)
		})
	}
}

package groups_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
)

// testAnything resolves calls that no program makes: whatever is resolved agrees on
// who is who, and whatever is not is an error that says so.
func testAnything(t *rapid.T) {
	ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
	id := func() int { return rapid.IntRange(-3, 3).Draw(t, "id") }
	n := func() int {
		return rapid.OneOf(rapid.IntRange(-2, 4), rapid.SampledFrom(
			[]int{math.MaxInt, math.MinInt, math.MaxInt32})).Draw(t, "n")
	}
	list := func() []int {
		var l []int
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			l = append(l, n())
		}
		return l
	}
	trace := traceOf(t, ranks, func(rank int, r *recording) {
		for range rapid.IntRange(0, 6).Draw(t, "calls") {
			switch rapid.IntRange(0, 9).Draw(t, "function") {
			case 0:
				r.call("MPI_Comm_dup", "comm", id(), "newcomm", id())
			case 1:
				r.call("MPI_Comm_split", "comm", id(), "color", n(), "key", n(), "newcomm", id())
			case 2:
				r.call("MPI_Comm_split_type", "comm", id(), "newcomm", id(), "leader", n(), "newrank", n())
			case 3:
				r.call("MPI_Comm_create_group", "comm", id(), "tag", n(), "newcomm", id(), "members", list())
			case 4:
				r.call("MPI_Cart_create", "comm_old", world, "dims", list(), "comm_cart", id(), "newrank", n())
			case 5:
				r.call("MPI_Cart_sub", "comm", id(), "remain_dims", list(), "newcomm", id())
			case 6:
				r.call("MPI_Intercomm_create", "local_comm", id(), "local_leader", n(), "peer_comm", world,
					"remote_leader", n(), "tag", n(), "newintercomm", id())
			case 7:
				r.call("MPI_Intercomm_merge", "intercomm", id(), "high", n(), "newintracomm", id(), "newrank", n())
			case 8:
				r.call("MPI_Comm_free", "comm", id())
			case 9:
				r.call("MPI_Win_create", "comm", id(), "win", id())
			}
		}
	})
	all, err := groups.Resolve(context.Background(), trace, groups.Options{})
	if all == nil || err != nil && !errors.As(err, new(*resolve.GroupError)) {
		t.Fatal(all, err)
	}
	for rank := range ranks {
		for id := range int64(4) {
			for position := range uint64(7) {
				if m, ok := all.At(rank, resolve.Local{Class: "comm", ID: id}, position); ok &&
					m.Local()[m.Rank] != rank {
					t.Fatalf("rank %d is %d in %v", rank, m.Rank, m.Local())
				}
			}
		}
	}
}

func TestAnything(t *testing.T) { rapid.Check(t, testAnything) }

func FuzzAnything(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testAnything)) }

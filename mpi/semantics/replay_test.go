package semantics_test

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestProbed checks which message probes find, by which id they give it to a receive, and whether that
// depends on the position.
func TestProbed(t *testing.T) {
	m := mpiModel(t, 3, func(rank int, r *recording) {
		if rank > 0 {
			return
		}
		r.call("MPI_Probe", "source", 1, "tag", 5, "comm", world, "status", implied)
		r.call("MPI_Iprobe", "source", 1, "tag", 5, "comm", world, "flag", 0, "status", implied)
		r.call("MPI_Mprobe", "source", "MPI_ANY_SOURCE", "tag", 5, "comm", world, "message", 7, "status", from(2, 5))
		r.call("MPI_Mrecv", "count", 1, "datatype", "MPI_BYTE", "message", 7)
		r.call("MPI_Mprobe", "source", 1, "tag", 6, "comm", world, "message", 7, "status", implied)
		r.call("MPI_Mrecv", "count", 1, "datatype", "MPI_BYTE", "message", 7)
	})
	rank, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	for position, want := range []struct {
		peer  int // −3 for no message
		found int64
		takes int64
	}{{1, -1, -1}, {-3, -1, -1}, {2, 7, -1}, {-3, -1, 7}, {1, 7, -1}, {-3, -1, 7}} {
		o := rank.At(uint64(position), rank.Grammar().At(uint64(position)))
		if (o.Probed == nil) != (want.peer == -3) || o.Probed != nil && o.Probed.Peer != want.peer ||
			o.Found != want.found || o.Takes != want.takes {
			t.Errorf("call %d: %+v, found %d, takes %d", position, o.Probed, o.Found, o.Takes)
		}
	}
	if o, ok := rank.Same(0); !ok || o.Probed.Tag != 5 {
		t.Errorf("the probe means %v, %t", o, ok)
	}
	if o, ok := rank.Same(rank.Grammar().At(3)); ok {
		t.Errorf("the receives mean the same: %v", o)
	}
}

// TestCompletion checks which requests complete collective operations, by the function that began
// each.
func TestCompletion(t *testing.T) {
	m := mpiModel(t, 1, func(_ int, r *recording) {
		r.call("MPI_Ibarrier", "comm", world, "request", 4)
		r.call("MPI_Barrier", "comm", world)
		r.call("MPI_Barrier_init", "comm", world, "info", cst.Handle(0), "request", 5)
		r.call("MPI_Allreduce_init", "count", 1, "datatype", "MPI_INT", "comm", world, "info", cst.Handle(0),
			"request", 6)
		r.call("MPI_Startall", "array_of_requests", []any{5, 6})
	})
	rank, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	check := func(o *semantics.Operation, id int64, has bool, name string) {
		t.Helper()
		if got, ok := o.Completion(); ok != has || ok && got != id || o.Role != spec.RoleOf(name) {
			t.Errorf("%s completes by %d, %t; %+v", name, got, ok, o.Role)
		}
	}
	check(rank.At(0, 0), 4, true, "MPI_Ibarrier")
	check(rank.At(1, 1), 0, false, "MPI_Barrier")
	started := rank.At(4, 4)
	check(started, 5, true, "MPI_Barrier_init")
	check(started.More[0], 6, true, "MPI_Allreduce_init")
}

// TestGroups checks which ranks MPI_Win_post and MPI_Win_start name.
func TestGroups(t *testing.T) {
	m := mpiModel(t, 5, func(rank int, r *recording) {
		r.call("MPI_Comm_split", "comm", world, "color", 0, "key", -rank, "newcomm", 0) // 4, 3, 2, 1, 0
		r.call("MPI_Win_create", "comm", 0, "win", 0)
		if rank > 0 {
			return
		}
		start := func(group any) { r.call("MPI_Win_start", "group", group, "win", 0) }
		r.call("MPI_Comm_group", "comm", 0, "group", 0)
		start(0)
		r.call("MPI_Group_incl", "group", 0, "n", 2, "ranks", []any{3, 1}, "newgroup", 1) // 1, 3
		start(1)
		r.call("MPI_Group_excl", "group", 0, "n", 3, "ranks", []any{0, 2, 4}, "newgroup", 2) // 3, 1
		start(2)
		r.call("MPI_Group_free", "group", 2)
		r.call("MPI_Group_incl", "group", 0, "n", 1, "ranks", []any{2}, "newgroup", 2) // 2
		start(2)
		r.call("MPI_Group_union", "group1", 1, "group2", 2, "newgroup", 3) // 1, 3, 2
		start(3)
		r.call("MPI_Group_intersection", "group1", 0, "group2", 3, "newgroup", 4) // 3, 2, 1
		start(4)
		r.call("MPI_Group_difference", "group1", 0, "group2", 1, "newgroup", 5) // 4, 2, 0
		start(5)
		r.call("MPI_Win_get_group", "win", 0, "group", 6)
		start(6)
		r.call("MPI_Group_incl", "group", 0, "n", 1, "ranks", []any{7}, "newgroup", 7)
		start(7)
		start("MPI_GROUP_EMPTY")
		// 4, 2, 0 in the group: 0, 2, 4
		r.call("MPI_Group_range_incl", "group", 0, "n", 2, "ranges", []any{4, 1, -2, 0, 1, 1 << 30}, "newgroup", 8)
		start(8)
		r.call("MPI_Group_range_excl", "group", 0, "n", 1, "ranges", []any{0, 3, 2}, "newgroup", 9) // 3, 1, 0
		start(9)
		for i, ranges := range [][]any{{0, 4, 0}, {0, 5, 1}, {-1, 4, 1}, {0, 4}, {0, 4, 1, 0, 4, 1}} { // not allowed
			r.call("MPI_Group_range_incl", "group", 0, "n", 1, "ranges", ranges, "newgroup", 10+i)
			start(10 + i)
		}
		r.call("MPI_Group_range_incl", "group", 0, "n", 1, "ranges", []any{3, 1, 1}, "newgroup", 20) // none
		start(20)
	})
	rank, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int
	for position, s := range rank.Grammar().All() {
		if o := rank.At(position, s); o != nil && o.Class == spec.Synchronization {
			got = append(got, o.Group)
		}
	}
	want := [][]int{{4, 3, 2, 1, 0}, {1, 3}, {3, 1}, {2}, {1, 3, 2}, {3, 2, 1}, {4, 2, 0}, {4, 3, 2, 1, 0},
		nil, nil, {0, 2, 4}, {3, 1, 0}, nil, nil, nil, nil, nil, {}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("groups %v, want %v", got, want)
	}
}

package semantics_test

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/semantics"
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
		if (o.Probed == nil) != (want.peer == -3) || o.Probed != nil && o.Probed.Peer != want.peer || o.Found != want.found || o.Takes != want.takes {
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
		r.call("MPI_Allreduce_init", "count", 1, "datatype", "MPI_INT", "comm", world, "info", cst.Handle(0), "request", 6)
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

package trace_test

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestCanonical checks the texts of signatures of a recorded run: those of neighbours in a
// ring, and the requests by the functions that make them.
func TestCanonical(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	p := tr.Printer(trace.PrintOptions{})
	for n, want := range map[int]string{
		3: "MPI_Irecv(buf=heap#0+0, count=1, datatype=MPI_DOUBLE, source=(rank-1) mod N, tag=1, comm=MPI_COMM_WORLD, request=irecv#0)",
		7: "MPI_Waitall(count=4, array_of_requests=[irecv#0 irecv#1 isend#0 isend#1], array_of_statuses=MPI_STATUSES_IGNORE)",
	} {
		for range 2 { // made, and kept
			if got := p.Canonical(n); got != want {
				t.Errorf("signature %d is %s, want %s", n, got, want)
			}
		}
	}
}

// TestCanonicalRequests checks what requests are called that are not made by one function
// on all ranks.
func TestCanonicalRequests(t *testing.T) {
	id := func(pool int64) cst.Value { return cst.Handle(symbolic.JoinRequest(pool, 0)) }
	tr := recordedTrace(t, mpiNames, 4, nil, func(rank int, r *tracer.Recorder) {
		make := []cst.Function{isend, irecv}[rank%2]
		r.Call(r.Declare(make), cst.Tag(1), id(0))
		r.Call(r.Declare(isend), cst.Tag(2), id(1))
		r.Call(r.Declare(irecv), cst.Tag(3), id(int64(2+rank*rank%3)))
		r.Call(r.Declare(several), cst.Array(id(6), id(7)))
		for pool := range int64(9) {
			r.Call(r.Declare(wait), id(pool))
		}
	})
	p := tr.Printer(trace.PrintOptions{})
	got := make(map[string]bool)
	for n := range tr.Signatures() {
		got[p.Canonical(n)] = true
	}
	for _, request := range []string{"request#0", "isend#0", "irecv#0", "irecv#1", "request#4", "several#0", "several#1", "request#8"} {
		if text := "MPI_Wait(request=" + request + ")"; !got[text] {
			t.Errorf("no %s in %v", text, got)
		}
	}
	if made := "MPI_Isend(tag=1, request=request#0)"; !got[made] {
		t.Errorf("no %s in %v", made, got)
	}
}

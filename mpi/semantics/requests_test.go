package semantics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// Classes of errors as numbers of an MPI.
const (
	errInStatus = 17
	errPending  = 18
	errOther    = 15
)

var errorNames = []format.Name{{Kind: cst.KindHandle, Class: "error", Value: errPending, Name: "MPI_ERR_PENDING"}}

// An ending is what a call ends: requests by the positions of the calls that began them.
type ending struct {
	completes, frees []string
}

// A requestRun makes calls on requests, and keeps what each request is.
type requestRun struct {
	recording
	position  int
	began     map[int]int  // by active request: the position of the call that began it
	cancelled map[int]bool // the same
	want      map[uint64]ending
}

func (r *requestRun) call(name string, pairs ...any) {
	r.recording.call(name, pairs...)
	r.position++
}

func (r *requestRun) begin(id int) {
	r.began[id], r.cancelled[id] = r.position, false
}

// end takes note that the next call ends a request that is active.
func (r *requestRun) end(id int, free bool) {
	at, ok := r.began[id]
	if !ok {
		return
	}
	e := r.want[uint64(r.position)]
	text := fmt.Sprint(id, " of ", at, " cancelled ", r.cancelled[id])
	if free {
		e.frees = append(e.frees, text)
	} else {
		e.completes = append(e.completes, text)
	}
	r.want[uint64(r.position)] = e
	delete(r.began, id)
}

// requestSteps are the kinds of calls of a requestRun.
const requestSteps = 16

// step makes a call, on requests of which two are persistent.
func (r *requestRun) step(kind, a, b int) {
	ids := []int{request(0, 0), request(1, 0), request(2, 0), request(3, 0), request(4, 0), request(5, 0)}
	x, y := ids[a], ids[b]
	persistent := func(id int) bool { return id == ids[4] || id == ids[5] }
	both := []any{x, y}
	status, error := cst.Status{Source: 0, Tag: 0}, func(class int64) cst.Status {
		return cst.Status{Source: -9, Tag: -9, Error: class}
	}
	_, active := r.began[x]
	switch kind {
	case 0, 1, 2: // begin
		switch {
		case active:
		case persistent(x):
			r.begin(x)
			r.call("MPI_Start", "request", x)
		case kind == 0:
			r.begin(x)
			r.call("MPI_Irecv", "count", 1, "datatype", "MPI_INT", "source", "MPI_ANY_SOURCE", "tag", 1,
				"comm", world, "request", x)
		case kind == 1:
			r.begin(x)
			r.call("MPI_Isend", "count", 1, "datatype", "MPI_INT", "dest", 0, "tag", 1, "comm", world, "request", x)
		default:
			r.begin(x)
			r.call("MPI_Ibarrier", "comm", world, "request", x)
		}
	case 3:
		r.end(x, false)
		r.call("MPI_Wait", "request", x, "status", status)
	case 4: // an error of the operation
		r.end(x, false)
		r.call("MPI_Wait", "request", x, "error", errOther)
	case 5:
		r.call("MPI_Test", "request", x, "flag", 0)
	case 6:
		r.end(x, false)
		r.call("MPI_Test", "request", x, "flag", 1, "status", status)
	case 7:
		r.end(y, false)
		r.call("MPI_Waitany", "count", 2, "array_of_requests", both, "index", 1, "status", status)
	case 8: // all are null or inactive
		r.call("MPI_Waitany", "count", 2, "array_of_requests", both, "index", "MPI_UNDEFINED", "status", status)
	case 9:
		if x != y {
			r.end(x, false)
			r.end(y, false)
			r.call("MPI_Waitall", "count", 3, "array_of_requests", []any{x, "MPI_REQUEST_NULL", y},
				"array_of_statuses", []any{status, status, status})
		}
	case 10: // one failed and is complete, the other is pending
		if x != y {
			r.end(x, false)
			r.call("MPI_Waitall", "count", 2, "array_of_requests", both, "array_of_statuses",
				[]any{error(errOther), error(errPending)}, "error", errInStatus)
		}
	case 11: // the second index does not count
		r.end(y, false)
		r.call("MPI_Waitsome", "incount", 2, "array_of_requests", both, "outcount", 1, "array_of_indices",
			[]any{1, 0}, "array_of_statuses", []any{status, status})
	case 12:
		r.call("MPI_Testsome", "incount", 2, "array_of_requests", both, "outcount", 0, "array_of_indices",
			[]any{}, "array_of_statuses", []any{})
	case 13:
		if active {
			r.cancelled[x] = true
			r.call("MPI_Cancel", "request", x)
		}
	case 14:
		if active && !persistent(x) {
			r.end(x, true)
			r.call("MPI_Request_free", "request", x)
		}
	default:
		r.call("MPI_Request_get_status", "request", x, "flag", 1, "status", status)
	}
}

// testRequests checks which operations calls complete and free, against what the requests were
// when the calls were made.
func testRequests(t *rapid.T) {
	type step struct{ kind, a, b int }
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.IntRange(0, requestSteps-1).Draw(t, "kind"), rapid.IntRange(0, 5).Draw(t, "a"),
			rapid.IntRange(0, 5).Draw(t, "b")}
	}), 1, 30).Draw(t, "steps")
	rounds := rapid.SampledFrom([]int{1, 2, 50}).Draw(t, "rounds")
	r := requestRun{began: make(map[int]int), cancelled: make(map[int]bool), want: make(map[uint64]ending)}
	r.call("MPI_Send_init", "count", 1, "datatype", "MPI_INT", "dest", 0, "tag", 1, "comm", world, "request",
		request(4, 0))
	r.call("MPI_Barrier_init", "comm", world, "request", request(5, 0))
	for range rounds {
		for _, s := range steps {
			r.step(s.kind, s.a, s.b)
		}
	}
	m := modelOf(t, written(t, merge.Run{Ranks: 1, Names: errorNames}, []merge.Part{r.Finish(0)}))
	rank, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	active := make(map[int64]uint64) // by the operations alone: where those of requests began
	each(t, m, 0, func(position uint64, c trace.Call, o *semantics.Operation) {
		var got ending
		if o != nil {
			got = ending{ended(rank, position, o.Completes), ended(rank, position, o.Frees)}
			for _, id := range slices.Concat(o.Completes, o.Frees) {
				began, ok := active[id]
				if at, _, there := rank.Begun(id, position); ok != there || began != at && ok {
					t.Fatalf("call %d, %s: request %d was begun by call %d, %v, want %d, %v", position, c, id,
						began, ok, at, there)
				}
				delete(active, id)
			}
			for _, id := range o.Begins {
				active[id] = position
			}
		}
		if want := r.want[position]; !slices.Equal(got.completes, want.completes) ||
			!slices.Equal(got.frees, want.frees) {
			t.Fatalf("call %d, %s: completes and frees %v, want %v", position, c, got, want)
		}
	})
}

// ended returns requests that are active at a position, with the calls that began them.
func ended(rank *semantics.Rank, position uint64, ids []int64) (list []string) {
	for _, id := range ids {
		if at, cancelled, ok := rank.Begun(id, position); ok {
			list = append(list, fmt.Sprint(id, " of ", at, " cancelled ", cancelled))
		}
	}
	return list
}

func TestRequests(t *testing.T) { rapid.Check(t, testRequests) }

func FuzzRequests(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testRequests)) }

// TestBegunLongAgo has a request that is active while very many others are.
func TestBegunLongAgo(t *testing.T) {
	rounds := uint64(1 << 20)
	if !tier.Nightly {
		rounds >>= 6
	}
	long, short := request(0, 0), request(1, 0)
	m := mpiModel(t, 1, func(_ int, r *recording) {
		r.call("MPI_Ibarrier", "comm", world, "request", long)
		for range rounds {
			r.call("MPI_Isend", "count", 1, "datatype", "MPI_INT", "dest", 0, "tag", 1, "comm", world, "request", short)
			r.call("MPI_Wait", "request", short, "status", implied)
		}
		r.call("MPI_Wait", "request", long, "status", implied)
	})
	rank, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if at, cancelled, ok := rank.Begun(int64(long), 2*rounds+1); at != 0 || cancelled || !ok {
		t.Errorf("the last call completes what call %d began: %v, %v", at, cancelled, ok)
	}
	if at, _, ok := rank.Begun(int64(short), rounds); at != rounds-1 || !ok {
		t.Errorf("call %d completes what call %d began: %v", rounds, at, ok)
	}
	if at, _, ok := rank.Begun(int64(short), 2*rounds+1); ok {
		t.Errorf("a request is active after it was completed: of %d", at)
	}
}

// TestCancelledRequests checks that a cancelled request is told from one that was not, after the
// same id was.
func TestCancelledRequests(t *testing.T) {
	id := request(0, 0)
	m := mpiModel(t, 1, func(_ int, r *recording) {
		for i := range 3 {
			r.receive("MPI_Irecv", 1, "MPI_INT", 0, 1, world, "request", id)
			if i == 1 {
				r.call("MPI_Cancel", "request", id)
			}
			r.call("MPI_Wait", "request", id, "status", implied)
		}
	})
	rank, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	for position, want := range map[uint64]bool{1: false, 4: true, 6: false} {
		if at, cancelled, ok := rank.Begun(int64(id), position); !ok || cancelled != want || at >= position {
			t.Errorf("call %d completes what call %d began: cancelled %v, %v", position, at, cancelled, ok)
		}
	}
}

package report

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// TestReceipts starts two receives with one call, and completes them in the other order, twice: each message is
// complete where its own request is.
func TestReceipts(t *testing.T) {
	message := func(name, peer string, rank, tag int, more ...any) testtrace.Call {
		return testtrace.MPICall(name, append([]any{"count", 1, "datatype", "MPI_BYTE", peer, rank, "tag", tag,
			"comm", "MPI_COMM_WORLD"}, more...)...)
	}
	sender := []testtrace.Call{message("MPI_Send", "dest", 1, 1), message("MPI_Send", "dest", 1, 2)}
	receiver := []testtrace.Call{message("MPI_Recv_init", "source", 0, 1, "request", 5),
		message("MPI_Recv_init", "source", 0, 2, "request", 6)}
	for range 2 {
		receiver = append(receiver, testtrace.MPICall("MPI_Startall", "count", 2, "array_of_requests", []any{5, 6}),
			testtrace.MPICall("MPI_Wait", "request", 6), testtrace.MPICall("MPI_Wait", "request", 5))
	}
	tr := testtrace.Record(t, merge.Run{Ranks: 2}, false, [][]testtrace.Call{slices.Concat(sender, sender), receiver})
	model, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	numbering, err := query.OpenNumbering(t.Context(), model, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := make(map[uint64]*arrow)
	for rank := range 2 {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		ends, err := endsOf(t.Context(), numbering, r)
		if err != nil {
			t.Fatal(err)
		}
		addEnds(open, rank, ends)
	}
	done := make(map[uint64]uint64) // by the call that sends
	for _, a := range open {
		done[a.sent] = a.done
	}
	if len(done) != 4 || done[0] != 4 || done[1] != 3 || done[2] != 7 || done[3] != 6 {
		t.Errorf("calls that send, and those that complete the receives: %v", done)
	}
}

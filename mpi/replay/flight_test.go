package replay_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
)

// TestIntercommunicator replays messages and collective operations between two groups.
func TestIntercommunicator(t *testing.T) {
	model := modelOf(t, 4, func(rank int, r *testtrace.Recording) {
		r.MPI(1, "MPI_Comm_split", "comm", world, "color", rank/2, "key", rank, "newcomm", 0)
		r.MPI(1, "MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", world,
			"remote_leader", 2-rank/2*2, "tag", 1, "newintercomm", 1)
		if rank < 2 { // to the same rank of the other group
			r.MPI(1, "MPI_Send", "count", 1, "datatype", "MPI_BYTE", "dest", rank, "tag", 0, "comm", 1)
		} else {
			r.MPI(1, "MPI_Recv", "count", 1, "datatype", "MPI_BYTE", "source", rank-2, "tag", 0, "comm", 1)
		}
		root := any("MPI_PROC_NULL")
		switch {
		case rank == 1:
			root = "MPI_ROOT"
		case rank > 1:
			root = 1
		}
		r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", root, "comm", 1)
		r.MPI(1, "MPI_Barrier", "comm", 1)
	})
	res, err := replay.Run(ctx, model, late{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Messages != 2 || res.Collectives != 5 || res.Unknown+res.Unreceived > 0 {
		t.Errorf("%+v", *res)
	}
}

// TestRecordedTimes checks that ranks compute as long as they did.
func TestRecordedTimes(t *testing.T) {
	for _, times := range []string{"exact", "statistics"} {
		trace := testtrace.Stencil(t, times)
		machine, err := replay.NewRecorded(trace)
		if err != nil {
			t.Fatal(err)
		}
		model := open(t, trace)
		res, err := replay.Run(ctx, model, machine)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range res.Ranks {
			rank, err := trace.Rank(of.Rank)
			if err != nil {
				t.Fatal(err)
			}
			calls, err := model.Of(rank, of.Rank)
			if err != nil {
				t.Fatal(err)
			}
			want, end := int64(0), int64(-1)
			for c := range rank.Calls(0) {
				if end >= 0 {
					want += c.Start - end
				}
				if calls.At(c.Position, c.Terminal) == nil {
					want += c.Duration
				}
				end = c.Start + c.Duration
			}
			if got := int64(of.Computing / replay.Nanosecond); times == "exact" && got != want || got == 0 {
				t.Errorf("%s: rank %d computes %d ns, %d in the run", times, of.Rank, got, want)
			}
		}
		if err := machine.Err(); err != nil {
			t.Error(err)
		}
	}
}

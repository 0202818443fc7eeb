package replay_test

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// modelOf returns the model of a run, of which each rank makes the calls of a program.
func modelOf(t tester, ranks int, program func(rank int, r *testtrace.Recording)) *semantics.Model {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r testtrace.Recording
		if program(rank, &r); r.Len() == 0 { // else it would not be in the trace
			r.MPI(1, "MPI_Finalize")
		}
		parts = append(parts, r.Finish(rank))
	}
	return open(t, testtrace.Write(t, merge.Run{Ranks: ranks}, parts))
}

const world = "MPI_COMM_WORLD"

func send(r *testtrace.Recording, name string, to, tag int, more ...any) {
	r.MPI(1, name, append([]any{"count", 1, "datatype", "MPI_BYTE", "dest", to, "tag", tag, "comm", world}, more...)...)
}

func receive(r *testtrace.Recording, name string, from any, tag int, more ...any) {
	r.MPI(1, name, append([]any{"count", 1, "datatype", "MPI_BYTE", "source", from, "tag", tag, "comm", world}, more...)...)
}

// TestDeadlocks replays programs that cannot go on, and checks who is said to wait for what.
func TestDeadlocks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		ranks   int
		machine replay.Machine
		program func(rank int, r *testtrace.Recording)
		want    string
	}{
		{"HeadToHeadRecv", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			receive(r, "MPI_Recv", 1-rank, 3)
			send(r, "MPI_Send", 1-rank, 3)
		}, "2 calls can never go on: rank 0 in MPI_Recv, its call 0, waits for a message from rank 1, tag 3; rank 1 in MPI_Recv, its call 0, waits for a message from rank 0, tag 3"},
		{"HeadToHeadSend", 2, replay.Instant{Synchronous: true}, func(rank int, r *testtrace.Recording) {
			send(r, "MPI_Send", 1-rank, 3)
			receive(r, "MPI_Recv", 1-rank, 3)
		}, "2 calls can never go on: rank 0 in MPI_Send, its call 0, waits for rank 1 to receive, tag 3; rank 1 in MPI_Send, its call 0, waits for rank 0 to receive, tag 3"},
		{"HeadToHeadBsend", 2, replay.Instant{Synchronous: true}, func(rank int, r *testtrace.Recording) {
			send(r, "MPI_Bsend", 1-rank, 3)
			receive(r, "MPI_Recv", 1-rank, 3)
		}, ""},
		{"Ssend", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				send(r, "MPI_Ssend", 1, 3)
			}
		}, "1 call can never go on: rank 0 in MPI_Ssend, its call 0, waits for rank 1 to receive, tag 3"},
		{"MissingSender", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Barrier", "comm", world)
			if rank == 1 {
				receive(r, "MPI_Recv", 0, 3)
			}
		}, "1 call can never go on: rank 1 in MPI_Recv, its call 1, waits for a message from rank 0, tag 3"},
		{"MismatchedCollectives", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 1 {
				r.MPI(1, "MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", world)
			} else {
				r.MPI(1, "MPI_Barrier", "comm", world)
			}
		}, "3 calls can never go on: rank 0 in MPI_Barrier, its call 0, waits for rank 1 to make the call, in whose place rank 1 made another; " +
			"rank 1 in MPI_Allreduce, its call 0, waits for ranks 0-2:2 to make the call, in whose place ranks 0-2:2 made another; " +
			"rank 2 in MPI_Barrier, its call 0, waits for rank 1 to make the call, in whose place rank 1 made another"},
		{"DifferentRoots", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", world)
			r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", 1-rank, "comm", world)
		}, "2 calls can never go on: rank 0 in MPI_Bcast, its call 1, waits for rank 1 to make the call, in whose place rank 1 made another; " +
			"rank 1 in MPI_Bcast, its call 1, waits for rank 0 to make the call, in whose place rank 0 made another"},
		{"BarrierWithoutOne", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank < 2 {
				r.MPI(1, "MPI_Barrier", "comm", world)
			}
		}, "2 calls can never go on: rank 0 in MPI_Barrier, its call 0, waits for rank 2 to make the call; rank 1 in MPI_Barrier, its call 0, waits for rank 2 to make the call"},
		{"BcastWithoutRoot", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank < 2 {
				r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", 2, "comm", world)
			}
		}, "2 calls can never go on: rank 0 in MPI_Bcast, its call 0, waits for rank 2 to make the call; rank 1 in MPI_Bcast, its call 0, waits for rank 2 to make the call"},
		{"WrongTag", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				send(r, "MPI_Send", 1, 9)
			} else {
				receive(r, "MPI_Recv", 0, 8)
			}
		}, "1 call can never go on: rank 1 in MPI_Recv, its call 0, waits for a message from rank 0, tag 8 (rank 0 sent one with tag 9, which it does not receive)"},
		{"Epochs", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			r.MPI(1, "MPI_Win_get_group", "win", 0, "group", 0)
			r.MPI(1, "MPI_Group_incl", "group", 0, "n", 1, "ranks", []any{1 - rank}, "newgroup", 1)
			if rank == 0 {
				r.MPI(1, "MPI_Win_post", "group", 1, "win", 0)
				r.MPI(1, "MPI_Win_test", "win", 0, "flag", 0)
				r.MPI(1, "MPI_Win_wait", "win", 0)
			} else {
				r.MPI(1, "MPI_Win_start", "group", 0, "win", 0)
				r.MPI(1, "MPI_Win_complete", "win", 0)
			}
		}, "1 call can never go on: rank 1 in MPI_Win_complete, its call 4, waits for rank 1 to call MPI_Win_post"},
		{"WithoutComplete", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			r.MPI(1, "MPI_Win_get_group", "win", 0, "group", 0)
			if rank == 0 {
				r.MPI(1, "MPI_Win_post", "group", 0, "win", 0)
				r.MPI(1, "MPI_Win_wait", "win", 0)
			}
		}, "1 call can never go on: rank 0 in MPI_Win_wait, its call 3, waits for rank 0 to call MPI_Win_complete, and rank 1 to call MPI_Win_complete"},
		{"Lock", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			o := origin{r}
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			switch rank {
			case 0: // does not unlock
				o.lock(exclusive, 2)
				o.flush(2)
			case 1:
				o.lockAll()
				o.put(2)
				o.unlockAll()
			case 2:
				receive(r, "MPI_Recv", 1, 3)
			}
		}, "2 calls can never go on: rank 1 in MPI_Win_unlock_all, its call 3, waits for the lock of rank 2 in window world/0, which rank 0 has; " +
			"rank 2 in MPI_Recv, its call 1, waits for a message from rank 1, tag 3"},
		{"SharedLocks", 4, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			o := origin{r}
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			if rank < 2 {
				o.lock(shared, 2)
				o.flush(2)
			}
			r.MPI(1, "MPI_Barrier", "comm", world)
			switch rank {
			case 2:
				o.lock(exclusive, 2)
			case 3:
				o.lock(exclusive, 2)
				o.rput(2)
				r.MPI(1, "MPI_Wait", "request", 0)
			}
		}, "2 calls can never go on: rank 2 in MPI_Win_lock, its call 2, waits for the lock of rank 2 in window world/0, which ranks 0-1 have; " +
			"rank 3 in MPI_Wait, its call 4, waits for the lock of rank 2 in window world/0, which ranks 0-1 have"},
		{"Waitall", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				receive(r, "MPI_Irecv", 1, 0, "request", 0)
				receive(r, "MPI_Irecv", 2, 0, "request", 1)
				r.MPI(1, "MPI_Waitall", "count", 2, "array_of_requests", []any{0, 1})
			}
		}, "1 call can never go on: rank 0 in MPI_Waitall, its call 2, waits for a message from rank 1, tag 0, and a message from rank 2, tag 0"},
		{"AnySource", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				receive(r, "MPI_Recv", "MPI_ANY_SOURCE", 4)
			}
		}, "1 call can never go on: rank 0 in MPI_Recv, its call 0, waits for a message from any of ranks 1-2, tag 4"},
		{"AnySourceAndOne", 3, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				receive(r, "MPI_Irecv", "MPI_ANY_SOURCE", 0, "request", 0)
				receive(r, "MPI_Irecv", 1, 0, "request", 1)
				r.MPI(1, "MPI_Waitall", "count", 2, "array_of_requests", []any{0, 1})
			}
		}, "1 call can never go on: rank 0 in MPI_Waitall, its call 2, waits for a message from rank 1, tag 0, and a message from any of ranks 1-2, tag 0"},
		{"Probe", 2, replay.Instant{}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				r.MPI(1, "MPI_Probe", "source", 1, "tag", 5, "comm", world, "status", cst.Status{Source: -9, Tag: -9})
			}
		}, "1 call can never go on: rank 0 in MPI_Probe, its call 0, waits for a message from rank 1, tag 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := modelOf(t, tt.ranks, tt.program)
			_, err := replay.Run(ctx, model, tt.machine)
			if tt.want == "" && err == nil {
				return
			}
			isDeadlock(t, err)
			if got := strings.TrimPrefix(err.Error(), "replay: deadlock, "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var last error
			for _, last = range replay.Events(ctx, model, tt.machine) {
			}
			if last == nil || last.Error() != err.Error() {
				t.Errorf("with events: %v", last)
			}
		})
	}
}

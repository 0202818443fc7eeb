package replay_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
)

// across has a rank of four make the calls of a program on an intercommunicator, 1: its groups are ranks 0 and 1, and 2 and 3. The
// calls of the program are those from position 2 on.
func across(program func(rank int, r *testtrace.Recording)) func(rank int, r *testtrace.Recording) {
	return func(rank int, r *testtrace.Recording) {
		r.MPI(1, "MPI_Comm_split", "comm", world, "color", rank/2, "key", rank, "newcomm", 0)
		r.MPI(1, "MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", world, "remote_leader", 2-rank/2*2, "tag", 1, "newintercomm", 1)
		program(rank, r)
	}
}

// rootAcross is the root as a rank names it, if that is one of the run.
func rootAcross(root, rank int) any {
	switch {
	case rank == root:
		return "MPI_ROOT"
	case rank/2 == root/2:
		return "MPI_PROC_NULL"
	}
	return root % 2
}

// onInter makes a call of a collective operation on the intercommunicator.
func onInter(r *testtrace.Recording, name string, more ...any) {
	args := []any{"comm", 1}
	switch strings.TrimPrefix(name, "MPI_") {
	case "Bcast", "Reduce", "Allreduce", "Ibcast", "Ireduce":
		args = append(args, "count", 1, "datatype", "MPI_INT")
	case "Gather", "Scatter", "Allgather", "Alltoall":
		args = append(args, "sendcount", 1, "sendtype", "MPI_INT", "recvcount", 1, "recvtype", "MPI_INT")
	}
	r.MPI(1, name, append(args, more...)...)
}

// TestAcross checks when ranks end that make a call on an intercommunicator at 20, 1, 2 and 9 µs: whom each waits for.
func TestAcross(t *testing.T) {
	machine := at{gaps: map[[2]int]replay.Time{{0, 2}: 20 * replay.Microsecond, {1, 2}: 1 * replay.Microsecond, {2, 2}: 2 * replay.Microsecond, {3, 2}: 9 * replay.Microsecond}}
	rooted := func(name string, root int) func(rank int, r *testtrace.Recording) {
		return func(rank int, r *testtrace.Recording) { onInter(r, name, "root", rootAcross(root, rank)) }
	}
	all := func(name string, more ...any) func(rank int, r *testtrace.Recording) {
		return func(_ int, r *testtrace.Recording) { onInter(r, name, more...) }
	}
	for _, tt := range []struct {
		name    string
		program func(rank int, r *testtrace.Recording)
		want    [4]int // µs
	}{
		{"Bcast", rooted("MPI_Bcast", 3), [4]int{20, 9, 2, 9}},
		{"BcastOfLast", rooted("MPI_Bcast", 0), [4]int{20, 1, 20, 20}},
		{"Scatter", rooted("MPI_Scatter", 1), [4]int{20, 1, 2, 9}},
		{"Reduce", rooted("MPI_Reduce", 1), [4]int{20, 9, 2, 9}}, // not for rank 0, which takes no part
		{"Gather", rooted("MPI_Gather", 2), [4]int{20, 1, 20, 9}},
		{"Barrier", all("MPI_Barrier"), [4]int{20, 9, 20, 20}}, // rank 1 does not wait for rank 0
		{"Allreduce", all("MPI_Allreduce"), [4]int{20, 9, 20, 20}},
		{"Allgather", all("MPI_Allgather"), [4]int{20, 9, 20, 20}},
		{"Alltoall", all("MPI_Alltoall"), [4]int{20, 9, 20, 20}},
		{"Comm_dup", all("MPI_Comm_dup", "newcomm", 2), [4]int{20, 20, 20, 20}},
		{"Ireduce", func(rank int, r *testtrace.Recording) {
			onInter(r, "MPI_Ireduce", "root", rootAcross(1, rank), "request", 0)
			r.MPI(1, "MPI_Wait", "request", 0)
		}, [4]int{20, 9, 2, 9}},
		{"Ibarrier", func(_ int, r *testtrace.Recording) {
			onInter(r, "MPI_Ibarrier", "request", 0)
			r.MPI(1, "MPI_Wait", "request", 0)
		}, [4]int{20, 9, 20, 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := modelOf(t, 4, across(tt.program))
			res, err := replay.RunWith(ctx, model, machine, replay.Options{CriticalPath: true})
			if err != nil || res.Unknown > 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			var got [4]int
			for i, r := range res.Ranks {
				got[i] = int(r.End / replay.Microsecond)
			}
			if got != tt.want {
				t.Errorf("ranks end at %v, want %v", got, tt.want)
			}
			computing := replay.Time(0)
			for _, r := range res.Path.Ranks {
				computing += r.Computing
			}
			if computing != 20*replay.Microsecond {
				t.Errorf("%v of the critical path is computing", computing)
			}
			for event, err := range replay.Events(ctx, model, machine) {
				if rank := event.Call.Rank.Number(); err != nil || event.At > res.Ranks[rank].End {
					t.Errorf("rank %d at %v, %v", rank, event.At, err)
				}
			}
		})
	}
}

// TestAcrossDeadlock checks who is said to wait for whom on an intercommunicator.
func TestAcrossDeadlock(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(rank int, r *testtrace.Recording)
		want    []string
	}{
		{"BcastWithoutRoot", func(rank int, r *testtrace.Recording) {
			if rank != 1 {
				onInter(r, "MPI_Bcast", "root", rootAcross(1, rank))
			}
		}, []string{"2: rank 1 to make the call", "3: rank 1 to make the call"}},
		{"ReduceWithoutOne", func(rank int, r *testtrace.Recording) {
			if rank != 3 {
				onInter(r, "MPI_Reduce", "root", rootAcross(1, rank))
			}
		}, []string{"1: rank 3 to make the call"}},
		{"ReduceWithoutIdle", func(rank int, r *testtrace.Recording) {
			if rank != 0 {
				onInter(r, "MPI_Reduce", "root", rootAcross(1, rank))
			}
		}, nil},
		{"BarrierWithoutOne", func(rank int, r *testtrace.Recording) {
			if rank != 3 {
				onInter(r, "MPI_Barrier")
			}
		}, []string{"0: rank 3 to make the call", "1: rank 3 to make the call"}},
		{"TwoRoots", func(rank int, r *testtrace.Recording) { // rank 2 means the other one
			root := rootAcross(1, rank)
			if rank == 2 {
				root = 0
			}
			onInter(r, "MPI_Bcast", "root", root)
			onInter(r, "MPI_Barrier")
		}, []string{
			"0: ranks 2-3 to make the call", "1: ranks 2-3 to make the call",
			"2: ranks 1-3:2 to make the call, in whose place ranks 1-3:2 made another", "3: rank 2 to make the call, in whose place rank 2 made another",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := replay.Run(ctx, modelOf(t, 4, across(tt.program)), replay.Instant{})
			if tt.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var got []string
			for _, w := range isDeadlock(t, err).Waiting {
				for _, wait := range w.Waits {
					if got = append(got, string(rune('0'+w.Call.Rank.Number()))+": "+strings.ReplaceAll(wait.String(), ", on "+wait.Communicator.Name, "")); wait.Communicator.Size() != 4 {
						t.Errorf("on %s", wait.Communicator.Name)
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("waits for %q, want %q", got, tt.want)
			}
		})
	}
}

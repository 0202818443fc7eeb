package semantics_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// A step is a call, or a loop of steps.
type step struct {
	function  int
	id, other int
	n         int
	rounds    int
	body      []step
}

func stepsGen(depth int) *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		var list []step
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			s := step{
				function: rapid.IntRange(0, 15).Draw(t, "function"), n: rapid.IntRange(0, 2).Draw(t, "n"),
				id: rapid.IntRange(0, 1).Draw(t, "id"), other: rapid.IntRange(-1, 1).Draw(t, "other"),
			}
			if s.function >= 12 && depth > 0 {
				s.rounds = rapid.SampledFrom([]int{2, 6, 7, 20}).Draw(t, "rounds")
				s.body = stepsGen(depth-1).Draw(t, "body")
			}
			list = append(list, s)
		}
		return list
	})
}

// take makes the calls of steps, which need not make sense.
func (r *recording) take(rank int, list []step) {
	for i := range list {
		s := &list[i]
		var comm, datatype any = s.other, s.other
		if s.other < 0 {
			comm, datatype = "MPI_COMM_WORLD", "MPI_INT"
		}
		switch s.function {
		case 0, 1:
			r.call("MPI_Comm_dup", "comm", comm, "newcomm", s.id)
		case 2:
			r.call("MPI_Comm_split", "comm", comm, "color", rank%2, "key", 0, "newcomm", s.id)
		case 3:
			r.call("MPI_Comm_free", "comm", s.id)
		case 4:
			r.call("MPI_Type_contiguous", "count", s.n+1, "oldtype", datatype, "newtype", s.id)
		case 5:
			r.call("MPI_Send", "count", 1, "datatype", datatype, "dest", 0, "tag", s.n, "comm", s.id)
		case 6:
			r.call("MPI_Irecv", "count", 1, "datatype", datatype, "source", "MPI_ANY_SOURCE", "tag", s.n,
				"comm", s.id, "request", s.n)
		case 7:
			r.call("MPI_Wait", "request", s.n, "status", cst.Status{Source: int64(s.id), Tag: int64(s.n)})
		case 8:
			r.call("MPI_Send_init", "count", 1, "datatype", datatype, "dest", 0, "tag", s.n, "comm", s.id,
				"request", s.n)
		case 9:
			r.call("MPI_Start", "request", s.n)
		case 10:
			r.call("MPI_Bcast", "count", 1, "datatype", datatype, "root", 0, "comm", s.id)
		case 11:
			r.call("MPI_Win_create", "comm", s.id, "win", s.n)
		default:
			for range s.rounds {
				r.take(rank, s.body)
			}
		}
	}
}

// testLoops checks that operations are one by one what they are together, where ids mean
// something else from one round of a loop to the next.
func testLoops(t *rapid.T) {
	steps := stepsGen(2).Draw(t, "steps")
	ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
	m := mpiModel(t, ranks, func(rank int, r *recording) {
		r.take(rank, steps)
		r.call("MPI_Barrier", "comm", "MPI_COMM_WORLD")
	})
	for rank := range ranks {
		each(t, m, rank, func(uint64, trace.Call, *semantics.Operation) {})
	}
}

func TestLoops(t *testing.T) { rapid.Check(t, testLoops) }

func FuzzLoops(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testLoops)) }

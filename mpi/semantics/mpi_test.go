package semantics_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A recording records calls of MPI as package collect does.
type recording struct{ testtrace.Recording }

// call records a call, as [testtrace.Recording.MPI] does.
func (r *recording) call(name string, pairs ...any) { r.MPI(1, name, pairs...) }

// calls records as many calls that are the same.
func (r *recording) calls(count int, name string, pairs ...any) { r.MPI(count, name, pairs...) }

const world = "MPI_COMM_WORLD"

// implied is the status of a receive from whom it asked for.
var implied = cst.Status{Source: -9, Tag: -9}

func from(source, tag int64) cst.Status { return cst.Status{Source: source, Tag: tag} }

// mpiModel returns the model of a run of MPI.
func mpiModel(t tester, ranks int, program func(rank int, r *recording)) *semantics.Model {
	t.Helper()
	return modelOf(t, mpiTrace(t, ranks, program))
}

// mpiTrace returns the trace of a run of MPI.
func mpiTrace(t tester, ranks int, program func(rank int, r *recording)) *trace.Trace {
	t.Helper()
	return namedTrace(t, ranks, nil, program)
}

// namedTrace returns the trace of a run of MPI with names.
func namedTrace(t tester, ranks int, names []format.Name, program func(rank int, r *recording)) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r recording
		program(rank, &r)
		parts = append(parts, r.Finish(rank))
	}
	return written(t, merge.Run{Ranks: ranks, Names: names}, parts)
}

func (r *recording) send(name string, count int, datatype any, dest any, tag int, comm any, more ...any) {
	r.call(name, append([]any{"count", count, "datatype", datatype, "dest", dest, "tag", tag, "comm", comm},
		more...)...)
}

func (r *recording) receive(name string, count int, datatype any, source any, tag any, comm any, more ...any) {
	r.call(name, append([]any{"count", count, "datatype", datatype, "source", source, "tag", tag, "comm",
		comm}, more...)...)
}

func TestMPIPointToPoint(t *testing.T) {
	m := mpiModel(t, 4, func(rank int, r *recording) {
		r.call("MPI_Comm_size", "comm", world, "size", 4)
		if rank > 0 {
			return
		}
		r.send("MPI_Send", 3, "MPI_DOUBLE", 1, 7, world)
		r.send("MPI_Issend", 3, "MPI_INT", 2, 7, world, "request", 0)
		r.send("MPI_Send_c", 3, "MPI_BYTE", "MPI_PROC_NULL", 7, world)
		r.send("MPI_Bsend", 3, "MPI_BYTE", 0, 7, "MPI_COMM_SELF")
		r.send("MPI_Send", 3, 5, 9, 7, world)
		r.send("MPI_Send", 0, 5, 3, 7, 8)
		r.receive("MPI_Recv", 3, "MPI_FLOAT", 1, 7, world, "status", implied)
		r.receive("MPI_Recv", 3, "MPI_FLOAT", "MPI_ANY_SOURCE", "MPI_ANY_TAG", world, "status", from(3, 12))
		r.receive("MPI_Recv", 3, "MPI_FLOAT", "MPI_ANY_SOURCE", 4, world, "status", "ignored")
		r.call("MPI_Sendrecv", "sendcount", 2, "sendtype", "MPI_CHAR", "dest", 1, "sendtag", 5, "recvcount",
			1, "recvtype", "MPI_LONG",
			"source", "MPI_ANY_SOURCE", "recvtag", 6, "comm", world, "status", from(2, -9))
		r.call("MPI_Sendrecv_replace", "count", 2, "datatype", "MPI_SHORT", "dest", "MPI_PROC_NULL",
			"sendtag", 5, "source", 1, "recvtag", 6, "comm", world)
		r.call("MPI_Send", "count", 1, "datatype", "MPI_CHAR", "dest", 1, "tag", 1, "comm", world, "error", 6)
		r.call("MPI_Mprobe", "source", "MPI_ANY_SOURCE", "tag", 4, "comm", world, "message", 0, "status", from(1, 4))
		r.call("MPI_Mrecv", "count", 1, "datatype", "MPI_CHAR", "message", 0, "status", from(1, 4))
		r.call("MPI_Wait", "request", 0)
	})
	compare(t, m, 0,
		"MPI_Comm_size: nothing",
		"MPI_Send: point-to-point on world; send 1 tag 7: 3 elements, 24 bytes, blocking",
		"MPI_Issend: point-to-point on world; send 2 tag 7: 3 elements, 12 bytes, synchronous",
		"MPI_Send_c: point-to-point on world",
		"MPI_Bsend: point-to-point on self0; send 0 tag 7: 3 elements, 3 bytes, blocking, buffered",
		"MPI_Send: point-to-point on world; send -2 tag 7: 3 elements, -1 bytes, blocking",
		"MPI_Send: point-to-point; send -2 tag 7: 0 elements, 0 bytes, blocking",
		"MPI_Recv: point-to-point on world; receive 1 tag 7: 3 elements, 12 bytes, blocking",
		"MPI_Recv: point-to-point on world; receive 3 tag 12: 3 elements, 12 bytes, blocking",
		"MPI_Recv: point-to-point on world; receive -1 tag 4: 3 elements, 12 bytes, blocking",
		"MPI_Sendrecv: point-to-point on world; send 1 tag 5: 2 elements, 2 bytes, blocking; receive 2 tag 6: 1 elements, 8 bytes, blocking",
		"MPI_Sendrecv_replace: point-to-point on world; receive 1 tag 6: 2 elements, 4 bytes, blocking",
		"MPI_Send: nothing",
		"MPI_Mprobe: probe on world",
		"MPI_Mrecv: point-to-point on world; receive 1 tag 4: 1 elements, 1 bytes, blocking",
		"MPI_Wait: completion",
	)
}

// An id is that of one communicator, then of another, and a window in between.
func TestIdsUsedAgain(t *testing.T) {
	m := mpiModel(t, 4, func(rank int, r *recording) {
		r.send("MPI_Send", 1, "MPI_INT", 0, 1, 0)
		r.call("MPI_Comm_split", "comm", world, "color", rank%2, "key", -rank, "newcomm", 0)
		r.send("MPI_Send", 1, "MPI_INT", 0, 1, 0)
		r.send("MPI_Send", 1, "MPI_INT", 0, 1, 0)
		r.call("MPI_Win_create", "comm", 0, "win", 0)
		r.call("MPI_Put", "origin_count", 2, "origin_datatype", "MPI_INT", "target_rank", 1, "win", 0)
		r.call("MPI_Fetch_and_op", "datatype", "MPI_DOUBLE", "target_rank", 1, "op", "MPI_NO_OP", "win", 0)
		r.call("MPI_Get_accumulate", "origin_count", 2, "origin_datatype", "MPI_INT", "result_count", 3,
			"result_datatype", "MPI_INT", "target_rank", 1, "op", "MPI_SUM", "win", 0)
		r.call("MPI_Win_fence", "win", 0)
		r.call("MPI_Comm_free", "comm", 0)
		r.send("MPI_Send", 1, "MPI_INT", 0, 1, 0)
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		r.send("MPI_Send", 1, "MPI_INT", 0, 1, 0)
		r.call("MPI_Bcast", "count", 2, "datatype", "MPI_INT", "root", 1, "comm", 0)
	})
	compare(t, m, 3,
		"MPI_Send: point-to-point; send -2 tag 1: 1 elements, 4 bytes, blocking",
		"MPI_Comm_split: collective on world",
		"MPI_Send: point-to-point on world/0:1; send 3 tag 1: 1 elements, 4 bytes, blocking",
		"MPI_Send: point-to-point on world/0:1; send 3 tag 1: 1 elements, 4 bytes, blocking",
		"MPI_Win_create: collective on world/0:1",
		"MPI_Put: one-sided on world/0:1/0; put 1 tag 0: 2 elements, 8 bytes",
		"MPI_Fetch_and_op: one-sided on world/0:1/0; get 1 tag 0: 1 elements, 8 bytes",
		"MPI_Get_accumulate: one-sided on world/0:1/0; fetch 1 tag 0: 2 elements, 8 bytes",
		"MPI_Win_fence: collective on world/0:1/0",
		"MPI_Comm_free: collective on world/0:1",
		"MPI_Send: point-to-point; send -2 tag 1: 1 elements, 4 bytes, blocking",
		"MPI_Comm_dup: collective on world",
		"MPI_Send: point-to-point on world/1; send 0 tag 1: 1 elements, 4 bytes, blocking",
		"MPI_Bcast: collective on world/1 root 1 0→8",
	)
	var of [2]*semantics.Communicator
	for i, rank := range []int{1, 3} {
		each(t, m, rank, func(position uint64, _ trace.Call, o *semantics.Operation) {
			if position == 2 {
				of[i] = o.Communicator
			}
		})
	}
	local, remote := of[0].Groups(3)
	if outside, _ := of[0].Groups(0); !slices.Equal(local, []int{3, 1}) || remote != nil || outside != nil {
		t.Errorf("groups: %v and %v, and %v", local, remote, outside)
	}
	if of[0] != of[1] || of[0].Size() != 2 || of[0].IsInter() || of[0].Member(0) != 3 {
		t.Errorf("members of one communicator have %v and %v", of[0], of[1])
	}
}

func TestIntercommunicator(t *testing.T) {
	m := mpiModel(t, 4, func(rank int, r *recording) {
		r.call("MPI_Comm_split", "comm", world, "color", rank/2, "key", 0, "newcomm", 0)
		r.call("MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", world,
			"remote_leader", 2-rank/2*2, "tag", 1, "newintercomm", 1)
		r.send("MPI_Send", 1, "MPI_INT", 1, 1, 1)
		r.receive("MPI_Irecv", 1, "MPI_INT", "MPI_ANY_SOURCE", 1, 1, "request", 0)
		r.call("MPI_Wait", "request", 0, "status", from(1, -9))
		root := any("MPI_PROC_NULL")
		switch {
		case rank/2 == 1:
			root = 1
		case rank == 1:
			root = "MPI_ROOT"
		}
		r.call("MPI_Bcast", "count", 2, "datatype", "MPI_INT", "root", root, "comm", 1)
		r.call("MPI_Gather", "sendcount", 2, "sendtype", "MPI_INT", "recvcount", 2, "recvtype", "MPI_INT",
			"root", root, "comm", 1)
	})
	want := func(peer int, bcast, gather string) []string {
		p := string(rune('0' + peer))
		return []string{
			"MPI_Comm_split: collective on world", "",
			"MPI_Send: point-to-point on world/1; send " + p + " tag 1: 1 elements, 4 bytes, blocking",
			"MPI_Irecv: point-to-point on world/1; receive " + p + " tag 1: 1 elements, 4 bytes",
			"MPI_Wait: completion",
			"MPI_Bcast: collective on world/1" + bcast, "MPI_Gather: collective on world/1" + gather,
		}
	}
	for rank, w := range [][]string{want(3, "", ""), want(3, " root 1 8→0", " root 1 0→16"),
		want(1, " root 1 0→8", " root 1 8→0"), want(1, " root 1 0→8", " root 1 8→0")} {
		got := lines(t, m, rank)
		w[1] = got[1]
		name := ""
		each(t, m, rank, func(_ uint64, c trace.Call, o *semantics.Operation) {
			if c.Function.Name == "MPI_Send" {
				name = o.Communicator.Name
				local, remote := o.Communicator.Groups(rank)
				if own := rank / 2 * 2; !slices.Equal(local, []int{own, own + 1}) ||
					!slices.Equal(remote, []int{2 - own, 3 - own}) {
					t.Errorf("groups of rank %d: %v and %v", rank, local, remote)
				}
				if ranks := o.Communicator.RankSet(); ranks.String() != "0-3" {
					t.Errorf("members of both groups: %v", ranks)
				}
			}
		})
		for i := range w {
			w[i] = replaced(w[i], "world/1", name)
		}
		compare(t, m, rank, w...)
	}
}

func TestDatatypes(t *testing.T) {
	send := func(r *recording, datatype any) { r.send("MPI_Send", 2, datatype, 0, 1, world) }
	m := mpiModel(t, 1, func(_ int, r *recording) {
		r.call("MPI_Type_contiguous", "count", 3, "oldtype", "MPI_INT", "newtype", 0)
		r.call("MPI_Type_vector", "count", 2, "blocklength", 5, "stride", 9, "oldtype", 0, "newtype", 1)
		r.call("MPI_Type_create_struct", "count", 2, "array_of_blocklengths", []any{1, 4},
			"array_of_displacements", []any{0, 64},
			"array_of_types", []any{1, "MPI_DOUBLE"}, "newtype", 2)
		r.call("MPI_Type_create_resized", "oldtype", 2, "lb", 0, "extent", 1000, "newtype", 3)
		r.call("MPI_Type_create_subarray", "ndims", 2, "array_of_sizes", []any{9, 9}, "array_of_subsizes",
			[]any{2, 3}, "oldtype", "MPI_BYTE", "newtype", 4)
		r.call("MPI_Type_indexed", "count", 2, "array_of_blocklengths", []any{2, 3}, "array_of_displacements",
			[]any{0, 9}, "oldtype", "MPI_SHORT", "newtype", 5)
		r.call("MPI_Type_create_f90_real", "p", 9, "r", 9, "newtype", 6)
		darray := func(id, rank int, dargs []any) {
			r.call("MPI_Type_create_darray", "size", 6, "rank", rank, "ndims", 2, "array_of_gsizes",
				[]any{10, 7}, "array_of_distribs", []any{0, 1},
				"array_of_dargs", dargs, "array_of_psizes", []any{2, 3}, "order", 56, "oldtype", "MPI_SHORT",
				"newtype", id)
		}
		darray(7, 5, []any{-1, 2})  // 5 × 2
		darray(8, 0, []any{4, 2})   // 6 × 3
		darray(9, 0, []any{4, -1})  // 6 × 3, in blocks of 1 or 3
		darray(10, 1, []any{4, -1}) // 6 × 2 or 6 × 3
		r.call("MPI_Type_create_f90_integer", "r", 9, "newtype", 11)
		r.call("MPI_Type_size", "datatype", 11, "size", 4)
		r.call("MPI_Type_create_f90_integer", "r", 8, "newtype", 12)
		r.call("MPI_Type_size", "datatype", 12, "size", 4)
		r.call("MPI_Type_size", "datatype", 12, "size", 8)
		for id := range 14 {
			send(r, id)
		}
	})
	var got []int64
	each(t, m, 0, func(_ uint64, c trace.Call, o *semantics.Operation) {
		if o != nil {
			got = append(got, o.Messages[0].Bytes)
		}
	})
	if want := []int64{24, 240, 304, 304, 12, 20, -1, 40, 72, 72, -1, 8, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("sizes = %v, want %v", got, want)
	}

	m = mpiModel(t, 1, func(_ int, r *recording) {
		for range 3 {
			send(r, 0)
			for _, n := range []int{1, 2, 2} {
				r.call("MPI_Type_contiguous", "count", n, "oldtype", "MPI_INT", "newtype", 0)
				r.call("MPI_Type_dup", "oldtype", 0, "newtype", 1)
				r.call("MPI_Type_contiguous", "count", 10, "oldtype", 1, "newtype", 0)
				send(r, 0)
				send(r, 1)
			}
		}
	})
	got = got[:0]
	each(t, m, 0, func(_ uint64, c trace.Call, o *semantics.Operation) {
		if o != nil {
			got = append(got, o.Messages[0].Bytes)
		}
	})
	round := []int64{80, 8, 160, 16, 160, 16}
	want := slices.Concat([]int64{-1}, round, []int64{160}, round, []int64{160}, round)
	if !slices.Equal(got, want) {
		t.Errorf("sizes = %v, want %v", got, want)
	}
}

func request(pool, index int64) int { return int(requestid.Join(pool, index)) }

func TestPersistentRequests(t *testing.T) {
	a, b, c := request(0, 0), request(1, 0), request(2, 0)
	m := mpiModel(t, 2, func(rank int, r *recording) {
		for range 2 {
			r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
			r.send("MPI_Send_init", 3, "MPI_INT", 1, 7, 0, "request", a)
			r.receive("MPI_Recv_init", 3, "MPI_INT", "MPI_ANY_SOURCE", 7, world, "request", b)
			r.call("MPI_Bcast_init", "count", 1, "datatype", "MPI_INT", "root", 0, "comm", world, "request", c)
			r.call("MPI_Startall", "count", 3, "array_of_requests", []any{c, a, b})
			r.call("MPI_Waitall", "count", 3, "array_of_requests", []any{c, a, b}, "array_of_statuses",
				[]any{implied, implied, from(1, -9)})
			r.call("MPI_Start", "request", b)
			r.call("MPI_Wait", "request", b, "status", from(0, -9))
			r.call("MPI_Start", "request", a)
			r.call("MPI_Wait", "request", a)
			for _, id := range []int{a, b, c} {
				r.call("MPI_Request_free", "request", id)
			}
			r.call("MPI_Comm_free", "comm", 0)
		}
		r.call("MPI_Start", "request", request(9, 0))
	})
	round := func(comm string) []string {
		return []string{
			"MPI_Comm_dup: collective on world", "MPI_Send_init: nothing", "MPI_Recv_init: nothing",
			"MPI_Bcast_init: nothing",
			"MPI_Startall: collective on world, persistent MPI_Bcast of 0 root 0 4→0; send 1 tag 7: 3 elements, 12 bytes on " + comm + "; receive 1 tag 7: 3 elements, 12 bytes on world",
			"MPI_Waitall: completion",
			"MPI_Start: point-to-point on world; receive 0 tag 7: 3 elements, 12 bytes", "MPI_Wait: completion",
			"MPI_Start: point-to-point on " + comm + "; send 1 tag 7: 3 elements, 12 bytes", "MPI_Wait: completion",
			"MPI_Request_free: completion", "MPI_Request_free: completion", "MPI_Request_free: completion",
			"MPI_Comm_free: collective on " + comm,
		}
	}
	compare(t, m, 0, append(append(round("world/0"), round("world/1")...), "MPI_Start: point-to-point")...)

	r, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	const startall = 4
	for position, terminal := range r.Find(startall, func(sequitur.Symbol) bool { return true }) {
		o := r.At(position, terminal)
		for i, want := range []int{a, b} { // the one of c is no message
			if id, ok := o.Request(i); !ok || id != int64(want) {
				t.Errorf("message %d has request %d, want %d", i, id, want)
			}
		}
		if _, ok := o.Request(2); ok {
			t.Error("what is no message has a request")
		}
		break
	}
}

func TestWildcards(t *testing.T) {
	a, b := request(0, 0), request(1, 0)
	m := mpiModel(t, 4, func(rank int, r *recording) {
		if rank > 0 {
			return
		}
		post := func() { r.receive("MPI_Irecv", 3, "MPI_INT", "MPI_ANY_SOURCE", "MPI_ANY_TAG", world, "request", a) }
		post()
		r.call("MPI_Test", "request", a, "flag", 0)
		r.call("MPI_Test", "request", a, "flag", 1, "status", from(1, 5))
		post()
		r.receive("MPI_Irecv", 1, "MPI_INT", "MPI_ANY_SOURCE", 8, world, "request", b)
		r.call("MPI_Waitany", "count", 2, "array_of_requests", []any{b, a}, "index", 1, "status", from(2, 6))
		r.call("MPI_Waitsome", "incount", 2, "array_of_requests", []any{b, "MPI_REQUEST_NULL"}, "outcount", 1,
			"array_of_indices", []any{0}, "array_of_statuses", []any{from(3, -9)})
		post()
		r.call("MPI_Cancel", "request", a)
		r.call("MPI_Wait", "request", a, "status", "ignored")
		post()
		r.call("MPI_Waitall", "count", 1, "array_of_requests", []any{a}, "array_of_statuses", []any{from(1, 5)})
		post()
	})
	receive := func(o string) string { return "MPI_Irecv: point-to-point on world; receive " + o }
	compare(t, m, 0,
		receive("1 tag 5: 3 elements, 12 bytes"), "MPI_Test: completion", "MPI_Test: completion",
		receive("2 tag 6: 3 elements, 12 bytes"), receive("3 tag 8: 1 elements, 4 bytes"),
		"MPI_Waitany: completion", "MPI_Waitsome: completion",
		receive("-1 tag -1: 3 elements, 12 bytes, cancelled"), "MPI_Cancel: completion", "MPI_Wait: completion",
		receive("1 tag 5: 3 elements, 12 bytes"), "MPI_Waitall: completion",
		receive("-1 tag -1: 3 elements, 12 bytes"),
	)
}

// Receives from a named source are known to be cancelled: with a request that always is
// without going through the calls, of which there are more than would be gone through.
func TestCancelledNamed(t *testing.T) {
	always, once := request(0, 0), request(1, 0)
	m := mpiModel(t, 1, func(_ int, r *recording) {
		receive := func(id any) { r.receive("MPI_Irecv", 1, "MPI_INT", 0, 8, world, "request", id) }
		receive(always)
		r.call("MPI_Cancel", "request", always)
		r.call("MPI_Wait", "request", always, "status", from(-9, 0))
		receive(once)
		r.call("MPI_Cancel", "request", once)
		r.call("MPI_Wait", "request", once, "status", from(-9, 1))
		receive(once)
		r.call("MPI_Wait", "request", once, "status", implied)
	})
	const received = "MPI_Irecv: point-to-point on world; receive 0 tag 8: 1 elements, 4 bytes"
	compare(t, m, 0, received+", cancelled", "MPI_Cancel: completion", "MPI_Wait: completion",
		received+", cancelled", "MPI_Cancel: completion", "MPI_Wait: completion", received, "MPI_Wait: completion")

	m = mpiModel(t, 1, func(_ int, r *recording) {
		for range 2 {
			r.receive("MPI_Irecv", 1, "MPI_INT", 0, 8, world, "request", always)
			r.call("MPI_Cancel", "request", always)
			r.call("MPI_Wait", "request", always, "status", from(-9, 0))
		}
		r.calls(1<<24, "MPI_Test", "request", always, "flag", 1, "status", implied)
	})
	r, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if o := r.At(0, 0); len(o.Messages) != 1 || !o.Messages[0].Cancelled {
		t.Errorf("%+v", o)
	}
}

// A message that a probe found comes from where the probe says.
func TestProbedMessages(t *testing.T) {
	const named, told, onTwo, completed = 0, 1, 2, 3
	a := request(0, 0)
	probe := func(r *recording, message int, source, tag, comm, status any) {
		r.call("MPI_Mprobe", "source", source, "tag", tag, "comm", comm, "message", message, "status", status)
	}
	receive := func(r *recording, message int, status any) {
		r.call("MPI_Mrecv", "count", 1, "datatype", "MPI_CHAR", "message", message, "status", status)
	}
	program := func(rank int, r *recording) {
		r.call("MPI_Comm_split", "comm", world, "color", 0, "key", -rank, "newcomm", 0)
		probe(r, named, 1, 9, world, "ignored")
		receive(r, named, "ignored")
		for _, source := range []int64{1, 2, 1} {
			probe(r, told, "MPI_ANY_SOURCE", 7, world, from(source, -9))
			receive(r, told, "ignored")
		}
		probe(r, told, "MPI_ANY_SOURCE", "MPI_ANY_TAG", world, "ignored")
		receive(r, told, "ignored")
		for _, comm := range []any{world, 0} {
			probe(r, onTwo, "MPI_ANY_SOURCE", "MPI_ANY_TAG", comm, "ignored")
			receive(r, onTwo, from(2, 4))
			probe(r, onTwo, 0, "MPI_ANY_TAG", comm, from(-9, 3))
			receive(r, onTwo, "ignored")
		}
		for _, tag := range []int{5, 6} {
			probe(r, completed, "MPI_ANY_SOURCE", tag, world, "ignored")
			r.call("MPI_Imrecv", "count", 1, "datatype", "MPI_CHAR", "message", completed, "request", a)
			r.call("MPI_Wait", "request", a, "status", from(int64(tag-5), -9))
		}
	}
	var got []string
	for _, line := range lines(t, mpiModel(t, 3, program), 0) {
		if strings.Contains(line, "recv: point-to-point") {
			o, _, _ := strings.Cut(line, ": 1 elements")
			_, o, _ = strings.Cut(o, " on ")
			got = append(got, o)
		}
	}
	want := []string{
		"world; receive 1 tag 9", "world; receive 1 tag 7", "world; receive 2 tag 7",
		"world; receive 1 tag 7", "world; receive -1 tag -1",
		"world; receive 2 tag 4", "world; receive 0 tag 3", "world/0:0; receive 0 tag 4", "world/0:0; receive 2 tag 3",
		"world; receive 0 tag 5", "world; receive 1 tag 6",
	}
	if !slices.Equal(got, want) {
		t.Errorf("received:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	m := mpiModel(t, 3, func(rank int, r *recording) {
		program(rank, r)
		r.calls(1<<24, "MPI_Mrecv", "count", 1, "datatype", "MPI_CHAR", "message", told, "status", "ignored")
	})
	r, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	const first, varied = 2, 4
	for position, want := range map[uint64]int{first: 1, varied: semantics.AnySource} {
		if o := r.At(position, r.Walk(position).Next().Symbol); len(o.Messages) != 1 || o.Messages[0].Peer != want {
			t.Errorf("of too many calls, the one at %d: %s", position, text(o))
		}
	}
}

// A call that failed because a message was too long received it, and sent what it sends.
func TestTruncatedMessages(t *testing.T) {
	const truncate, pending = 14, 18
	a, b, c := request(0, 0), request(1, 0), request(2, 0)
	program := func(_ int, r *recording) {
		for _, class := range []int{truncate, truncate + 1} {
			r.receive("MPI_Recv", 1, "MPI_INT", 1, 7, world, "error", class)
			r.call("MPI_Sendrecv", "sendcount", 2, "sendtype", "MPI_CHAR", "dest", 1, "sendtag", 5,
				"recvcount", 1, "recvtype", "MPI_CHAR",
				"source", 2, "recvtag", 6, "comm", world, "error", class)
		}
		r.call("MPI_Send", "count", 1, "datatype", "MPI_CHAR", "dest", 1, "tag", 1, "comm", world, "error", truncate)
		for _, id := range []int{a, b, c} {
			r.receive("MPI_Irecv", 1, "MPI_CHAR", "MPI_ANY_SOURCE", 7, world, "request", id)
		}
		failed := func(class int64) cst.Status { return cst.Status{Source: -9, Tag: -9, Error: class} }
		r.call("MPI_Waitall", "count", 3, "array_of_requests", []any{a, b, c},
			"array_of_statuses", []any{from(2, -9), failed(truncate), failed(pending)}, "error", 17)
		r.call("MPI_Wait", "request", c, "status", from(1, -9))
	}
	const (
		received = "MPI_Recv: point-to-point on world; receive 1 tag 7: 1 elements, 4 bytes, blocking"
		both     = "MPI_Sendrecv: point-to-point on world; send 1 tag 5: 2 elements, 2 bytes, blocking; receive 2 tag 6: 1 elements, 1 bytes, blocking"
		begun    = "MPI_Irecv: point-to-point on world; receive %s tag 7: 1 elements, 1 bytes"
	)
	rest := func(last string) []string {
		return []string{"MPI_Recv: nothing", "MPI_Sendrecv: nothing", "MPI_Send: nothing", replaced(begun, "%s", "2"),
			replaced(begun, "%s", "-1"), replaced(begun, "%s", last), "MPI_Waitall: completion", "MPI_Wait: completion"}
	}
	named := namedTrace(t, 3, []format.Name{
		{Kind: cst.KindHandle, Class: "error", Value: truncate, Name: "MPI_ERR_TRUNCATE"},
		{Kind: cst.KindHandle, Class: "error", Value: pending, Name: "MPI_ERR_PENDING"},
	}, program)
	// The last receive is pending after the error, if it is known that the error says so.
	compare(t, modelOf(t, named), 0, append([]string{received, both}, rest("1")...)...)
	compare(t, mpiModel(t, 3, program), 0, append([]string{"MPI_Recv: nothing", "MPI_Sendrecv: nothing"},
		rest("-1")...)...)
}

// A call that completes any of several requests and failed as its message was too long says which one, and
// where that came from.
func TestTruncatedAny(t *testing.T) {
	const truncate = 14
	a, b := request(0, 0), request(1, 0)
	m := namedTrace(t, 3,
		[]format.Name{{Kind: cst.KindHandle, Class: "error", Value: truncate, Name: "MPI_ERR_TRUNCATE"}},
		func(_ int, r *recording) {
			for _, id := range []int{a, b} {
				r.receive("MPI_Irecv", 1, "MPI_CHAR", "MPI_ANY_SOURCE", 7, world, "request", id)
			}
			r.call("MPI_Waitany", "count", 2, "array_of_requests", []any{a, b}, "index", 1, "status", from(2, -9),
				"error", truncate)
			r.call("MPI_Test", "request", a, "flag", 1, "status", from(1, -9), "error", truncate)
		})
	compare(t, modelOf(t, m), 0, "MPI_Irecv: point-to-point on world; receive 1 tag 7: 1 elements, 1 bytes",
		"MPI_Irecv: point-to-point on world; receive 2 tag 7: 1 elements, 1 bytes", "MPI_Waitany: completion",
		"MPI_Test: completion")
}

// MPI_Waitsome says which it completed, also if one failed and nobody asked for statuses.
func TestTruncatedSome(t *testing.T) {
	a, b := request(0, 0), request(1, 0)
	m := mpiModel(t, 3, func(_ int, r *recording) {
		for _, id := range []int{a, b} {
			r.receive("MPI_Irecv", 1, "MPI_CHAR", 1, 7, world, "request", id)
		}
		r.call("MPI_Waitsome", "incount", 2, "array_of_requests", []any{a, b}, "outcount", 1,
			"array_of_indices", []any{1}, "error", 17)
	})
	r, err := m.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if o := r.At(2, r.Walk(2).Next().Symbol); o == nil || len(o.Completes) != 1 || o.Completes[0] != int64(b) {
		t.Errorf("completed is %v, want %d", o, b)
	}
}

// The first rank of MPI_Exscan gets nothing. MPI_Reduce_scatter_block gives a block for each process of the
// caller's own group, on an intercommunicator of two groups of different sizes as well.
func TestOwnGroup(t *testing.T) {
	m := mpiModel(t, 3, func(rank int, r *recording) {
		r.call("MPI_Exscan", "count", 1, "datatype", "MPI_INT", "comm", world)
		r.call("MPI_Comm_split", "comm", world, "color", rank/2, "key", 0, "newcomm", 0)
		r.call("MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", world,
			"remote_leader", 2-rank/2*2,
			"tag", 1, "newintercomm", 1)
		r.call("MPI_Reduce_scatter_block", "recvcount", 2+rank/2*2, "datatype", "MPI_INT", "comm", 1)
	})
	for rank, want := range [][4]int64{{4, 0, 16, 8}, {4, 4, 16, 8}, {4, 4, 16, 16}} {
		var got []int64
		each(t, m, rank, func(_ uint64, c trace.Call, o *semantics.Operation) {
			if o != nil && o.Role.Data != "" {
				got = append(got, o.Sent, o.Received)
			}
		})
		if !slices.Equal(got, want[:]) {
			t.Errorf("rank %d gives and gets %v bytes, want %v", rank, got, want)
		}
	}
}

func TestSwitchesRecording(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(r *recording)
		want    bool
	}{
		{"off", func(r *recording) { r.call("MPI_Pcontrol", "level", 0) }, true},
		{"on", func(r *recording) { r.call("MPI_Pcontrol", "level", 1) }, true},
		{"another level", func(r *recording) { r.call("MPI_Pcontrol", "level", 7) }, false},
		{"info", func(r *recording) {
			r.call("MPI_Info_set", "info", 0, "key", cst.String("reprise_record"), "value", cst.String("off"))
		}, true},
		{"another key", func(r *recording) {
			r.call("MPI_Info_set", "info", 0, "key", cst.String("cb_nodes"), "value", cst.String("off"))
		}, false},
		{"another value", func(r *recording) {
			r.call("MPI_Info_set", "info", 0, "key", cst.String("reprise_record"), "value", cst.String("1"))
		}, false},
	} {
		r, err := mpiModel(t, 1, func(_ int, r *recording) { tt.program(r) }).Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.SwitchesRecording(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestMPICollectives(t *testing.T) {
	m := mpiModel(t, 3, func(rank int, r *recording) {
		if rank != 1 {
			return
		}
		one := func(name string, pairs ...any) { r.call(name, append(pairs, "comm", world)...) }
		counts, types := []any{1, 2, 3}, []any{"MPI_CHAR", "MPI_INT", "MPI_DOUBLE"}
		one("MPI_Barrier")
		one("MPI_Ibcast", "count", 2, "datatype", "MPI_INT", "root", 1)
		one("MPI_Reduce", "count", 2, "datatype", "MPI_INT", "root", 1)
		one("MPI_Reduce", "count", 2, "datatype", "MPI_INT", "root", 2)
		one("MPI_Gather", "sendbuf", 0, "sendcount", 2, "sendtype", "MPI_INT", "recvcount", 4, "recvtype",
			"MPI_INT", "root", 1)
		one("MPI_Gather", "sendbuf", "MPI_IN_PLACE", "sendcount", 2, "sendtype", "MPI_INT", "recvcount", 4,
			"recvtype", "MPI_INT", "root", 1)
		one("MPI_Gatherv", "sendbuf", 0, "sendcount", 2, "sendtype", "MPI_INT", "recvtype", "MPI_INT", "root", 0)
		one("MPI_Gatherv", "sendbuf", "MPI_IN_PLACE", "sendcount", 9, "sendtype", "MPI_INT", "recvcounts",
			counts, "recvtype", "MPI_INT", "root", 1)
		one("MPI_Scatter", "sendcount", 2, "sendtype", "MPI_INT", "recvbuf", 0, "recvcount", 1, "recvtype",
			"MPI_INT", "root", 0)
		one("MPI_Scatterv", "sendcounts", counts, "sendtype", "MPI_INT", "recvbuf", "MPI_IN_PLACE",
			"recvcount", 9, "recvtype", "MPI_INT", "root", 1)
		one("MPI_Allgatherv", "sendbuf", "MPI_IN_PLACE", "sendcount", 9, "sendtype", "MPI_INT", "recvcounts",
			counts, "recvtype", "MPI_INT")
		one("MPI_Alltoall", "sendbuf", 0, "sendcount", 1, "sendtype", "MPI_INT", "recvcount", 1, "recvtype",
			"MPI_DOUBLE")
		one("MPI_Alltoallv", "sendbuf", "MPI_IN_PLACE", "recvcounts", counts, "recvtype", "MPI_INT")
		one("MPI_Alltoallw", "sendbuf", 0, "sendcounts", counts, "sendtypes", types, "recvcounts", counts,
			"recvtypes", []any{"MPI_CHAR", "MPI_CHAR", "MPI_CHAR"})
		one("MPI_Reduce_scatter", "recvcounts", counts, "datatype", "MPI_INT")
		one("MPI_Reduce_scatter_block", "recvcount", 2, "datatype", "MPI_INT")
		one("MPI_Neighbor_alltoall", "sendcount", 1, "sendtype", "MPI_INT", "recvcount", 1, "recvtype", "MPI_INT")
		r.call("MPI_File_open", "comm", world, "fh", 0)
		r.call("MPI_File_write_all", "fh", 0, "count", 3, "datatype", "MPI_INT")
		r.call("MPI_File_read", "fh", 0, "count", 3, "datatype", "MPI_INT")
		r.call("MPI_File_read", "fh", 0, "count", 3, "datatype", "MPI_INT", "bytes", 5)
		r.call("MPI_File_read_all_begin", "fh", 0, "count", 3, "datatype", "MPI_INT")
		r.call("MPI_File_read_all_end", "fh", 0, "bytes", 5)
		r.call("MPI_File_read_all_end", "fh", 0)
		r.call("MPI_File_iread", "fh", 0, "count", 3, "datatype", "MPI_INT", "request", 0)
		r.call("MPI_Wait", "request", 0, "request_size", 5)
		for _, sizes := range [][]any{{5, -1, 7}, {5, -1, -2}, {-1, -1, -1}} {
			r.call("MPI_Waitall", "array_of_requests", []any{-1, -1, -1}, "array_of_requests_size", sizes)
		}
		r.call("MPI_File_open", "comm", world, "fh", 0, "error", 38)
	})
	compare(t, m, 1,
		"MPI_Barrier: collective on world",
		"MPI_Ibcast: collective on world root 1 8→0",
		"MPI_Reduce: collective on world root 1 8→8",
		"MPI_Reduce: collective on world root 2 8→0",
		"MPI_Gather: collective on world root 1 8→48",
		"MPI_Gather: collective on world root 1 16→48",
		"MPI_Gatherv: collective on world root 0 8→0",
		"MPI_Gatherv: collective on world root 1 8→24",
		"MPI_Scatter: collective on world root 0 0→4",
		"MPI_Scatterv: collective on world root 1 24→8",
		"MPI_Allgatherv: collective on world 8→24",
		"MPI_Alltoall: collective on world 12→24",
		"MPI_Alltoallv: collective on world 24→24",
		"MPI_Alltoallw: collective on world 33→6",
		"MPI_Reduce_scatter: collective on world 24→8",
		"MPI_Reduce_scatter_block: collective on world 24→8",
		"MPI_Neighbor_alltoall: collective on world -1→-1",
		"MPI_File_open: collective on world",
		"MPI_File_write_all: file access on world/0 12→0", "MPI_File_read: file access 0→12",
		"MPI_File_read: file access 0→5",
		"MPI_File_read_all_begin: file access on world/0", "MPI_File_read_all_end: file access on world/0 0→5",
		"MPI_File_read_all_end: file access on world/0 0→-1",
		"MPI_File_iread: file access", "MPI_Wait: completion 0→5",
		"MPI_Waitall: completion 0→12", "MPI_Waitall: completion 0→-1", "MPI_Waitall: completion",
		"MPI_File_open: nothing",
	)
	if m.Unresolved() == nil {
		t.Error("a file that one rank opens is resolved")
	}
}

// What neighbours exchange is that of the topology that has the id at the call, and there is
// nobody behind the rim of a grid.
func TestNeighbours(t *testing.T) {
	m := mpiModel(t, 6, func(rank int, r *recording) {
		exchange := func() {
			r.call("MPI_Neighbor_alltoall", "sendcount", 1, "sendtype", "MPI_INT", "recvcount", 1, "recvtype",
				"MPI_INT", "comm", 0)
			r.call("MPI_Neighbor_allgather", "sendcount", 1, "sendtype", "MPI_INT", "recvcount", 2,
				"recvtype", "MPI_INT", "comm", 0)
			r.call("MPI_Comm_free", "comm", 0)
		}
		grid := func(dims, periods []any) {
			r.call("MPI_Cart_create", "comm_old", world, "ndims", len(dims), "dims", dims, "periods", periods,
				"reorder", 0, "comm_cart", 0)
			exchange()
		}
		grid([]any{2, 3}, []any{1, 1})
		grid([]any{2, 3}, []any{0, 0})
		grid([]any{6}, []any{1})
		r.call("MPI_Dist_graph_create_adjacent", "comm_old", world, "indegree", 1, "sources",
			[]any{(rank + 5) % 6}, "outdegree", 2, "destinations", []any{(rank + 1) % 6, 0}, "comm_dist_graph", 0)
		exchange()
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		exchange()
		grid([]any{2, 3}, []any{1, 1})
	})
	for rank, rim := range []string{"8→8", "12→12", "8→8", "8→8", "12→12", "8→8"} {
		gathered := map[string]string{"8→8": "4→16", "12→12": "4→24"}[rim]
		want := []string{"16→16", "4→32", rim, gathered, "8→8", "4→16", "8→4", "4→8", "-1→-1", "4→-1", "16→16", "4→32"}
		var got []string
		for _, line := range lines(t, m, rank) {
			if strings.HasPrefix(line, "MPI_Neighbor") {
				got = append(got, line[strings.LastIndexByte(line, ' ')+1:])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("rank %d: %v, want %v", rank, got, want)
		}
	}
}

// Of two programs that were recorded together, ranks do not name those of the other.
func TestSeveralWorlds(t *testing.T) {
	m := mpiModel(t, 4, func(rank int, r *recording) {
		r.call("MPI_Comm_size", "comm", world, "size", 2)
		r.send("MPI_Send", 1, "MPI_INT", 1-rank%2, 1, world)
	})
	compare(t, m, 3, "MPI_Comm_size: nothing", "MPI_Send: point-to-point; send -2 tag 1: 1 elements, 4 bytes, blocking")
}

// TestTooManyCommunicators checks that what is known without the others is told of a run
// that makes more communicators than there may be.
func TestTooManyCommunicators(t *testing.T) {
	tr := mpiTrace(t, 2, func(rank int, r *recording) {
		send := []any{"count", 3, "datatype", "MPI_INT", "dest", 1 - rank, "tag", 0, "comm"}
		r.call("MPI_Send", append(send, world)...)
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		r.call("MPI_Send", append(send, 0)...)
		r.call("MPI_Send", append(send, "MPI_COMM_SELF")...)
	})
	m, err := semantics.OpenWithin(context.Background(), tr, groups.Options{MaxCalls: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Unresolved(); !errors.Is(err, groups.ErrLimit) {
		t.Errorf("unresolved: %v", err)
	}
	compare(t, m, 0,
		"MPI_Send: point-to-point on world; send 1 tag 0: 3 elements, 12 bytes, blocking",
		"MPI_Comm_dup: collective on world",
		"MPI_Send: point-to-point; send -2 tag 0: 3 elements, 12 bytes, blocking",
		"MPI_Send: point-to-point on self0; send -2 tag 0: 3 elements, 12 bytes, blocking",
	)
}

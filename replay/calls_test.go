package replay_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/replay"
)

// late is a machine on which a rank computes as many microseconds as its number before each
// call, and messages take a tenth of that.
type late struct{ replay.Instant }

func (late) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(c.Rank.Number()) * replay.Microsecond, 0
}

func (late) Message(*replay.Message) replay.Cost {
	return replay.Cost{Transfer: 100 * replay.Nanosecond}
}

// ended returns when ranks end.
func ended(t *testing.T, ranks int, program func(rank int, r *testtrace.Recording)) (list []replay.Time) {
	t.Helper()
	model := modelOf(t, ranks, program)
	res, err := replay.Run(ctx, model, late{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Ranks {
		list = append(list, r.End/replay.Nanosecond)
	}
	return list
}

// TestTimes checks when ranks end, that make a few calls.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(rank int, r *testtrace.Recording)
		want    [3]replay.Time // ns
	}{
		{"Send", func(rank int, r *testtrace.Recording) {
			switch rank {
			case 0:
				receive(r, "MPI_Recv", 2, 0)
			case 2:
				send(r, "MPI_Send", 0, 0)
			}
		}, [3]replay.Time{2100, 1000, 2000}},
		{"Ssend", func(rank int, r *testtrace.Recording) {
			switch rank {
			case 2:
				receive(r, "MPI_Recv", 0, 0)
			case 0:
				send(r, "MPI_Ssend", 2, 0)
			}
		}, [3]replay.Time{2100, 1000, 2100}},
		{"Bcast", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", 1, "comm", world)
		}, [3]replay.Time{1000, 1000, 2000}},
		{"Reduce", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Reduce", "count", 1, "datatype", "MPI_INT", "root", 1, "comm", world)
		}, [3]replay.Time{0, 2000, 2000}},
		{"Allreduce", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", world)
		}, [3]replay.Time{2000, 2000, 2000}},
		{"AnySource", func(rank int, r *testtrace.Recording) { // whichever comes first, from rank 1 before rank 2
			if rank > 0 {
				send(r, "MPI_Send", 0, 7)
				return
			}
			receive(r, "MPI_Recv", "MPI_ANY_SOURCE", 7)
			receive(r, "MPI_Recv", 2, 7)
		}, [3]replay.Time{2100, 1000, 2000}},
		{"Fence", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			if rank == 2 {
				r.MPI(1, "MPI_Put", "origin_count", 1, "origin_datatype", "MPI_INT", "target_rank", 0, "win", 0)
			}
			r.MPI(1, "MPI_Win_fence", "win", 0)
		}, [3]replay.Time{6000, 6000, 6000}},
		{"Cancelled", func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				receive(r, "MPI_Irecv", 1, 7, "request", 0)
				r.MPI(1, "MPI_Cancel", "request", 0)
				r.MPI(1, "MPI_Wait", "request", 0)
			}
		}, [3]replay.Time{0, 1000, 2000}},
		{"FreedRequest", func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				send(r, "MPI_Issend", 1, 7, "request", 0)
				r.MPI(1, "MPI_Request_free", "request", 0)
			}
			if rank == 1 {
				receive(r, "MPI_Recv", 0, 7)
			}
		}, [3]replay.Time{0, 1100, 2000}},
		{"OtherThread", func(rank int, r *testtrace.Recording) { // one thread waits for what another begins
			if rank == 0 {
				r.MPI(1, "MPI_Wait", reprise.ThreadParam, 1, "request", 0)
				receive(r, "MPI_Irecv", 2, 7, "request", 0)
			}
			if rank == 2 {
				send(r, "MPI_Send", 0, 7)
			}
		}, [3]replay.Time{2100, 1000, 2000}},
		{"NobodyBegins", func(rank int, r *testtrace.Recording) { // a wait for what was begun while recording was off
			r.MPI(1, "MPI_Wait", "request", 5)
		}, [3]replay.Time{0, 1000, 2000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := [3]replay.Time(ended(t, 3, tt.program)); got != tt.want {
				t.Errorf("ranks end at %v, want %v", got, tt.want)
			}
		})
	}
}

// TestSimGrid replays actions of SimGrid, whose requests have no ids.
func TestSimGrid(t *testing.T) {
	for name, lines := range map[string]string{
		"Wait":       "0 init\n0 isend 1 7 1 1\n0 isend 1 7 1 1\n0 wait 0 1 7\n0 wait 0 1 7\n0 finalize\n1 init\n1 recv 0 7 1 1\n1 recv 0 7 1 1\n1 finalize\n",
		"Waitall":    "0 init\n0 isend 1 7 1 1\n0 irecv 1 8 1 1\n0 waitall 2\n0 finalize\n1 init\n1 irecv 0 7 1 1\n1 isend 0 8 1 1\n1 waitAny 2\n1 waitall 2\n1 finalize\n",
		"SendRecv":   "0 init\n0 sendRecv 3 1 4 1 1 1\n0 finalize\n1 init\n1 sendRecv 4 0 3 0 1 1\n1 finalize\n",
		"NoProcess":  "0 init\n0 recv -333 7 1 1\n0 barrier\n0 finalize\n1 init\n1 barrier\n1 finalize\n",
		"Collective": "0 init\n0 ibarrier\n0 wait 0 0 -1234\n0 finalize\n1 init\n1 ibarrier\n1 test 1 1 -1234\n1 wait 1 1 -1234\n1 finalize\n",
	} {
		t.Run(name, func(t *testing.T) {
			res, err := replay.Run(ctx, open(t, testtrace.TI(t, lines)), uneven{synchronous: true})
			if err != nil || res.Unknown+res.Unreceived > 0 {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// TestSynthetic replays programs whose messages nobody knows the sender of, and others.
func TestSynthetic(t *testing.T) {
	for _, p := range programs.All(16) {
		t.Run(p.Name, func(t *testing.T) {
			res, err := replay.Run(ctx, open(t, testtrace.Write(t, p.Run(), p.Parts())), late{})
			if err != nil || res.Unreceived+res.Unknown > 0 {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// TestMemory checks that a replay takes no memory for each call.
func TestMemory(t *testing.T) {
	allocations := func(rounds uint64) float64 {
		p := programs.Stencil2D(3, 3, rounds)
		model := open(t, testtrace.Write(t, p.Run(), p.Parts()))
		return testing.AllocsPerRun(1, func() {
			if _, err := replay.Run(ctx, model, link{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(1000), allocations(20_000); many > few*1.2+100 {
		t.Errorf("%v allocations for 20,000 rounds, %v for 1,000", many, few)
	}
}

// TestCancelled checks that a replay of more calls than can ever be made ends when its context
// does, and that events can be left.
func TestCancelled(t *testing.T) {
	p := programs.Stencil2D(2, 2, 1<<50)
	model := open(t, testtrace.Write(t, p.Run(), p.Parts()))
	stop, cancel := context.WithCancelCause(ctx)
	cause := errors.New("enough")
	defer cancel(nil)
	n := 0
	for _, err := range replay.Events(stop, model, link{}) {
		if n++; n == 1000 {
			cancel(cause)
		}
		if err != nil && !errors.Is(err, cause) {
			t.Fatal(err)
		}
	}
	if n < 1000 {
		t.Errorf("%d events", n)
	}
	if _, err := replay.Run(stop, model, link{}); !errors.Is(err, cause) {
		t.Error(err)
	}
	n = 0
	for range replay.Events(ctx, model, link{}) {
		if n++; n == 10 {
			break
		}
	}
}

// endless is a machine on which a call takes longer than any run can.
type endless struct{ replay.Instant }

func (endless) Compute(*replay.Call) (before, within replay.Time) { return 1 << 62, 1 << 62 }

func TestTooLong(t *testing.T) {
	p := programs.Stencil2D(2, 2, 10)
	if _, err := replay.Run(ctx, open(t, testtrace.Write(t, p.Run(), p.Parts())), endless{}); !errors.Is(err, replay.ErrTooLong) {
		t.Error(err)
	}
}

// TestTooMany checks that messages that nobody receives do not fill the memory.
func TestTooMany(t *testing.T) {
	model := modelOf(t, 2, func(rank int, r *testtrace.Recording) {
		if rank == 0 {
			r.MPI(1<<20+3<<16, "MPI_Send", "count", 1, "datatype", "MPI_BYTE", "dest", 1, "tag", 0, "comm", world)
		}
	})
	if _, err := replay.Run(ctx, model, replay.Instant{}); !errors.Is(err, replay.ErrTooMany) {
		t.Error(err)
	}
}

package replay_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/trace"
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
func ended(t *testing.T, ranks int, program func(rank int, r *testtrace.Recording)) (list []int) {
	t.Helper()
	model := modelOf(t, ranks, program)
	res, err := replay.Run(ctx, model, late{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res.Ranks {
		list = append(list, int(r.End/replay.Nanosecond))
	}
	return list
}

// TestTimes checks when ranks end, that make a few calls.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(rank int, r *testtrace.Recording)
		want    [3]int // ns
	}{
		{"Send", func(rank int, r *testtrace.Recording) {
			switch rank {
			case 0:
				receive(r, "MPI_Recv", 2, 0)
			case 2:
				send(r, "MPI_Send", 0, 0)
			}
		}, [3]int{2100, 1000, 2000}},
		{"Ssend", func(rank int, r *testtrace.Recording) {
			switch rank {
			case 2:
				receive(r, "MPI_Recv", 0, 0)
			case 0:
				send(r, "MPI_Ssend", 2, 0)
			}
		}, [3]int{2100, 1000, 2100}},
		{"Bcast", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", 1, "comm", world)
		}, [3]int{1000, 1000, 2000}},
		{"Reduce", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Reduce", "count", 1, "datatype", "MPI_INT", "root", 1, "comm", world)
		}, [3]int{0, 2000, 2000}},
		{"Allreduce", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", world)
		}, [3]int{2000, 2000, 2000}},
		{"AnySource", func(rank int, r *testtrace.Recording) { // whichever comes first, from rank 1 before rank 2
			if rank > 0 {
				send(r, "MPI_Send", 0, 7)
				return
			}
			receive(r, "MPI_Recv", "MPI_ANY_SOURCE", 7)
			receive(r, "MPI_Recv", 2, 7)
		}, [3]int{2100, 1000, 2000}},
		{"Fence", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			if rank == 2 {
				r.MPI(1, "MPI_Put", "origin_count", 1, "origin_datatype", "MPI_INT", "target_rank", 0, "win", 0)
			}
			r.MPI(1, "MPI_Win_fence", "win", 0)
		}, [3]int{6000, 6000, 6000}},
		{"Cancelled", func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				receive(r, "MPI_Irecv", 1, 7, "request", 0)
				r.MPI(1, "MPI_Cancel", "request", 0)
				r.MPI(1, "MPI_Wait", "request", 0)
			}
		}, [3]int{0, 1000, 2000}},
		{"FreedRequest", func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				send(r, "MPI_Issend", 1, 7, "request", 0)
				r.MPI(1, "MPI_Request_free", "request", 0)
			}
			if rank == 1 {
				receive(r, "MPI_Recv", 0, 7)
			}
		}, [3]int{0, 1100, 2000}},
		{"OtherThread", func(rank int, r *testtrace.Recording) { // one thread waits for what another begins
			if rank == 0 {
				r.MPI(1, "MPI_Wait", trace.ThreadParam, 1, "request", 0)
				r.MPI(1, "MPI_Comm_size", trace.ThreadParam, 1, "comm", world, "size", 3)
				receive(r, "MPI_Recv", 1, 7)
				receive(r, "MPI_Irecv", 2, 7, "request", 0)
				return
			}
			send(r, "MPI_Send", 0, 7)
		}, [3]int{2100, 1000, 2000}},
		{"NobodyBegins", func(rank int, r *testtrace.Recording) { // a wait for what was begun while recording was off
			r.MPI(1, "MPI_Wait", "request", 5)
		}, [3]int{0, 1000, 2000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := [3]int(ended(t, 3, tt.program)); got != tt.want {
				t.Errorf("ranks end at %v, want %v", got, tt.want)
			}
		})
	}
}

// TestSimGrid replays actions of SimGrid, whose requests have no ids, and checks when ranks end.
func TestSimGrid(t *testing.T) {
	for _, tt := range []struct {
		name, lines string
		want        [2]int // µs
	}{
		{"Wait", "0 init\n0 isend 1 7 1 1\n0 isend 1 7 1 1\n0 wait 0 1 7\n0 wait 0 1 7\n0 finalize\n1 init\n1 recv 0 7 1 1\n1 recv 0 7 1 1\n1 finalize\n", [2]int{0, 14}},
		{"Waitall", "0 init\n0 isend 1 7 1 1\n0 irecv 1 8 1 1\n0 waitall 2\n0 finalize\n1 init\n1 irecv 0 7 1 1\n1 isend 0 8 1 1\n1 waitAny 2\n1 waitall 2\n1 finalize\n", [2]int{14, 12}},
		{"SendRecv", "0 init\n0 sendRecv 3 1 4 1 1 1\n0 finalize\n1 init\n1 sendRecv 4 0 3 0 1 1\n1 finalize\n", [2]int{13, 12}},
		{"NoProcess", "0 init\n0 recv -333 7 1 1\n0 barrier\n0 finalize\n1 init\n1 barrier\n1 finalize\n", [2]int{2, 3}},
		{"Collective", "0 init\n0 ibarrier\n0 wait 0 0 -1234\n0 finalize\n1 init\n1 ibarrier\n1 test 1 1 -1234\n1 wait 1 1 -1234\n1 finalize\n", [2]int{2, 5}},
		{"Test", "0 init\n0 send 1 7 1 1\n0 finalize\n1 init\n1 irecv 0 7 1 1\n1 test 0 1 7\n1 finalize\n", [2]int{0, 4}},
		{"Testall", "0 init\n0 send 1 7 1 1\n0 finalize\n1 init\n1 irecv 0 7 1 1\n1 testall\n1 wait 0 1 7\n1 finalize\n", [2]int{0, 12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := replay.Run(ctx, open(t, testtrace.TI(t, tt.lines)), slow{})
			if err != nil || res.Unknown+res.Unreceived > 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			if got := [2]int{int(res.Ranks[0].End / replay.Microsecond), int(res.Ranks[1].End / replay.Microsecond)}; got != tt.want {
				t.Errorf("ranks end at %v, want %v", got, tt.want)
			}
		})
	}
}

// slow is a machine like late on which a message takes 10 µs, and its receiver 1 µs more.
type slow struct{ late }

func (slow) Message(*replay.Message) replay.Cost {
	return replay.Cost{Transfer: 10 * replay.Microsecond, Receive: replay.Microsecond}
}

// TestSlow checks when ranks end that wait for slow messages and accesses.
func TestSlow(t *testing.T) {
	put := func(r *testtrace.Recording) {
		r.MPI(1, "MPI_Put", "origin_count", 1, "origin_datatype", "MPI_INT", "target_rank", 0, "win", 0)
	}
	for _, tt := range []struct {
		name    string
		program func(rank int, r *testtrace.Recording)
		want    [2]int // µs
	}{
		{"Receive", func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				send(r, "MPI_Send", 1, 0)
				return
			}
			r.MPI(20, "MPI_Comm_size", "comm", world, "size", 2)
			receive(r, "MPI_Recv", 0, 0)
		}, [2]int{0, 22}},
		{"Fence", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			if rank == 1 {
				put(r)
			}
			r.MPI(1, "MPI_Win_fence", "win", 0)
		}, [2]int{13, 13}},
		{"PostStartCompleteWait", func(rank int, r *testtrace.Recording) { // rank 1 accesses a window of rank 0
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			r.MPI(1, "MPI_Comm_group", "comm", world, "group", 0)
			r.MPI(1, "MPI_Group_incl", "group", 0, "n", 1, "ranks", []any{1 - rank}, "newgroup", 1)
			if rank == 0 {
				r.MPI(1, "MPI_Win_post", "group", 1, "win", 0)
				r.MPI(1, "MPI_Win_wait", "win", 0)
				return
			}
			r.MPI(1, "MPI_Win_start", "group", 1, "win", 0)
			put(r)
			r.MPI(1, "MPI_Win_complete", "win", 0)
		}, [2]int{27, 16}}, // the access from 5 to 16, as it is complete at its origin, and the token from then on
		{"CompleteWaitsForPost", func(rank int, r *testtrace.Recording) { // rank 0 accesses a window of rank 1, which posts at 7
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			r.MPI(1, "MPI_Comm_group", "comm", world, "group", 0)
			r.MPI(1, "MPI_Group_incl", "group", 0, "n", 1, "ranks", []any{1 - rank}, "newgroup", 1)
			if rank == 0 {
				r.MPI(1, "MPI_Win_start", "group", 1, "win", 0)
				r.MPI(1, "MPI_Win_complete", "win", 0)
				return
			}
			r.MPI(3, "MPI_Comm_size", "comm", world, "size", 2)
			r.MPI(1, "MPI_Win_post", "group", 1, "win", 0)
			r.MPI(1, "MPI_Win_wait", "win", 0)
		}, [2]int{18, 12}},
		{"Flush", func(rank int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			if rank == 1 {
				put(r)
				r.MPI(1, "MPI_Win_flush", "rank", 0, "win", 0)
			}
		}, [2]int{1, 13}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := replay.Run(ctx, modelOf(t, 2, tt.program), slow{})
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]int{int(res.Ranks[0].End / replay.Microsecond), int(res.Ranks[1].End / replay.Microsecond)}; got != tt.want {
				t.Errorf("ranks end at %v, want %v", got, tt.want)
			}
		})
	}
}

// at is a machine on which calls start after a time by rank and position, and messages take 1 µs.
type at struct {
	replay.Instant
	gaps map[[2]int]replay.Time
}

func (m at) Compute(c *replay.Call) (before, within replay.Time) {
	return m.gaps[[2]int{c.Rank.Number(), int(c.Position)}], 0
}

func (at) Message(*replay.Message) replay.Cost { return replay.Cost{Transfer: replay.Microsecond} }

// TestChoices checks which message each receive gets, where several could.
func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		name    string
		gaps    map[[2]int]replay.Time
		program func(rank int, r *testtrace.Recording) // rank 0 receives
		want    string                                 // who sent each message, and the calls of both
	}{
		{"FirstToCome", map[[2]int]replay.Time{{0, 0}: 9 * replay.Microsecond, {1, 0}: 2 * replay.Microsecond}, func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				receive(r, "MPI_Recv", "MPI_ANY_SOURCE", 7)
				receive(r, "MPI_Recv", "MPI_ANY_SOURCE", 7)
			} else {
				send(r, "MPI_Send", 0, 7)
			}
		}, "[1.0→1 2.0→0]"},
		{"AnySourceFirst", map[[2]int]replay.Time{{0, 2}: 1500 * replay.Nanosecond, {2, 0}: replay.Microsecond, {2, 1}: 5 * replay.Microsecond}, func(rank int, r *testtrace.Recording) {
			switch rank {
			case 0: // the third receive is posted while the first message is under way
				receive(r, "MPI_Irecv", "MPI_ANY_SOURCE", 7, "request", 0)
				receive(r, "MPI_Irecv", 2, 7, "request", 1)
				receive(r, "MPI_Irecv", 1, 8, "request", 2)
			case 1:
				send(r, "MPI_Send", 0, 8)
			case 2:
				send(r, "MPI_Send", 0, 7)
				send(r, "MPI_Send", 0, 7)
			}
		}, "[1.0→2 2.0→0 2.1→1]"},
		{"Partitioned", nil, func(rank int, r *testtrace.Recording) { // what is sent first is in partitions, and received last
			switch rank {
			case 0:
				receive(r, "MPI_Recv", 1, 7)
				receive(r, "MPI_Precv_init", 1, 7, "partitions", 2, "request", 0)
				r.MPI(1, "MPI_Start", "request", 0)
			case 1:
				send(r, "MPI_Psend_init", 0, 7, "partitions", 2, "request", 0)
				r.MPI(1, "MPI_Start", "request", 0)
				send(r, "MPI_Send", 0, 7)
			}
		}, "[1.1→2 1.2→0]"},
		{"Mprobe", map[[2]int]replay.Time{{0, 0}: 9 * replay.Microsecond}, takesOut, "[1.0→2 1.1→1]"},
		{"MprobeThatWaits", map[[2]int]replay.Time{{1, 0}: 9 * replay.Microsecond}, takesOut, "[1.0→2 1.1→1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var met []string
			for event, err := range replay.Events(ctx, modelOf(t, 3, tt.program), at{gaps: tt.gaps}) {
				if err != nil {
					t.Fatal(err)
				}
				if event.Message != nil {
					met = append(met, fmt.Sprintf("%d.%d→%d", event.Message.From, event.Call.Position, event.Receive.Position))
				}
			}
			if slices.Sort(met); fmt.Sprint(met) != tt.want {
				t.Errorf("met %v, want %s", met, tt.want)
			}
		})
	}
}

// takesOut receives the first of two messages by MPI_Mprobe, after the second.
func takesOut(rank int, r *testtrace.Recording) {
	switch rank {
	case 0:
		r.MPI(1, "MPI_Mprobe", "source", 1, "tag", 7, "comm", world, "message", 0)
		receive(r, "MPI_Recv", 1, 7)
		r.MPI(1, "MPI_Mrecv", "count", 1, "datatype", "MPI_BYTE", "message", 0)
	case 1:
		send(r, "MPI_Send", 0, 7)
		send(r, "MPI_Send", 0, 7)
	}
}

// TestSynthetic replays programs whose messages nobody knows the sender of, and others.
func TestSynthetic(t *testing.T) {
	for _, p := range tier.Some(programs.All(16), 4) {
		t.Run(p.Name, func(t *testing.T) {
			model := open(t, testtrace.Write(t, p.Run(), p.Parts()))
			compareSkipped(t, model, mixed{seed: 1})
			res, err := replay.Run(ctx, model, late{})
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
			if _, err := replay.Run(ctx, model, plain{link{}}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(1000), allocations(20_000); many > few*1.2+100 {
		t.Errorf("%v allocations for 20,000 rounds, %v for 1,000", many, few)
	}
}

// TestAhead checks that a rank that makes fewer calls than others for a message, or for a
// collective operation, is not so far ahead that these fill the memory.
func TestAhead(t *testing.T) {
	rounds := tier.Number(25_000, 100_000)
	for name, call := range map[string]func(rank int, r *testtrace.Recording){
		"Send": func(rank int, r *testtrace.Recording) {
			if rank == 0 {
				send(r, "MPI_Send", 1, 0)
			} else {
				receive(r, "MPI_Recv", 0, 0)
			}
		},
		"Bcast": func(_ int, r *testtrace.Recording) {
			r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", 0, "comm", world)
		},
	} {
		model := modelOf(t, 2, func(rank int, r *testtrace.Recording) {
			for range rounds {
				call(rank, r)
				r.MPI(3*rank, "MPI_Comm_size", "comm", world, "size", 2)
			}
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := replay.Run(ctx, model, plain{replay.Instant{}}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 2<<20 {
			t.Errorf("%s: %d bytes for %d rounds", name, bytes, rounds)
		}
	}
}

// TestCancelled checks that a replay of more calls than can ever be made ends when its context
// does, and that events can be left.
func TestCancelled(t *testing.T) {
	for _, side := range []int{1, 2} {
		testCancelled(t, programs.Stencil2D(side, side, 1<<50))
	}
}

func testCancelled(t *testing.T, p programs.Program) {
	t.Helper()
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

package replay_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/replay"
)

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
	if _, err := replay.Run(ctx, open(t, testtrace.Write(t, p.Run(), p.Parts())), endless{}); !errors.Is(err,
		replay.ErrTooLong) {
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

package groups_test

import (
	"context"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/trace"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// TestPrograms records programs and checks that, of each communicator that one asks
// for its rank and size, what was resolved is what MPI said.
func TestPrograms(t *testing.T) {
	programs := []string{"comms.c", "topologies.c", "rma.c", "io.c", "threads.c", "errors.c", "mpi4.c", "usempif08.f90"}
	var asked atomic.Int64
	t.Cleanup(func() {
		if n := asked.Load(); n < int64(tier.Number(100, 200)) && !t.Failed() && !t.Skipped() {
			t.Errorf("the programs asked MPI %d times", n)
		}
	})
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			if !slices.Contains(programs, p.Source) || p.Source == "usempif08.f90" && m.Name == "mpich" ||
				!m.Turn(p.Name()) {
				continue
			}
			t.Run(p.Name(), func(t *testing.T) {
				m.Parallel(t)
				tr := recorded.Trace(t, m, func(o mpitest.Options) { m.RunProgram(t, p, o) })
				all, err := groups.Resolve(context.Background(), tr, groups.Options{})
				if err != nil {
					t.Fatal(err)
				}
				n := checkAnswers(t, tr, all)
				t.Logf("%d answers of MPI", n)
				asked.Add(int64(n))
			})
		}
	})
}

// checkAnswers compares what MPI said of communicators with what was resolved, and
// returns how often it did.
func checkAnswers(t *testing.T, tr *trace.Trace, all *resolve.Groups) int {
	t.Helper()
	n := 0
	for _, rank := range tr.RankSet().All() {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := c.Position
			var of func(m resolve.Member) int
			switch c.Function.Name {
			case "MPI_Comm_rank":
				of = func(m resolve.Member) int { return m.Rank }
			case "MPI_Comm_size":
				of = func(m resolve.Member) int { return len(m.Local()) }
			case "MPI_Comm_remote_size":
				of = func(m resolve.Member) int { return len(m.Peers()) }
			default:
				continue
			}
			params := c.Function.Params
			first, last := 0, len(params)-1
			if params[0].Name == "thread" {
				first++
			}
			if params[last].Name == "error" {
				continue
			}
			comm := resolve.Local{Class: "comm", ID: c.Args[first].Int()}
			m, ok := all.At(rank, comm, position)
			if !ok {
				t.Fatalf("rank %d, call %d, %v: not resolved", rank, position, c)
			}
			if got, want := of(m), int(c.Args[last].Int()); got != want {
				t.Fatalf("rank %d, call %d, %v: %d in %s, of %v", rank, position, c, got, m.Group.Name(),
					m.Group.Members)
			}
			if m.Local()[m.Rank] != rank {
				t.Fatalf("rank %d is %d in %v", rank, m.Rank, m.Local())
			}
			n++
		}
	}
	return n
}

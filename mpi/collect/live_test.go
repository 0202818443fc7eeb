package collect_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// TestLiveThreads collects what two threads of each rank write while they give up
// handles that the other gets. However far a thread was when it was read, the trace is
// that of the raw records.
func TestLiveThreads(t *testing.T) {
	for _, m := range mpitest.Installed(t) { // under the race detector as well
		t.Run(m.Name, func(t *testing.T) {
			library, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
			if err != nil {
				t.Fatal(err)
			}
			program := m.Build(t, "threads.c")
			for range 2 {
				t.Run("", func(t *testing.T) {
					t.Parallel() // for what takes long are the pauses
					recordLive(t, m, library.Path, program)
				})
			}
		})
	}
}

func recordLive(t *testing.T, m *mpitest.MPI, library, program string) {
	t.Helper()
	spool := t.TempDir()
	c, err := collect.New(spool, collect.Options{Untimed: true, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var polls int
	var polling sync.WaitGroup
	polling.Go(func() {
		for {
			before := c.Calls()
			if _, err := c.Poll(); err != nil {
				t.Error(err)
				return
			}
			if c.Calls() > before {
				polls++
			}
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	output := m.Run(t, mpitest.Options{Ranks: 2, Preload: []string{library},
		Env: []string{"REPRISE_SPOOL=" + spool}}, program, "slow")
	close(ended)
	polling.Wait()
	a, s, err := c.Finish(t.Context())
	if err != nil || s.Problems != nil || output.Status != 0 {
		t.Fatal(err, s.Problems, output)
	}
	_, trace := written(t, a)
	n, err := collect.Compare(context.Background(), spool, callsOf(t, trace))
	if err != nil || n != s.Calls || n < 4000 {
		t.Errorf("%d of %d calls are as recorded: %v", n, s.Calls, err)
	}
	if polls < 2 {
		t.Errorf("collected in %d steps before the end", polls)
	}
}

package mpitest_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/internal/mpitest"
	"github.com/reprise-trace/reprise/mpi"
)

// TestPrograms runs each program: it checks what it computes. Then it runs again
// with the interposer and a counter in front of it: it does the same, and what is
// recorded are the calls that were counted.
func TestPrograms(t *testing.T) {
	interposers := buildInterposers(t)
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			t.Run(p.Name(), func(t *testing.T) {
				if m.Name == "openmpi" { // others keep the processors busy
					t.Parallel()
				}
				plain := m.RunProgram(t, p, mpitest.Options{})
				for rank, text := range plain.Ranks {
					if !p.Dies && !strings.HasSuffix(text, "end\n") {
						t.Errorf("rank %d printed %q", rank, text)
					}
				}
				spool, counts := t.TempDir(), t.TempDir()
				recorded := m.RunProgram(t, p, mpitest.Options{
					Preload: []string{m.Counter(t), interposers[m.Name]},
					Env:     []string{"REPRISE_SPOOL=" + spool, mpitest.CountIn(counts)},
				})
				compareOutputs(t, recorded, plain)
				compareCounts(t, p, len(plain.Ranks), spool, counts)
			})
		}
	})
}

// buildInterposers returns the paths of the interposers by the name of the MPI.
func buildInterposers(t *testing.T) map[string]string {
	t.Helper()
	list := mpitest.Installed(t)
	built, errs := make([]*mpi.Interposer, len(list)), make([]error, len(list))
	var building sync.WaitGroup
	for i, m := range list {
		building.Go(func() {
			built[i], errs[i] = mpi.BuildInterposer(t.Context(), m.CC, mpitest.Cache())
		})
	}
	building.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	paths := make(map[string]string)
	for i, m := range list {
		paths[m.Name] = built[i].Path
	}
	return paths
}

func compareOutputs(t *testing.T, got, want *mpitest.Output) {
	t.Helper()
	if got.Status != want.Status {
		t.Errorf("exit status %d, without the interposer %d\n%s", got.Status, want.Status, got.Rest)
	}
	for rank := range want.Ranks {
		if got.Ranks[rank] != want.Ranks[rank] {
			t.Errorf("rank %d printed\n%s\nand without the interposer\n%s", rank, got.Ranks[rank], want.Ranks[rank])
		}
	}
}

func compareCounts(t *testing.T, p mpitest.Program, ranks int, spool, counts string) {
	t.Helper()
	counted, err := mpitest.ReadCounts(counts)
	if err != nil {
		t.Fatal(err)
	}
	recorded := countRecords(t, spool)
	if len(recorded) != ranks {
		t.Errorf("%d ranks are recorded, want %d", len(recorded), ranks)
	}
	for _, line := range recorded.Differences(counted) {
		t.Error("recorded and counted calls:", line)
	}
	for rank, functions := range recorded {
		for name, want := range p.Calls {
			if functions[name] != want {
				t.Errorf("rank %d: %d calls of %s are recorded, want %d", rank, functions[name], name, want)
			}
		}
	}
}

// countRecords counts the calls in a spool, those that have not ended as well, but
// not those that were made while recording was off.
func countRecords(t *testing.T, spool string) mpitest.Counts {
	t.Helper()
	threads, err := mpi.ListSpool(spool)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(mpitest.Counts)
	for _, thread := range threads {
		data, err := os.ReadFile(thread.Paths[len(thread.Paths)-1])
		if err != nil {
			t.Fatal(err)
		}
		h, err := mpi.ParseSegmentHeader(data)
		if err != nil {
			t.Fatal(err)
		}
		count := func(r *mpi.Record) {
			if r.Type == mpi.Call && !r.Hidden {
				counts.Add(h.Rank, mpi.Functions()[r.Function].Name, 1)
			}
		}
		reader := thread.Open()
		for {
			r, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			count(r)
		}
		for r := range reader.Decoder().Unfinished() {
			count(r)
		}
	}
	return counts
}

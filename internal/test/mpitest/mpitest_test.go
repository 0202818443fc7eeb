package mpitest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// TestCounter runs a program whose calls are known with the counter. What it finds of
// all programs is compared with recordings in package collect.
func TestCounter(t *testing.T) {
	programs := mpitest.Programs()
	p := programs[slices.IndexFunc(programs, func(p mpitest.Program) bool { return p.Source == "loop.c" })]
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		output := m.RunProgram(t, p, mpitest.Options{Preload: []string{m.Counter(t)},
			Env: []string{mpitest.CountIn(directory)}})
		counts, err := mpitest.ReadCounts(directory)
		if err != nil || len(counts) != len(output.Ranks) {
			t.Fatalf("%v, counts of %d ranks, want %d", err, len(counts), len(output.Ranks))
		}
		for rank, functions := range counts {
			if !strings.HasSuffix(output.Ranks[rank], "end\n") {
				t.Errorf("rank %d printed %q", rank, output.Ranks[rank])
			}
			for name, want := range p.Calls {
				if functions[name] != want {
					t.Errorf("rank %d: %d calls of %s are counted, want %d", rank, functions[name], name, want)
				}
			}
		}
	})
}

func TestDifferences(t *testing.T) {
	counts, other := make(mpitest.Counts), make(mpitest.Counts)
	for rank := range 3 {
		counts.Add(rank, "MPI_Send", 2)
		other.Add(rank, "MPI_Send", uint64(1+rank))
	}
	counts.Add(1, "MPI_Recv", 1)
	other.Add(3, "MPI_Recv", 1)
	want := "rank 0: MPI_Send: 2 and 1; rank 1: MPI_Recv: 1 and 0; rank 2: MPI_Send: 2 and 3; rank 3: MPI_Recv: 0 and 1"
	if got := strings.Join(counts.Differences(other), "; "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package collect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// TestGroups records rings in communicators with fewer processes than the run has, and in
// another order. A process knows its rank and the size of each, by which the peers in the
// calls are the next one and the previous one.
func TestGroups(t *testing.T) {
	programs := mpitest.Programs()
	program := programs[slices.IndexFunc(programs, func(p mpitest.Program) bool { return p.Source == "rings.c" })]
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		library, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
		if err != nil {
			t.Fatal(err)
		}
		spool := t.TempDir()
		output := m.RunProgram(t, program, mpitest.Options{Preload: []string{library.Path},
			Env: []string{"REPRISE_SPOOL=" + spool}})
		c, err := New(spool, Options{Untimed: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		processes := c.ranked()
		if len(processes) != m.Ranks(program.Ranks) {
			t.Fatalf("%d processes", len(processes))
		}
		for rank, p := range processes {
			part, err := p.part(0, true)
			if err != nil {
				t.Fatal(err)
			}
			var printed [2]merge.Group
			for i, line := range strings.Split(output.Ranks[rank], "\n")[1:3] {
				if _, err := fmt.Sscanf(line, "%d of %d", &printed[i].Rank, &printed[i].Size); err != nil {
					t.Fatal(err)
				}
			}
			for id, want := range []merge.Group{printed[0], printed[0], printed[1]} {
				if got := part.Groups[merge.GroupHandle{Class: "comm", Value: int64(id)}]; got != want {
					t.Errorf("rank %d: communicator %d is of %+v, want %+v", rank, id, got, want)
				}
			}
			checkRing(t, rank, part)
		}
	})
}

// checkRing checks the peers in calls of MPI_Sendrecv by the groups of a part.
func checkRing(t *testing.T, rank int, part merge.Part) {
	calls := 0
	for f, args := range callsOf(part, nil) {
		if f.Name != "MPI_Sendrecv" {
			continue
		}
		calls++
		c := tracedCall{function: f, args: args}
		g := part.Groups[merge.GroupHandle{Class: "comm", Value: c.argument("comm").Int()}]
		next, previous := (g.Rank+1)%g.Size, (g.Rank+g.Size-1)%g.Size
		if c.argument("dest").Int() != int64(next) || c.argument("source").Int() != int64(previous) {
			t.Errorf("rank %d: %s, of %+v", rank, c.text(), g)
		}
	}
	if calls != 24 {
		t.Errorf("rank %d: %d calls of MPI_Sendrecv", rank, calls)
	}
}

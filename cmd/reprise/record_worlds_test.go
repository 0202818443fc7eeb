package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestRecordWorlds records processes that start others, which are in worlds of their own, and
// what accepts and connects: all communicators are known, and all messages match. The MPICH
// of Debian has none of this.
func TestRecordWorlds(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		if m.Name != "openmpi" {
			continue
		}
		mpitest.SkipUnderRace(t)
		trace := filepath.Join(t.TempDir(), "run.rpz")
		line := m.Launch(2, m.Build(t, "worlds.c"))
		if got := outcome(t, recorder(t, m, []string{"-o", trace}, line...)); got.status != 0 || got.stdout != "" {
			t.Fatalf("%+v", got)
		}
		contains(t, must(t, "info", trace), `world0: ranks 0-1
world1: ranks 2-3, started by MPI_Comm_spawn of rank 0, number 0
world2: rank 4, started by MPI_Comm_spawn of rank 2, number 0
`)
		contains(t, must(t, "match", trace), `: 14 messages sent and received, on 14 channels
all messages match

20 collective operations on 10 communicators: all members make the same calls

  communicator  operations  members
  world0                 3        2
  world0/0:0             3        1
  world0/0:1             3        1
  world0/1               2        4
  world0/1/0             2        4
  world1/0               2        3
  world1/0/0             2        3
  world0/0:0/0           1        2
  world0/0:0/1           1        2
  world1                 1        2
`)
	}
}

// contains checks that a text has a part.
func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s\nwant\n%s", text, part)
	}
}

//go:build linux

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/query"
)

// TestDiffRecorded records a program twice, once with times: the traces are equal. With
// another number of ranks they are not.
func TestDiffRecorded(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		record := func(name, times string, ranks int) string {
			trace := filepath.Join(directory, name)
			cmd := recorder(t, m, []string{"--times", times, "-o", trace},
				m.Launch(ranks, m.Build(t, "ring.c"), filepath.Join(directory, "file"))...)
			cmd.Env = append(cmd.Env, "OMPI_MCA_osc=pt2pt")
			if got := outcome(t, cmd); got.status != 0 {
				t.Fatal(got.stderr)
			}
			return trace
		}
		a, b := record("a.rpz", "statistics", 2), record("b.rpz", "none", 2)
		if got := must(t, "diff", a, b); !strings.HasPrefix(got, "equal: ") ||
			!strings.HasSuffix(got, " of 2 ranks\n") {
			t.Error(got)
		}
		if got := must(t, "diff", a, b, "--ignore", "addresses,sites", "--ignore",
			"polls,MPI_Barrier"); !strings.HasPrefix(got, "equal but for addresses, sites, polls, MPI_Barrier: ") {
			t.Error(got)
		}
		if r := invoke(t, "", "diff", a, b, "--ignore", "times"); r.status != cli.ExitUsage ||
			!strings.Contains(r.stderr, `"times", which is none of addresses`) {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
		r := invoke(t, "", "diff", a, record("c.rpz", "none", 3), "--json")
		var got answer.Diff
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.status != cli.ExitFailure ||
			got.Same || got.B.Only.String() != "2" || got.B.Ranks != 3 {
			t.Errorf("status %d, %v, %+v", r.status, err, got)
		}
	})
}

// A messagesWithNames is what messages --json writes.
type messagesWithNames struct {
	query.Volume
	Pairs         []query.Pair
	Sizes         []query.SizeCount
	Communicators []struct {
		Name string `json:"communicator"`
		query.Flow
		Ranks       int
		Collectives query.CollectiveFlow
	}
}

// TestMessagesRecorded records a ring of which each rank sends a number to both
// neighbours in each round, and every tenth adds one up.
func TestMessagesRecorded(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		const ranks, rounds = 3, 100
		trace := filepath.Join(t.TempDir(), "run.rpz")
		cmd := recorder(t, m, []string{"-o", trace}, m.Launch(ranks, m.Build(t, "loop.c"), "100")...)
		if got := outcome(t, cmd); got.status != 0 {
			t.Fatal(got.stderr)
		}
		read := func(by string) (got messagesWithNames) {
			if err := json.Unmarshal([]byte(must(t, "messages", trace, "--by", by, "--json")), &got); err != nil {
				t.Fatal(err)
			}
			if want := (query.Flow{Messages: 2 * ranks * rounds, Bytes: 2 * ranks * rounds * 8}); got.Flow != want {
				t.Errorf("by %s: %+v, want %+v", by, got.Flow, want)
			}
			// All add up a number of 8 bytes 10 times, and one tells the others one of 4 bytes.
			if want := (query.Blocks{Blocks: 10*ranks*(ranks-1) + ranks - 1,
				Bytes: 10*ranks*(ranks-1)*8 + (ranks-1)*4}); got.Exchanged != want {
				t.Errorf("by %s: %+v, want %+v", by, got.Exchanged, want)
			}
			return got
		}
		for _, p := range read("pair").Pairs {
			if p.Source == p.Destination || p.Flow != (query.Flow{Messages: rounds, Bytes: rounds * 8}) {
				t.Errorf("%+v", p)
			}
		}
		if got := read("size").Sizes; len(got) != 1 || got[0].Bytes != 8 {
			t.Errorf("sizes %v", got)
		}
		got := read("communicator").Communicators
		if len(got) == 0 || got[0].Name != "world" || got[0].Messages != 2*ranks*rounds || got[0].Ranks != ranks {
			t.Fatalf("communicators %+v", got)
		}
		// A sum of 8 bytes, and a broadcast of 4 from one rank to the others.
		if c := got[0].Collectives; c.Calls < 11*ranks || c.Sent != 10*ranks*8+4 ||
			c.Received < 10*ranks*8+4*(ranks-1) || c.Unknown > 0 {
			t.Errorf("collectives %+v", c)
		}
	})
}

package main

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// TestLateUnordered has a receive that waits for a late sender: who is late is said, but not where it is not
// known in which order threads made their calls, which may have got each other's messages.
func TestLateUnordered(t *testing.T) {
	t.Chdir(t.TempDir())
	message := func(name, peer string, of int, start, duration int64) testtrace.Call {
		c := testtrace.MPICall(name, "count", 1, "datatype", "MPI_INT", peer, of, "tag", 0, "comm", "MPI_COMM_WORLD")
		c.Start, c.Duration = start, duration
		return c
	}
	init := testtrace.Call{Function: cst.Function{Name: "MPI_Init"}, Duration: 1000}
	for _, unordered := range []bool{false, true} {
		run := merge.Run{Ranks: 2, Source: collect.Source, ThreadsUnordered: unordered}
		writeFile(t, "run.rpz", string(testtrace.RecordFile(t, run, true, [][]testtrace.Call{
			{init, message("MPI_Send", "dest", 1, 90_000, 1000)},
			{init, message("MPI_Recv", "source", 0, 2000, 90_000)},
		})))
		text := must(t, "waits", "run.rpz", "--series")
		if said := strings.Contains(text, "wait states are not known: "+cli.UnorderedNote); said != unordered ||
			strings.Contains(text, "late sender, ") == unordered {
			t.Errorf("threads unordered %v:\n%s", unordered, text)
		}
		if r := invoke(t, "", "export", "run.rpz", "-o", "out.csv", "--by",
			"message"); r.status != cli.ExitOK || strings.Contains(r.stderr, cli.UnorderedNote) != unordered {
			t.Errorf("threads unordered %v: %+v", unordered, r)
		}
		if said := strings.Contains(must(t, "waits", "run.rpz", "--series", "--json"),
			`"threads_unordered": true`); said != unordered {
			t.Errorf("threads unordered %v: --json says %v", unordered, said)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// TestExportUnreceived exports messages, some of which nobody receives: that they have no row is said, and nothing where all have one.
func TestExportUnreceived(t *testing.T) {
	t.Chdir(t.TempDir())
	message := func(name, peer string, of int) testtrace.Call {
		return testtrace.MPICall(name, "count", 1, "datatype", "MPI_INT", peer, of, "tag", 0, "comm", "MPI_COMM_WORLD")
	}
	for sent := 1; sent < 4; sent++ {
		var first []testtrace.Call
		for range sent {
			first = append(first, message("MPI_Send", "dest", 1))
		}
		second := []testtrace.Call{message("MPI_Recv", "source", 0)}
		writeFile(t, "run.rpz", string(testtrace.RecordFile(t, merge.Run{Source: collect.Source}, false, [][]testtrace.Call{first, second})))
		text := must(t, "export", "run.rpz", "-o", "out.csv", "--by", "message")
		if said := strings.Contains(text, " that calls send: those that nobody receives"); said != (sent > 1) || !strings.Contains(text, "1 message,") {
			t.Errorf("%d sent: %s", sent, text)
		}
	}
}

package main

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// TestExportUnreceived exports messages of which some are received, some by receives that no call completes
// or that are freed, and some by nobody: each has a row, with what there is.
func TestExportUnreceived(top *testing.T) {
	top.Chdir(top.TempDir())
	rapid.Check(top, func(t *rapid.T) {
		message := func(name, peer string, of, tag int, more ...any) testtrace.Call {
			return testtrace.MPICall(name,
				append([]any{"count", 1, "datatype", "MPI_INT", peer, of, "tag", tag, "comm",
					"MPI_COMM_WORLD"}, more...)...)
		}
		var ranks [2][]testtrace.Call
		var want [2][]string // rows
		for tag := range rapid.IntRange(0, 8).Draw(t, "tags") {
			to := rapid.IntRange(0, 1).Draw(t, "to")
			ranks[1-to] = append(ranks[1-to], message("MPI_Send", "dest", to, tag))
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				want[1-to] = append(want[1-to], fmt.Sprintf("%d,%d,%d,,", 1-to, to, tag))
			case 1:
				ranks[to] = append(ranks[to], message("MPI_Recv", "source", 1-to, tag))
				want[to] = append(want[to], fmt.Sprintf("%d,%d,%d,MPI_Recv,MPI_Recv", 1-to, to, tag))
			case 2:
				ranks[to] = append(ranks[to], message("MPI_Irecv", "source", 1-to, tag, "request", tag),
					testtrace.MPICall("MPI_Wait", "request", tag))
				want[to] = append(want[to], fmt.Sprintf("%d,%d,%d,MPI_Irecv,MPI_Wait", 1-to, to, tag))
			default:
				ranks[to] = append(ranks[to], message("MPI_Irecv", "source", 1-to, tag, "request", tag))
				if rapid.Bool().Draw(t, "freed") {
					ranks[to] = append(ranks[to], testtrace.MPICall("MPI_Request_free", "request", tag))
				}
				want[to] = append(want[to], fmt.Sprintf("%d,%d,%d,MPI_Irecv,", 1-to, to, tag))
			}
		}
		for to := range want { // those that no call completes stand behind the others
			var done, open []string
			for _, row := range want[to] {
				if strings.HasSuffix(row, "MPI_Irecv,") {
					open = append(open, row)
				} else {
					done = append(done, row)
				}
			}
			want[to] = append(done, open...)
		}
		writeFile(top, "run.rpz", string(testtrace.RecordFile(top, merge.Run{Source: collect.Source}, false, ranks[:])))
		must(top, "export", "run.rpz", "-o", "out.csv", "--by", "message", "--columns",
			"send_rank,recv_rank,tag,recv_function,complete_function")
		lines := strings.Split(strings.TrimSpace(readFile(top, "out.csv")), "\n")[1:]
		if got, want := strings.Join(lines, "\n"), strings.Join(append(want[0], want[1]...), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

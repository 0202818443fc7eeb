package proxy

import (
	"context"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestNoRequestStatus checks that a call that asks for the status of no request is made as it was: there is
// nothing to wait for, and the constant of MPI has no address. One that found a request incomplete is left
// out, and the program says so.
func TestNoRequestStatus(t *testing.T) {
	status := func(request any, flag int) testtrace.Call {
		return testtrace.MPICall("MPI_Request_get_status", "request", request, "flag", flag)
	}
	receive := testtrace.MPICall("MPI_Irecv", "buf", 7, "count", 1, "datatype", "MPI_BYTE", "source", 0, "tag", 1, "comm", "MPI_COMM_SELF", "request", 3)
	calls := []testtrace.Call{testtrace.MPICall("MPI_Init"), status("MPI_REQUEST_NULL", 1), receive, status(3, 0), status("MPI_REQUEST_NULL", 0)}
	p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{calls, calls}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := p.Files[0].Text
	if strings.Contains(main, "&MPI_REQUEST_NULL") || strings.Count(main, "MPI_Request_get_status(MPI_REQUEST_NULL") != 2 || !strings.Contains(main, "left out: 1 call of MPI_Request_get_status, which "+foundNothing) {
		t.Errorf("%s", main)
	}
	if errors := syntax(t, p.Files); errors != "" {
		t.Errorf("%s\n%s", errors, main)
	}
}

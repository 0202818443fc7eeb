package proxy

import (
	"context"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestStatusOfSeveral checks that a call that asks for the status of several requests is made when those are
// complete that it found so, and not at all if it found none.
func TestStatusOfSeveral(t *testing.T) {
	var calls []testtrace.Call
	add := func(name string, pairs ...any) {
		calls = append(calls, testtrace.MPICall(name, append(pairs, "array_of_requests", []any{3, 4})...))
	}
	calls = append(calls, testtrace.MPICall("MPI_Init"))
	for id := 3; id <= 4; id++ {
		calls = append(calls, testtrace.MPICall("MPI_Irecv", "buf", id, "count", 1, "datatype", "MPI_BYTE",
			"source", 0, "tag", id, "comm", "MPI_COMM_SELF", "request", id))
	}
	add("MPI_Request_get_status_all", "flag", 0, "count", 2)
	add("MPI_Request_get_status_all", "flag", 1, "count", 2)
	add("MPI_Request_get_status_any", "flag", 0, "count", 2)
	add("MPI_Request_get_status_any", "flag", 1, "count", 2, "index", 1)
	add("MPI_Request_get_status_some", "incount", 2, "outcount", 0, "array_of_indices", []any{})
	add("MPI_Request_get_status_some", "incount", 2, "outcount", 1, "array_of_indices", []any{1})
	p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{}, false,
		[][]testtrace.Call{calls, calls}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := p.Files[0].Text
	for _, want := range []string{
		"if (until_complete(&request[0], 2)) MPI_Request_get_status_all(2, &request[0]",
		"if (choose(list, 2, &(int){1}, 1)) MPI_Request_get_status_any(2, list",
		"if (choose(list, 2, indices_0, 1)) MPI_Request_get_status_some(2, list",
	} {
		if !strings.Contains(main, want) {
			t.Errorf("no %q", want)
		}
	}
	if len(p.LeftOut) != 3 || t.Failed() {
		t.Errorf("left out %v of\n%s", p.LeftOut, main)
	}
}

// TestNoRequestStatus checks that a call that asks for the status of no request is made as it was: there is
// nothing to wait for, and the constant of MPI has no address. One that found a request incomplete is left
// out, and the program says so.
func TestNoRequestStatus(t *testing.T) {
	status := func(request any, flag int) testtrace.Call {
		return testtrace.MPICall("MPI_Request_get_status", "request", request, "flag", flag)
	}
	receive := testtrace.MPICall("MPI_Irecv", "buf", 7, "count", 1, "datatype", "MPI_BYTE", "source", 0,
		"tag", 1, "comm", "MPI_COMM_SELF", "request", 3)
	calls := []testtrace.Call{testtrace.MPICall("MPI_Init"), status("MPI_REQUEST_NULL", 1), receive,
		status(3, 0), status("MPI_REQUEST_NULL", 0)}
	p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{}, false,
		[][]testtrace.Call{calls, calls}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := p.Files[0].Text
	if strings.Contains(main, "&MPI_REQUEST_NULL") ||
		strings.Count(main, "MPI_Request_get_status(MPI_REQUEST_NULL") != 2 ||
		!strings.Contains(main, "left out: 1 call of MPI_Request_get_status, which "+foundNothing) {
		t.Errorf("%s", main)
	}
	if errors := syntax(t, p.Files); errors != "" {
		t.Errorf("%s\n%s", errors, main)
	}
}

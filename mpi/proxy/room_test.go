package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
)

// TestRoom checks that buffers are as large as what the calls use, of datatypes of the program, too.
func TestRoom(t *testing.T) {
	send := func(count int, datatype any) testtrace.Call {
		return testtrace.MPICall("MPI_Send", "buf", 7, "count", count, "datatype", datatype, "dest",
			"MPI_PROC_NULL", "tag", 0, "comm", "MPI_COMM_WORLD")
	}
	vector := func(count, length, stride int) testtrace.Call {
		return testtrace.MPICall("MPI_Type_vector", "count", count, "blocklength", length, "stride", stride,
			"oldtype", "MPI_INT", "newtype", 3)
	}
	of := func(list ...testtrace.Call) []testtrace.Call { return list }
	for _, tt := range []struct {
		calls []testtrace.Call
		want  string
	}{
		{of(send(100, "MPI_INT")), "0, 400"},
		{of(send(3, "MPI_DOUBLE_INT")), "0, 72"},
		{of(sendFrom(8), send(1, "MPI_BYTE")), "0, 9"},
		{of(sendFrom(-8)), "8, 1"},
		{of(vector(5, 2, 10), send(3, 3)), "0, 624"},
		{of(vector(5, 2, -10), send(3, 3)), "624, 624"},
		{of(testtrace.MPICall("MPI_Type_contiguous", "count", 2, "oldtype", 3, "newtype", 3), send(1, 3)),
			"UNKNOWN, UNKNOWN"},
		{of(testtrace.MPICall("MPI_Type_create_hvector", "count", 2, "blocklength", 1, "stride", 1000,
			"oldtype", "MPI_INT", "newtype", 3), send(1, 3)), "0, 2020"},
		{of(testtrace.MPICall("MPI_Type_create_subarray", "ndims", 2, "array_of_sizes", []any{4, 5},
			"array_of_subsizes", []any{1, 1},
			"array_of_starts", []any{0, 0}, "order", 56, "oldtype", "MPI_INT", "newtype", 3), send(1, 3)), "0, 80"},
		{of(testtrace.MPICall("MPI_Allgather", "sendbuf", 7, "sendcount", 10, "sendtype", "MPI_INT",
			"recvbuf", 8, "recvcount", 10, "recvtype", "MPI_INT",
			"comm", "MPI_COMM_WORLD")), "0, 40"},
		{of(testtrace.MPICall("MPI_Buffer_attach", "buffer", 7, "size", 1000)), "0, 1000"},
	} {
		p, err := programOf(t, tt.calls)
		if err != nil {
			t.Fatal(err)
		}
		if main := p.Files[0].Text; !strings.Contains(main, fmt.Sprintf("buffer[0] = reserve(%s);", tt.want)) {
			t.Errorf("%s:\n%s", tt.want, main)
		}
	}
}

// TestManyBuffers checks that the buffers of a program that allocates often take no more memory than it does.
func TestManyBuffers(t *testing.T) {
	var calls []testtrace.Call
	for i := range 40 {
		calls = append(calls, testtrace.MPICall("MPI_Send", "buf", 100+i, "count", 1+i, "datatype", "MPI_INT",
			"dest", "MPI_PROC_NULL", "tag", 0, "comm", "MPI_COMM_WORLD"))
	}
	p, err := programOf(t, calls)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		if main := p.Files[0].Text; !strings.Contains(main, fmt.Sprintf("{0, %d}", 4+4*i)) {
			t.Errorf("no room for %d in\n%s", 4+4*i, main)
		}
	}
}

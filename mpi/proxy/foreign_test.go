package proxy

import (
	"context"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestForeignHandlers checks that handlers of errors which no call made before one used them are made by the
// program, of the kind that the call takes, and others are not.
func TestForeignHandlers(t *testing.T) {
	calls := []testtrace.Call{
		testtrace.MPICall("MPI_Init"),
		testtrace.MPICall("MPI_Comm_set_errhandler", "comm", "MPI_COMM_WORLD", "errhandler", 7),
		testtrace.MPICall("MPI_Comm_get_errhandler", "comm", "MPI_COMM_WORLD", "errhandler", 7),
		testtrace.MPICall("MPI_Errhandler_free", "errhandler", 7),
		testtrace.MPICall("MPI_File_set_errhandler", "file", "MPI_FILE_NULL", "errhandler", 8),
		testtrace.MPICall("MPI_Comm_get_errhandler", "comm", "MPI_COMM_SELF", "errhandler", 9),
		testtrace.MPICall("MPI_Comm_set_errhandler", "comm", "MPI_COMM_SELF", "errhandler", 9),
		testtrace.MPICall("MPI_Finalize"),
	}
	p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{}, false,
		[][]testtrace.Call{calls, calls}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := p.Files[0].Text
	for _, want := range []string{"PMPI_Comm_create_errhandler(comm_error, &errhandler[0]);",
		"PMPI_File_create_errhandler(file_error, &errhandler[1]);"} {
		if !strings.Contains(main, want) {
			t.Errorf("no %s in %s", want, main)
		}
	}
	if strings.Count(main, "PMPI_") != 2 || len(p.LeftOut) > 0 {
		t.Errorf("%v %s", p.LeftOut, main)
	}
}

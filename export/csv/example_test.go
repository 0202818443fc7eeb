package csv_test

import (
	"context"
	"log"
	"os"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func Example() {
	tr, err := trace.Open("../../internal/test/testtrace/testdata/stencil.exact.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	first := rankenc.World(1)
	chosen := export.TableOptions{
		Options: export.Options{Ranks: &first},
		By:      export.Signatures,
		Columns: []string{"function", "calls"},
	}
	if err := csv.Write(context.Background(), os.Stdout, tr, chosen); err != nil {
		log.Fatal(err)
	}
	// Output:
	// function,calls
	// MPI_Init,1
	// MPI_Comm_rank,1
	// MPI_Comm_size,1
	// MPI_Irecv,50
	// MPI_Irecv,50
	// MPI_Isend,50
	// MPI_Isend,50
	// MPI_Waitall,50
	// MPI_Irecv,50
	// MPI_Irecv,50
	// MPI_Isend,50
	// MPI_Isend,50
	// MPI_Waitall,50
	// MPI_Allreduce,10
	// MPI_Finalize,1
}

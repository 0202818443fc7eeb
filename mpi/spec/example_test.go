package spec_test

import (
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/spec"
)

func ExampleLookup() {
	number, ok := spec.Lookup("MPI_Gatherv")
	if !ok {
		log.Fatal("not in the table")
	}
	for _, p := range spec.Functions()[number].Params {
		fmt.Printf("%-10s %-9v %-4v %q\n", p.Name, p.Type.Kind, p.Direction, p.Length)
	}
	// Output:
	// sendbuf    pointer   in   ""
	// sendcount  int       in   ""
	// sendtype   handle    in   ""
	// recvbuf    pointer   out  ""
	// recvcounts array     in   "peers(comm)"
	// displs     array     in   "peers(comm)"
	// recvtype   handle    in   ""
	// root       rank      in   ""
	// comm       handle    in   ""
}

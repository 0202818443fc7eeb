package semantics_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// Which call began what a rank waits for, in the first MPI_Waitall.
func Example() {
	tr, err := trace.Open("../../internal/test/testtrace/testdata/stencil.exact.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		log.Fatal(err)
	}
	rank, err := model.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for call, err := range rank.Calls(0) {
		if err != nil {
			log.Fatal(err)
		}
		position := call.Position
		o := rank.At(position, call.Terminal)
		if o == nil || len(o.Completes) == 0 {
			continue
		}
		fmt.Printf("%d: %s completes\n", position, call.Function.Name)
		for _, request := range o.Completes {
			began, _, ok := rank.Begun(request, position)
			if !ok {
				continue
			}
			terminal := rank.Walk(began).Next().Symbol
			for _, m := range rank.At(began, terminal).Messages {
				fmt.Printf("%d: %s %d, tag %d, %d bytes\n", began, m.Direction, m.Peer, m.Tag, m.Bytes)
			}
		}
		break
	}
	// Output:
	// 7: MPI_Waitall completes
	// 3: receive 3, tag 1, 8 bytes
	// 4: receive 1, tag 2, 8 bytes
	// 5: send 1, tag 1, 8 bytes
	// 6: send 3, tag 2, 8 bytes
}

package query_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

const stencil = "../internal/test/testtrace/testdata/stencil.exact.rpz"

// Which call receives what rank 0 sends first, and which calls of other ranks are one
// collective operation with the first of rank 0.
func ExampleMatch() {
	tr, err := trace.Open(stencil, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		log.Fatal(err)
	}
	match, err := query.OpenMatch(context.Background(), model, query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(match.Messages, "messages,", len(match.Unmatched), "without the other end")

	rank, err := model.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	sent, joined := false, false
	for call, err := range rank.Calls(0) {
		if err != nil {
			log.Fatal(err)
		}
		position := call.Position
		o := rank.At(position, call.Terminal)
		switch {
		case o == nil:
		case !sent && len(o.Messages) > 0 && o.Messages[0].Direction == semantics.Send:
			partners, err := match.Partner(0, position)
			if err != nil {
				log.Fatal(err)
			}
			for _, p := range partners {
				fmt.Printf("%v: received by rank %d in call %d\n", call, p.Rank, p.Position)
			}
			sent = true
		case !joined && o.IsCollective():
			communicator, k, _, err := match.Instance(0, position)
			if err != nil {
				log.Fatal(err)
			}
			other, err := match.Call(1, communicator, k)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s: call %d of rank 1\n", other.Function, other.Position)
			joined = true
		}
	}
	// Output:
	// 800 messages, 0 without the other end
	// MPI_Isend(buf=seg0+8000, count=1, datatype=-27, dest=1, tag=1, comm=-3, request=16): received by rank 1 in call 3
	// MPI_Allreduce: call 53 of rank 1
}

// What a rank does in the second half of the run.
func ExampleClock() {
	tr, err := trace.Open(stencil, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	times, err := query.OpenTimes(tr)
	if err != nil {
		log.Fatal(err)
	}
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	clock, err := times.Clock(rank)
	if err != nil {
		log.Fatal(err)
	}
	begin, end, err := clock.Span()
	if err != nil {
		log.Fatal(err)
	}
	window, err := clock.Between(begin+(end-begin)/2, end)
	if err != nil {
		log.Fatal(err)
	}
	calls, time := window.Total()
	_, duration, err := clock.Time(window.First)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d calls from call %d on; it takes longer than all do in between: %t\n", calls, window.First,
		float64(duration) > float64(time))
	// Output:
	// 514 calls from call 0 on; it takes longer than all do in between: true
}

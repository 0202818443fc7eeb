package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// Sum the bytes that each rank sends to each other. Package semantics knows which
// arguments of which functions tell that.
func Example_bytesPerPeer() {
	text := "0 init\n1 init\n" +
		strings.Repeat("0 send 1 7 1000 1\n1 recv 0 7 1000 1\n1 send 0 7 10 0\n0 recv 1 7 10 0\n", 500) +
		"0 finalize\n1 finalize\n"
	run, parts, err := simgrid.Record(simgrid.NewReader(strings.NewReader(text), simgrid.Options{}), nil)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}

	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		log.Fatal(err)
	}
	for _, number := range tr.RankSet().All() {
		rank, err := model.Rank(number)
		if err != nil {
			log.Fatal(err)
		}
		sent := make(map[int]int64)
		for o := range rank.All() { // each kind of call once
			for _, m := range o.Operation.Messages {
				if m.Direction == semantics.Send && m.Peer >= 0 && m.Bytes != semantics.Unknown {
					sent[m.Peer] += m.Bytes * int64(o.Count)
				}
			}
		}
		for _, peer := range slices.Sorted(maps.Keys(sent)) {
			fmt.Printf("%d to %d: %d bytes\n", number, peer, sent[peer])
		}
	}
	// Output:
	// 0 to 1: 2000000 bytes
	// 1 to 0: 40000 bytes
}

// Find the call that a rank is in at a time, from statistics: each call is taken to
// last as long as its like do on average.
func Example_callAtTime() {
	var r tracer.Recorder
	compute := r.Declare(cst.Function{Name: "compute"})
	exchange := r.Declare(cst.Function{Name: "exchange",
		Params: []cst.Param{{Name: "peer", Type: cst.Type{Kind: cst.KindRank}}}})
	now := int64(0) // nanoseconds
	for i := range int64(1_000_000) {
		r.CallAt(compute, now, 900)
		r.CallAt(exchange, now+900, 80+i%41, cst.Rank(1))
		now += 1000
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}

	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	times, err := query.OpenTimes(tr)
	if err != nil {
		log.Fatal(err)
	}
	clock, err := times.Clock(rank)
	if err != nil {
		log.Fatal(err)
	}
	place, err := clock.At(500_000_950) // costs the depth of the grammar, not the calls before
	if err != nil {
		log.Fatal(err)
	}
	for call, err := range clock.Calls(place.Position) {
		if err != nil {
			log.Fatal(err)
		}
		position := call.Position
		fmt.Printf("call %d, %v, from %d ns on, by %v\n", position, call, call.Start, clock.Source())
		break
	}
	// Output:
	// call 1000001, exchange(peer=1), from 500000894 ns on, by statistics
}

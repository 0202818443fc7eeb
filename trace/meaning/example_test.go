package meaning_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
	"github.com/reprise-trace/reprise/tracer"
)

// A pipeline is the functions of a program: each rank takes items from a queue of the rank before, works on
// them for as long as it says, and puts them into a queue of the next. At the end, all writers meet.
type pipeline struct{}

func (pipeline) Groups() []meaning.Group {
	return []meaning.Group{{Name: "writers", Ranks: []int{0, 1}}}
}

func (pipeline) Of(rank int, c *trace.Call) meaning.Operation {
	switch c.Function.Name {
	case "take":
		return meaning.Operation{Receives: []meaning.Message{{Peer: rank - 1, Bytes: meaning.Unknown}}}
	case "work":
		ms, _ := c.Arg("ms")
		return meaning.Operation{Computes: time.Duration(ms.Int()) * time.Millisecond}
	case "put": // into a queue that takes some items, until "flushed" waits for all
		size, _ := c.Arg("bytes")
		return meaning.Operation{Sends: []meaning.Message{{Peer: rank + 1, Bytes: size.Int(), Request: 1}}}
	case "flushed":
		return meaning.Operation{Completes: []int64{1, 1, 1}}
	case "meet":
		return meaning.Operation{Collective: &meaning.Collective{Group: "writers", Kind: meaning.Together}}
	}
	return meaning.Operation{}
}

// A trace of a pipeline of three ranks is replayed, and its messages are counted.
func Example() {
	number := func(name string) []cst.Param {
		return []cst.Param{{Name: name, Type: cst.Type{Kind: cst.KindInt}}}
	}
	var parts []merge.Part
	for rank := range 3 {
		var r tracer.Recorder
		take := r.Declare(cst.Function{Name: "take"})
		work := r.Declare(cst.Function{Name: "work", Params: number("ms")})
		put := r.Declare(cst.Function{Name: "put", Params: number("bytes")})
		for range 3 {
			if rank > 0 {
				r.Call(take)
			}
			if r.Call(work, cst.Int(int64(10*(rank+1)))); rank < 2 {
				r.Call(put, cst.Int(4096))
			}
		}
		if rank < 2 {
			r.Call(r.Declare(cst.Function{Name: "flushed"}))
			r.Call(r.Declare(cst.Function{Name: "meet"}))
		}
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	check(merge.Write(&file, merge.Run{Ranks: 3, Source: "pipeline"}, parts))

	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	check(err)
	model, err := semantics.OpenWith(tr, pipeline{})
	check(err)
	recorded, err := replay.NewRecorded(tr)
	check(err)
	result, err := replay.Run(context.Background(), model, recorded)
	check(err)
	check(recorded.Err())
	for _, r := range result.Ranks {
		fmt.Printf("rank %d computes %v and waits %v\n", r.Rank, r.Computing, r.Waiting)
	}
	messages, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
	check(err)
	for pair := range messages.Traffic.All() {
		fmt.Printf("%d to %d: %d messages, %d bytes\n", pair.Source, pair.Destination, pair.Messages, pair.Bytes)
	}
	// Output:
	// rank 0 computes 30ms and waits 40ms
	// rank 1 computes 60ms and waits 10ms
	// rank 2 computes 90ms and waits 30ms
	// 0 to 1: 3 messages, 12288 bytes
	// 1 to 2: 3 messages, 12288 bytes
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

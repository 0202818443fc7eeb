package merge_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// Every rank sends to the next one. What differs is a number, and the sequence
// of calls is stored once.
func ExampleWrite() {
	const ranks = 8
	send := cst.Function{Name: "send", Params: []cst.Param{{Name: "dest", Type: cst.Type{Kind: cst.KindRank}}}}
	barrier := cst.Function{Name: "barrier"}

	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		send, barrier := r.Declare(send), r.Declare(barrier)
		for range 1000 {
			r.Call(send, cst.Rank(int64(rank+1)%ranks))
			r.Call(barrier)
		}
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: ranks, Source: "example"}, parts); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tr.Run().Ranks, "ranks of", tr.Shapes(), "shape")
	part, err := tr.Part(7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(part.Grammar)
	// Output:
	// 8 ranks of 1 shape
	// S → (0 1)^1000
}

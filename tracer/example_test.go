package tracer_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

func ExampleRecorder() {
	var r tracer.Recorder
	read := r.Declare(cst.Function{Name: "read", Params: []cst.Param{
		{Name: "file", Type: cst.HandleOf("file")},
		{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out},
	}})
	sync := r.Declare(cst.Function{Name: "sync"})
	for range 1_000_000 {
		for range 3 {
			r.Call(read, cst.Handle(3), cst.Int(4096))
		}
		r.Call(sync)
	}
	r.Call(read, cst.Handle(3), cst.Int(17))

	part := r.Finish(0)
	fmt.Println(part.Grammar.Len(), "calls,", part.Table.Len(), "signatures")
	fmt.Println(part.Grammar)
	// Output:
	// 4000001 calls, 3 signatures
	// S → (0^3 1)^1000000 2
}

// Processes that do not share memory each write a part file of their own rank;
// who collects the files merges them, on all cores.
func Example_processes() {
	const ranks = 100
	send := cst.Function{Name: "send", Params: []cst.Param{{Name: "dest", Type: cst.Type{Kind: cst.KindRank}}}}
	process := func(rank int) []byte { // runs in a process of its own
		var r tracer.Recorder
		fn := r.Declare(send)
		for range 1000 {
			r.Call(fn, cst.Rank(int64(rank+1)%ranks))
		}
		var part merge.Accumulator
		if err := part.Describe(merge.Run{Ranks: ranks, Source: "example"}); err != nil {
			log.Fatal(err)
		}
		if err := part.Add(r.Finish(rank)); err != nil {
			log.Fatal(err)
		}
		var file bytes.Buffer
		if err := part.WritePart(&file); err != nil {
			log.Fatal(err)
		}
		return file.Bytes()
	}

	all, err := merge.Tree(context.Background(), ranks, func(_ context.Context, rank int) (*merge.Accumulator, error) {
		file := process(rank)
		container, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
		if err != nil {
			return nil, err
		}
		return merge.ReadPart(container)
	}, merge.TreeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := all.Write(&file); err != nil {
		log.Fatal(err)
	}

	trace, err := reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	rank, err := trace.Rank(99)
	if err != nil {
		log.Fatal(err)
	}
	shape, err := trace.Merged().Signature(0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(trace.Ranks(), "ranks call", shape)
	fmt.Println("rank 99 called", rank.Call(0), rank.Len(), "times")
	// Output:
	// 100 ranks call send(dest=(rank+1) mod N)
	// rank 99 called send(dest=0) 1000 times
}

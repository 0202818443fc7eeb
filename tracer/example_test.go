package tracer_test

import (
	"bytes"
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

// Processes that do not share memory each write a trace of their own rank; who
// collects the files makes one trace of them.
func Example_processes() {
	barrier := cst.Function{Name: "barrier"}
	const ranks = 3
	process := func(rank int) []byte { // runs in a process of its own
		var r tracer.Recorder
		fn := r.Declare(barrier)
		for range 10 {
			r.Call(fn)
		}
		var file bytes.Buffer
		if err := merge.Write(&file, merge.Run{Ranks: ranks, Source: "example"}, []merge.Part{r.Finish(rank)}); err != nil {
			log.Fatal(err)
		}
		return file.Bytes()
	}

	var parts []merge.Part
	for rank := range ranks {
		file := process(rank)
		container, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
		if err != nil {
			log.Fatal(err)
		}
		trace, err := merge.Open(container)
		if err != nil {
			log.Fatal(err)
		}
		part, err := trace.Part(rank)
		if err != nil {
			log.Fatal(err)
		}
		parts = append(parts, part)
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: ranks, Source: "example"}, parts); err != nil {
		log.Fatal(err)
	}
	trace, err := reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	for rank := range trace.Active() {
		r, err := trace.Rank(rank)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("rank", rank, "called", r.Len(), "times")
	}
	// Output:
	// rank 0 called 10 times
	// rank 1 called 10 times
	// rank 2 called 10 times
}

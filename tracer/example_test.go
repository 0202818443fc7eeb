package tracer_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
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

package extrapolate_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// shift returns the trace of a program in which each process sends its share of 4,800 numbers to the next.
func shift(ranks int) *trace.Trace {
	send := cst.Function{Name: "Send", Params: []cst.Param{{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "to", Type: cst.Type{Kind: cst.KindRank}}}}
	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		fn := r.Declare(send)
		for range 100 {
			r.Call(fn, cst.Int(int64(4800/ranks)), cst.Rank(int64((rank+1)%ranks)))
		}
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: ranks}, parts); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return tr
}

func Example() {
	result, err := extrapolate.Make(context.Background(), []*trace.Trace{shift(4), shift(6), shift(32)},
		extrapolate.Options{Ranks: 1200, Check: query.Faults})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Fits {
		fmt.Println(f.Function, f.Parameter, "=", f.Expression)
	}
	var file bytes.Buffer
	if err := result.Write(&file); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	last, err := tr.Rank(1199)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(last.Len(), "times", last.Call(0))
	// Output:
	// Send count = 4800/N
	// Send to = (rank+1) mod N
	// 100 times Send(count=4, to=0)
}

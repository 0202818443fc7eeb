package bench

import (
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/tracer"
)

// send is a call of six arguments, as tracers see most.
var send = cst.Function{Name: "MPI_Send", Params: []cst.Param{
	{Name: "buf", Type: cst.Type{Kind: cst.KindPointer}},
	{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
	{Name: "datatype", Type: cst.HandleOf("datatype")},
	{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
	{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
	{Name: "comm", Type: cst.HandleOf("comm")},
}}

// Record reports the cost of interning the signature of a call with six
// arguments, over the number of different signatures, and of recording it.
func Record(w io.Writer) error {
	var tasks []task
	for _, n := range []int{1, 64, 10_000, 1_000_000} {
		table := new(cst.Table)
		fn := table.Declare(send)
		intern := func() {
			for i := range 1_000_000 {
				table.Intern(fn, cst.PointerTo(cst.Pointer{Segment: 3, Displacement: 4096}), cst.Int(int64(i%n)),
					cst.Handle(2), cst.Rank(17), cst.Tag(99), cst.Handle(0))
			}
		}
		intern() // from here on, every call is a hit
		tasks = append(tasks, task{fmt.Sprintf("intern, %d signatures", n), 1_000_000, intern})
	}
	var r tracer.Recorder
	fn := r.Declare(send)
	record := func() {
		for i := range 1_000_000 {
			r.Call(fn, cst.PointerTo(cst.Pointer{Segment: 3, Displacement: 4096}), cst.Int(int64(i%64)),
				cst.Handle(2), cst.Rank(17), cst.Tag(99), cst.Handle(0))
		}
	}
	record()
	tasks = append(tasks, task{"record in a loop of 64 calls", 1_000_000, record})
	fmt.Fprintf(w, "| call of 6 arguments | ns/call | range | allocs/call |\n|---|---|---|---|\n")
	for _, r := range measure(tasks) {
		fmt.Fprintf(w, "| %s | %s | %.6f |\n", r.name, r.cells(), r.allocs)
	}
	return nil
}

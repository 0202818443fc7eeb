package tracer

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

// BenchmarkRecord records a steady loop of calls with six arguments: eight sends,
// then eight receives.
func BenchmarkRecord(b *testing.B) {
	function := func(name string) cst.Function {
		return cst.Function{Name: name, Params: []cst.Param{
			{Name: "buffer", Type: cst.Type{Kind: cst.KindPointer}},
			{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
			{Name: "datatype", Type: cst.HandleOf("datatype")},
			{Name: "peer", Type: cst.Type{Kind: cst.KindRank}},
			{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
			{Name: "comm", Type: cst.HandleOf("comm")},
		}}
	}
	var r Recorder
	functions := [2]int{r.Declare(function("MPI_Send")), r.Declare(function("MPI_Recv"))}
	i := int64(0)
	call := func() {
		buffer := cst.PointerTo(cst.Pointer{Segment: 1, Displacement: 4096 * (i & 7)})
		r.Call(functions[i>>3&1], buffer, cst.Int(1024), cst.Handle(2), cst.Rank(i&7), cst.Tag(99), cst.Handle(0))
		i++
	}
	for range 1000 {
		call()
	}
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
	b.ReportMetric(0, "ns/op")
}

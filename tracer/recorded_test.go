package tracer_test

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/tracertest"
	"github.com/reprise-trace/reprise/tracer"
)

// TestRecorded records calls of a process that is not the first of its run, in threads in turn, in one
// another, and with arguments of all kinds.
func TestRecorded(t *testing.T) {
	p := tracertest.Open(t, tracer.Config{Rank: 2, Ranks: 3, Source: "test"})
	outer := tracer.Func(
		cst.Function{Name: "outer", Params: []cst.Param{{Name: "to", Type: cst.Type{Kind: cst.KindRank}}}})
	inner := tracer.Func(cst.Function{Name: "inner", Params: []cst.Param{
		{Name: "list", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})},
		{Name: "x", Type: cst.Type{Kind: cst.KindFloat}},
		{Name: "text", Type: cst.Type{Kind: cst.KindString}}, {Name: "file", Type: cst.HandleOf("file")},
		{Name: "status", Type: cst.Type{Kind: cst.KindStatus}, Direction: cst.Out}}})
	threads := []*tracer.Thread{p.Thread(), p.Thread(), p.Thread()}
	for round := range int64(20) {
		for k, thread := range threads {
			begun := thread.Begin()
			within := thread.Begin()
			thread.End(inner, within, cst.Array(cst.Int(round%2), cst.Int(-1)), cst.Float(0.5),
				cst.String("a\nb"), cst.Handle(round%3),
				cst.StatusOf(cst.Status{Source: int64(k), Tag: 7}))
			thread.End(outer, begun, cst.Rank(round))
		}
	}
	var want []string
	for k, thread := range threads {
		thread.Release()
		number := ""
		if k > 0 {
			number = fmt.Sprintf("thread=%d, ", k)
		}
		for round := range 20 {
			want = append(want,
				fmt.Sprintf(`inner(%slist=[%d -1], x=0.5, text="a\nb", file=%d, status={source=%d, tag=7, error=0})`, number, round%2, round%3, k),
				fmt.Sprintf("outer(%sto=%d)", number, round))
		}
	}
	p.Check(t, want...)
}

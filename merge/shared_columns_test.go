package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestSharedColumns has ranks of two or three neighbours send what they received, again and again, with other
// counts each time, so that requests keep the signatures of what is sent apart by shapes: however many counts there
// are that no expression yields, few are written twice.
func TestSharedColumns(t *testing.T) {
	const ranks, rounds = 12, 400
	size := func(sends bool) int {
		var a Accumulator
		for rank := range ranks {
			var (
				table cst.Table
				b     sequitur.Builder
			)
			r := rand.New(rand.NewPCG(1, uint64(rank)))
			neighbours := 2
			if rank%3 == 0 {
				neighbours = 3
			}
			call := func(name string, count, i, request int) {
				f := cst.Function{Name: name, Params: []cst.Param{
					{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
					{Name: "peer", Type: cst.Type{Kind: cst.KindRank}},
					{Name: "request", Type: cst.HandleOf("request")},
				}}
				b.Append(table.Intern(table.Declare(f), cst.Int(int64(count)), cst.Rank(int64((rank+1+i)%ranks)),
					cst.Handle(int64(request))))
			}
			for range rounds {
				var counts []int
				for i := range neighbours {
					counts = append(counts, r.IntN(5000))
					call("receive", counts[i], i, i)
				}
				for i := 0; i < neighbours && sends; i++ {
					call("send", counts[i], i, neighbours+i)
				}
			}
			if err := a.Add(Part{Rank: rank, Table: &table, Grammar: b.Finish()}); err != nil {
				t.Fatal(err)
			}
		}
		var file bytes.Buffer
		if err := a.Write(&file); err != nil {
			t.Fatal(err)
		}
		return file.Len()
	}
	received, both := size(false), size(true)
	if both > received+received/2 {
		t.Errorf("%d bytes with what is sent, %d without", both, received)
	}
}

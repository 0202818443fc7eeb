package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestIrregularSmall checks that calls at random take about the information in them: blocks save little
// of the grammar there, but they need no signatures in the order of their first use.
func TestIrregularSmall(t *testing.T) {
	const counts, calls = 4000, 40_000
	f := cst.Function{Name: "work", Params: []cst.Param{{Name: "x", Type: cst.Type{Kind: cst.KindInt}}}}
	random := rand.New(rand.NewPCG(7, 8))
	var table cst.Table
	var b sequitur.Builder
	for range calls {
		b.Append(table.Intern(table.Declare(f), cst.Int(random.Int64N(counts))))
	}
	parts := []Part{{Table: &table, Grammar: b.Finish()}}
	file := write(t, Run{Ranks: 1}, parts)
	if most := 1.02*math.Log2(counts)*calls/8 + 200; float64(len(file)) > most {
		t.Errorf("%d bytes, more than %.0f", len(file), most)
	}
	checkCalls(t, open(t, file), parts)
}

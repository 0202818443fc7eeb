package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"

	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestIrregularSmall checks that calls at random take about the information in them: where blocks save little
// of the grammar, but need no signatures in the order of their first use, and where streams save more of the
// grammar than of blocks.
func TestIrregularSmall(t *testing.T) {
	tier.SlowRace(t)
	const calls = 40_000
	f := cst.Function{Name: "work", Params: []cst.Param{{Name: "x", Type: cst.Type{Kind: cst.KindInt}}}}
	random := rand.New(rand.NewPCG(7, 8))
	var at [2]int64
	for _, tt := range []struct {
		name string
		next func() int64
		bits float64 // of information, of a call
		most float64 // times that
	}{
		{"uniform", func() int64 { return random.Int64N(4000) }, math.Log2(4000), 1.02},
		{"interleaved loops", func() int64 {
			k := random.IntN(2)
			at[k]++
			return []int64{31, 4, 15, 9, 26, 5, 35, 8, 97, 93, 23, 84}[at[k]%int64(7-2*k)+int64(7*k)]
		}, 1, 1.25},
	} {
		var table cst.Table
		var b sequitur.Builder
		for range calls {
			b.Append(table.Intern(table.Declare(f), cst.Int(tt.next())))
		}
		parts := []Part{{Table: &table, Grammar: b.Finish()}}
		file := write(t, Run{Ranks: 1}, parts)
		if most := tt.most*tt.bits*calls/8 + 200; float64(len(file)) > most {
			t.Errorf("%s: %d bytes, more than %.0f", tt.name, len(file), most)
		}
		checkCalls(t, open(t, file), parts)
	}
}

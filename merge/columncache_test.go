package merge

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

// TestColumnCache checks that no more columns are kept than fit, whatever the
// order in which ranks are read, and that they are read again.
func TestColumnCache(t *testing.T) {
	const ranks = 500
	var parts []Part
	for rank := range ranks {
		parts = append(parts, recorded(rank, 30, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", i), cst.Type{Kind: cst.KindInt}), cst.Int(int64(irregular(rank, i)))
		}))
	}
	file := write(t, Run{Ranks: ranks}, parts)
	whole := open(t, file)
	checkCalls(t, whole, parts)
	column := whole.columns.size / 30
	if len(whole.columns.columns) != 30 || column < 4*ranks {
		t.Fatalf("%d columns of %d bytes", len(whole.columns.columns), whole.columns.size)
	}
	for _, fit := range []int{0, 1, 7, 29, 30} {
		trace := open(t, file)
		trace.columns.most = fit * (column + 9)
		held := 0
		for i := range ranks {
			rank := i * 7 % ranks
			if err := sameCalls(readPart(t, trace, rank), parts[rank]); err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
			size := 0
			for _, c := range trace.columns.columns {
				size += c.size
			}
			if size != trace.columns.size {
				t.Fatalf("columns of %d bytes, taken for %d", size, trace.columns.size)
			}
			held = max(held, len(trace.columns.columns))
		}
		if want := max(fit, 1); held != want { // the last one is kept in any case
			t.Errorf("%d columns are kept, want %d", held, want)
		}
	}
}

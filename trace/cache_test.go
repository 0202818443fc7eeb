package trace

import (
	"fmt"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

// irregularParts returns the parts of so many ranks, which call the same functions, each once, with numbers
// that follow no rule, the first of them twice: these calls may be equal.
func irregularParts(ranks, functions, number int) (parts []merge.Part) {
	for rank := range ranks {
		parts = append(parts, recordedCalls(number+rank, functions+1, func(i int) (cst.Function, cst.Value) {
			f := numbered(fmt.Sprint("f", number, max(i, 1)), cst.Type{Kind: cst.KindInt})
			return f, cst.Int(int64(irregular(rank, i)))
		}))
	}
	return parts
}

// TestLargeShapeStays reads ranks of a shape that is larger than what may be kept, and has more columns than
// may be kept: it is not read again for each rank, and what was found out about it stays, too.
func TestLargeShapeStays(t *testing.T) {
	const ranks, functions = 60, 40
	parts := irregularParts(ranks, functions, 0)
	trace := openTrace(t, writeTrace(t, ranks, parts...))
	trace.held = 0 // the shape keeps no columns
	shape, err := trace.shape(0)
	if err != nil {
		t.Fatal(err)
	}
	trace.caches.shapes.clear()
	trace.caches.shapes.most = shape.size() - 1
	trace.caches.columns.most = 5 * (columnOverhead + 8*ranks)
	if shape, err = trace.shape(0); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if checkCallsOf(t, trace, p); trace.shapes[0].value.Load() != shape {
			t.Fatalf("the shape is not kept while rank %d is read", p.Rank)
		}
	}
	if len(shape.unions.byRank) == 0 {
		t.Error("no room for unions")
	}
}

// TestFullCache reads ranks of a shape where others fill the cache: these go for what is found out about it.
func TestFullCache(t *testing.T) {
	const ranks, functions, others = 60, 40, 8
	parts := irregularParts(ranks, functions, 0)
	for i := range others {
		parts = append(parts, irregularParts(1, functions, ranks+i)...)
	}
	trace := openTrace(t, writeTrace(t, len(parts), parts...))
	if trace.Shapes() != 1+others {
		t.Fatalf("%d shapes", trace.Shapes())
	}
	for i := range trace.Shapes() {
		if _, err := trace.shape(i); err != nil {
			t.Fatal(err)
		}
	}
	c := trace.caches.shapes
	trace.caches.columns.most = 5 * (columnOverhead + 8*ranks)
	all := c.size
	c.most = 1
	checkCallsOf(t, trace, parts[0])
	shape := trace.shapes[0].value.Load()
	if kept := shape.kept.Load(); kept != nil || len(shape.unions.byRank) > 0 {
		t.Fatalf("columns %+v and %d unions are kept without room", kept, len(shape.unions.byRank))
	}
	c.most = all
	for i := range trace.Shapes() {
		if _, err := trace.shape(i); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range parts[:ranks] {
		checkCallsOf(t, trace, p)
	}
	kept := shape.kept.Load()
	if trace.shapes[0].value.Load() != shape || kept == nil || len(kept.columns) < functions ||
		len(shape.unions.byRank) != ranks {
		t.Errorf("columns %+v, %d unions are kept, want all", kept, len(shape.unions.byRank))
	}
	if c.size > c.most {
		t.Errorf("%d bytes are kept, more than %d", c.size, c.most)
	}
}

// TestEvictedShapeIsNotCounted has a shape that is used when it is not kept any more: what is found out about
// it is not counted for the one in its place, and what is counted for this is given back.
func TestEvictedShapeIsNotCounted(t *testing.T) {
	parts := irregularParts(9, 5, 0)
	trace := openTrace(t, writeTrace(t, len(parts), parts...))
	c := trace.caches.shapes
	old, err := trace.shape(0)
	if err != nil {
		t.Fatal(err)
	}
	c.clear()
	if old.hasRoom(100) || c.size != 0 {
		t.Errorf("%d bytes are counted for a shape that is not kept", c.size)
	}
	if _, err := trace.shape(0); err != nil {
		t.Fatal(err)
	}
	if old.hasRoom(100) || c.size != old.size() {
		t.Errorf("%d bytes are counted for a shape of %d", c.size, old.size())
	}
	checkCallsOf(t, trace, parts[0])
	if c.size <= old.size() {
		t.Error("nothing is counted for columns and unions")
	}
	if c.clear(); c.size != 0 || len(c.kept) != 0 {
		t.Errorf("%d bytes are counted for nothing", c.size)
	}
}

// TestCacheBudget checks that the caches of a trace share one budget, also without a limit of memory: AlignTrace
// and the workers of a pipeline hold several such traces at once.
func TestCacheBudget(t *testing.T) {
	for _, tt := range []struct {
		memory uint64
		want   int
	}{{0, 0}, {1 << 20, 1 << 18}, {512 << 20, 128 << 20}, {math.MaxInt64, 128 << 20}} {
		c := newCaches(tt.memory)
		if got := c.shapes.most + c.columns.most + c.blocks.most; got != tt.want {
			t.Errorf("caches of %d bytes where a trace may take %d, want %d", got, tt.memory, tt.want)
		}
	}
}

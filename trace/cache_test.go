package trace

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
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
		got := c.shapes.most + c.columns.most + c.grammars.most
		if got != tt.want || c.times.most != tt.want/2 {
			t.Errorf("caches of %d bytes, and %d for times, where a trace may take %d, want %d and half of that",
				got, c.times.most, tt.memory, tt.want)
		}
	}
}

// TestKeptSpreads has a rank whose arguments advance keep the calls with its values, as long as there is room, and
// those apart of which other arguments are told apart.
func TestKeptSpreads(t *testing.T) {
	var r tracer.Recorder
	params := []cst.Param{{Name: "a", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "b", Type: cst.Type{Kind: cst.KindInt}}}
	f := r.Declare(cst.Function{Name: "f", Params: params})
	for i := range int64(100) {
		r.Call(f, cst.Int(8*i), cst.Int(3*i))
	}
	var a merge.Accumulator
	if err := cmp.Or(a.Describe(merge.Run{Ranks: 1}), a.Add(r.Finish(0))); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	trace := openBytes(t, b.Bytes())
	folded := func(kept int) *Rank {
		r, err := trace.Folded(0, func(_, param int) bool { return param == kept })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := readRank(t, trace, 0)
	if again := folded(0); readRank(t, trace, 0).flow != first.flow || folded(0).flow != again.flow {
		t.Error("the calls of a rank are made again")
	}
	if folded(0).flow == folded(1).flow || folded(0).flow == first.flow || folded(2).Terminals() >= 100 {
		t.Error("the calls of a rank are those with other values")
	}
	trace.caches.grammars.clear()
	if again := readRank(t, trace, 0); again.flow == first.flow || again.Call(99).String() != first.Call(99).String() {
		t.Error("the calls of a rank are kept without room, or are others")
	}
}

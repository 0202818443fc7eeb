package mixing

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

// TestWork has less and less work for a block: it is written as long as there is enough, in a form that is
// chosen as far as there is more, and what it took is counted.
func TestWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, a := drawMembers(t)
		whole := Work(math.MaxInt)
		blocks, ok := Append(context.Background(), nil, members, a, math.MaxInt, &whole)
		if !ok {
			t.Skip("no block")
		}
		took := math.MaxInt - whole
		if took == 0 {
			t.Skip("no members")
		}
		enough := took
		same, ok := Append(context.Background(), nil, members, a, math.MaxInt, &enough)
		if ok && enough < 0 {
			t.Fatalf("%d bits more than there were", -enough)
		}
		if ok && len(same) != len(blocks) {
			t.Fatalf("%d blocks, want %d", len(same), len(blocks))
		}
		none := Work(0)
		if _, ok := Append(context.Background(), nil, members, a, math.MaxInt, &none); ok {
			t.Fatal("blocks without work")
		}
		if none > 0 || -none > took {
			t.Fatalf("%d bits left of none", none)
		}
	})
}

// TestFewTables has a stream of values that go on and on as before, so that the block may have a thousandth of the
// table that suits so many of them: few sizes are tried.
func TestFewTables(t *testing.T) {
	const calls, period, most = 20_000, 100, 5
	a := Alphabet{
		Class: []uint32{0}, Variant: []uint32{0}, Group: []uint32{0},
		Streams: [][]int{{0}}, Values: [][]int64{make([]int64, period)},
	}
	x := Member{Streams: make([][]uint32, 1)}
	var b sequitur.Builder
	b.AppendRun(0, calls)
	x.Grammar = b.Finish()
	for i := range calls {
		a.Values[0][i%period] = int64(i % period)
		x.Streams[0] = append(x.Streams[0], uint32(i%period))
	}
	left := Work(math.MaxInt64)
	w := mixedWriter{ctx: t.Context(), left: &left, members: []Member{x}, alphabet: a, most: math.MaxInt}
	if !w.prepare(1) {
		t.Fatal("not written")
	}
	parts := w.parts(maxItems)
	w.code(&parts[0], tableOf(calls))
	one := math.MaxInt64 - left
	left = math.MaxInt64
	c := w.fitting(&parts[0])
	ok := w.fits(&parts[0], c)
	if took := math.MaxInt64 - left; !ok || took > most*one {
		t.Errorf("%d bits for a block of %d bytes, %v, %d for one of any size", took, len(c.block), ok, one)
	}
}

package mixing

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/sequitur"
	"pgregory.net/rapid"
)

// drawItems draws nested loops.
func drawItems(t *rapid.T, depth int) []item {
	var list []item
	for range rapid.IntRange(1, 6).Draw(t, "items") {
		if depth > 0 && rapid.IntRange(0, 2).Draw(t, "loop") == 0 {
			body := drawItems(t, depth-1)
			length := uint64(0)
			for _, x := range body {
				if x.body == nil {
					length += x.count
				} else {
					length += x.count * x.length
				}
			}
			list = append(list, item{body: body, length: length, count: rapid.Uint64Range(1, 9).Draw(t, "rounds")})
			continue
		}
		list = append(list, item{symbol: sequitur.Symbol(rapid.IntRange(0, 4).Draw(t, "symbol")),
			count: rapid.Uint64Range(1, 3).Draw(t, "count")})
	}
	return list
}

// appendAll appends what items stand for, run by run.
func appendAll(b *sequitur.Builder, list []item) {
	for _, x := range list {
		if x.body == nil {
			b.AppendRun(x.symbol, x.count)
			continue
		}
		for range x.count {
			appendAll(b, x.body)
		}
	}
}

// TestNest checks that a nestBuilder makes the grammar that a Builder makes of the same
// sequence, and that the items of that grammar make it again.
func TestNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawItems(t, 3)
		var b sequitur.Builder
		appendAll(&b, list)
		want := b.Finish()
		for _, how := range []folding{{unrolled: fewTimes}, {unrolled: manyTimes}, {fewTimes, true},
			{manyTimes, true}} {
			nest := nestBuilder{left: math.MaxInt}
			nest.append(list)
			if got := nest.Finish(); !got.Equal(want) {
				t.Fatalf("%v, not %v", got, want)
			}
			var ok bool
			if list, ok = itemsOf(want, math.MaxInt, how); !ok {
				t.Fatal("no items")
			}
		}
	})
}

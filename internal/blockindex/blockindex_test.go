package blockindex

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// TestIndex checks what an index says of blocks against the blocks, and that a clipped Builder goes on alone.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			b      Builder
			firsts = []uint64{0}
			sizes  []int
			pieces []int
		)
		for i := range rapid.IntRange(0, 9).Draw(t, "blocks") {
			calls, size := rapid.Uint64Range(1, 5).Draw(t, "calls"), rapid.IntRange(0, 300).Draw(t, "size")
			piece := i > 0 && rapid.Bool().Draw(t, "piece")
			other := b.Clip()
			other.Add(9, 9, false)
			b.Add(calls, size, piece)
			firsts, sizes = append(firsts, firsts[i]+calls), append(sizes, size)
			if piece || i == 0 {
				pieces = append(pieces, i)
			}
		}
		head := b.Append(nil)
		x, err := Parse(append(head, 1, 2, 3))
		if err != nil || x.HeadSize() != len(head) || x.Blocks() != len(sizes) ||
			uint64(x.Blocks()) != b.Blocks() || !slices.Equal(x.Pieces(), pieces) {
			t.Fatalf("%+v, %v, want %d blocks, pieces %v", x, err, len(sizes), pieces)
		}
		end := len(head)
		for i, size := range sizes {
			if begin, to := x.Range(i); begin != end || to != end+size {
				t.Fatalf("block %d is from %d to %d, want %d and %d bytes", i, begin, to, end, size)
			}
			end += size
		}
		if x.Size() != end || x.Len() != firsts[len(sizes)] {
			t.Fatalf("%d bytes, %d calls, want %d, %d", x.Size(), x.Len(), end, firsts[len(sizes)])
		}
		for call := range x.Len() {
			block, first := x.Find(call)
			if first != firsts[block] || call < first || call >= firsts[block+1] || x.First(block) != first {
				t.Fatalf("call %d is in block %d from %d on, want %v", call, block, first, firsts)
			}
		}
		data := append(head, bytes.Repeat([]byte{7}, end-len(head))...)
		if again, err := Join(data); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("joined with nothing: %x, %v", again, err)
		}
		twice, err := Join(data, data)
		if err != nil {
			t.Fatal(err)
		}
		if y, err := ParseWhole(twice); err != nil || y.Len() != 2*x.Len() || len(y.Pieces()) != 2*len(pieces) {
			t.Fatalf("joined with itself: %+v, %v", y, err)
		}
	})
}

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	var b Builder
	b.Add(1, 2, false)
	x, err := Parse(b.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	misuse.Panic(t, "timing", map[string]func(){
		"first of a block after": func() { x.First(5) },
		"range of a block after": func() { x.Range(5) },
		"call beyond the index":  func() { x.Find(1) },
	})
	misuse.Harmless(t, map[string]func(){
		"nothing": func() {
			Join()
			Join(nil)
			Parse(nil)
			ParseWhole(nil)
		},
	})
}

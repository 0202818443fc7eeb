package merge

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestEncodings checks that what is kept is what is written without it, whether there is room for more
// or not.
func TestEncodings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := newEncodings()
		if rapid.Bool().Draw(t, "little room") {
			e.bytes = maxEncoded - rapid.IntRange(0, 1000).Draw(t, "left")
		}
		var none *encodings
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 4), 1, 4).Draw(t, "lists")
		keys := []digest{sha256.Sum256([]byte("first")), sha256.Sum256([]byte("second"))}
		for range 30 {
			list := rapid.SampledFrom(lists).Draw(t, "list")
			key := rapid.IntRange(0, 1).Draw(t, "domain")
			d := rankenc.Over(rankenc.World(len(list)), len(list)+key)
			o := rankenc.Options{Ranks: rapid.Bool().Draw(t, "ranks")}
			if got, want := e.appendNumbers([]byte("x"), list), layout.AppendNumbers([]byte("x"), list); !bytes.Equal(got, want) {
				t.Fatalf("%v: %x, not %x", list, got, want)
			}
			got := e.column(d, keys[key], list, o)
			if want := none.column(d, keys[key], list, o); !bytes.Equal(got, want) {
				t.Fatalf("%v: %x, not %x", list, got, want)
			}
			_ = append(got, 1) // does not change what is kept
		}
		if e.bytes > maxEncoded {
			t.Fatalf("%d bytes are kept", e.bytes)
		}
	})
}

// TestEncodingsOfMatrices checks that a matrix is that which follows from those before it.
func TestEncodingsOfMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks, length = 3, 2
		d := rankenc.Over(rankenc.World(ranks), ranks)
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(-3, 3), ranks*length, ranks*length), 1, 3).Draw(t, "lists")
		write := func(e *encodings, numbers []int) (enc []byte) {
			var (
				others []rankenc.Matrix
				before digest
				m      storedMatrix
			)
			for _, n := range numbers {
				m, before = e.matrix(d, digest{}, before, lists[n], slices.Collect(slices.Chunk(lists[n], length)), others)
				others, enc = append(others, m.matrix), append(enc, m.data...)
			}
			return enc
		}
		e := newEncodings()
		for range 5 {
			numbers := rapid.SliceOfN(rapid.IntRange(0, len(lists)-1), 1, 5).Draw(t, "numbers")
			if got, want := write(e, numbers), write(nil, numbers); !bytes.Equal(got, want) {
				t.Fatalf("%x, not %x", got, want)
			}
		}
	})
}

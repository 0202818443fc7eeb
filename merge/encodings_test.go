package merge

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
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

// TestEncodingsOfMatrices checks that a trace of arrays that are alike is what it is without what is kept, whose ranks
// are of several shapes.
func TestEncodingsOfMatrices(t *testing.T) {
	exchange := cst.Function{Name: "exchange", Params: []cst.Param{{Name: "counts", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}}}
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 9).Draw(t, "ranks")
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, 3), 8, 8), 1, 6).Draw(t, "lists")
		other := rapid.SliceOfN(rapid.Bool(), ranks, ranks).Draw(t, "other control flow")
		calls := rapid.IntRange(1, 5).Draw(t, "calls")
		var a Accumulator
		for rank := range ranks {
			var table cst.Table
			var grammar sequitur.Builder
			for range calls {
				var counts []cst.Value
				for _, n := range rapid.SampledFrom(lists).Draw(t, "list") {
					counts = append(counts, cst.Int(n))
				}
				grammar.Append(table.Intern(table.Declare(exchange), cst.Array(counts...)))
				if other[rank] {
					grammar.Append(table.Intern(table.Declare(cst.Function{Name: "other"})))
				}
			}
			if err := a.Add(Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}); err != nil {
				t.Fatal(err)
			}
		}
		e, err := a.drafted(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a.complete(t.Context(), &e)
		var got, want bytes.Buffer
		if err := e.sections.write(&want); err != nil {
			t.Fatal(err)
		}
		a.encodings = newEncodings()
		if err := a.Write(&got); err != nil {
			t.Fatal(err)
		}
		kept += len(a.encodings.matrices)
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("%x, not %x", got.Bytes(), want.Bytes())
		}
	})
	if kept == 0 {
		t.Error("no matrix was kept")
	}
}

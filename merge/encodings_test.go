package merge

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/columns"
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
			d := columns.Over(rankenc.World(len(list)), len(list)+key)
			o := columns.Options{Ranks: rapid.Bool().Draw(t, "ranks")}
			if got, want := e.appendNumbers([]byte("x"), list),
				layout.AppendNumbers([]byte("x"), list); !bytes.Equal(got, want) {
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

// TestEncodingsOfMatrices checks that a trace of arrays that are alike is what it is without what is kept,
// whose ranks are of several shapes.
func TestEncodingsOfMatrices(t *testing.T) {
	exchange := cst.Function{Name: "exchange",
		Params: []cst.Param{{Name: "counts", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}}}
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
		if _, _, err := e.sections.write(&want); err != nil {
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

// TestEncodingsReferred checks that a matrix that refers to another is kept only if that is, which it holds
// in memory.
func TestEncodingsReferred(t *testing.T) {
	counts := cst.Param{Name: "counts", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}
	displacements := cst.Param{Name: "displacements", Type: counts.Type}
	exchange := cst.Function{Name: "exchange", Params: []cst.Param{counts, displacements}}
	const ranks = 64
	r := rand.New(rand.NewPCG(1, 2))
	var a Accumulator
	for rank := range ranks {
		var table cst.Table
		var grammar sequitur.Builder
		var list, sums []cst.Value
		sum := int64(0)
		for range ranks {
			n := r.Int64N(1 << 32)
			list, sums = append(list, cst.Int(n)), append(sums, cst.Int(sum))
			sum += n
		}
		grammar.Append(table.Intern(table.Declare(exchange), cst.Array(list...), cst.Array(sums...)))
		if err := a.Add(Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}); err != nil {
			t.Fatal(err)
		}
	}
	// for all, and not for the counts
	for _, tt := range []struct{ room, want int }{{maxMatrices, 2}, {ranks * ranks * 4, 0}} {
		a.encodings = newEncodings()
		a.encodings.matricesBytes = maxMatrices - tt.room
		if err := a.Write(io.Discard); err != nil {
			t.Fatal(err)
		}
		if n := len(a.encodings.matrices); n != tt.want {
			t.Errorf("with room for %d bytes, %d matrices are kept, not %d", tt.room, n, tt.want)
		}
	}
}

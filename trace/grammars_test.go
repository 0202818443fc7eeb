package trace

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// inOneBlock returns a trace of ranks with irregular calls, whose grammars are in one block.
func inOneBlock(t *testing.T, ranks int) (file []byte, grammars []*sequitur.Grammar) {
	number := numbered("f", cst.Type{Kind: cst.KindInt})
	var parts []merge.Part
	for rank := range ranks {
		parts = append(parts, recordedCalls(rank, 500, func(i int) (cst.Function, cst.Value) {
			return number, cst.Int(int64(irregular(rank, i) % 4))
		}))
	}
	file = writeTrace(t, ranks, parts...)
	trace := openBytes(t, file)
	for number := range ranks {
		s, err := trace.shape(number)
		if err != nil {
			t.Fatal(err)
		}
		grammars = append(grammars, s.Grammar)
	}
	if all, err := trace.grammars(); err != nil || all.blocks == nil || all.blocks.Len() != 1 {
		t.Fatalf("grammars are not in one block: %v", err)
	}
	return file, grammars
}

// TestShapesOfBlock checks that of a block only the members up to the one that is asked for are read, that
// what was read is counted, and that the shapes are the same in any order, also when the cache had to go.
func TestShapesOfBlock(t *testing.T) {
	const ranks = 8
	file, want := inOneBlock(t, ranks)
	trace := openBytes(t, file)
	all, err := trace.grammars()
	if err != nil {
		t.Fatal(err)
	}
	c := trace.caches.grammars
	for _, tt := range []struct{ shape, read int }{{0, 1}, {0, 1}, {1, 3}, {2, 3}, {3, 7}, {7, 8}} {
		if _, err := trace.shape(tt.shape); err != nil {
			t.Fatal(err)
		}
		b := all.read[0].get()
		if len(b.members) != tt.read || (b.parser == nil) != (tt.read == ranks) || c.size != b.size() {
			t.Errorf("after shape %d: %d members are read and %d bytes counted of %d", tt.shape, len(b.members),
				c.size, b.size())
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		trace := openBytes(t, file)
		all, _ := trace.grammars()
		dropped := false
		for i, shape := range r.Perm(ranks) {
			s, err := trace.shape(shape)
			if err != nil || !s.Grammar.Equal(want[shape]) {
				t.Fatalf("shape %d, %d-th: %v, or another grammar", shape, i, err)
			}
			if b := all.read[0].get(); dropped && b != nil && b.parser != nil {
				t.Fatal("a block that had to go is read in parts again")
			}
			if r.IntN(4) == 0 {
				trace.caches.grammars.clear()
				dropped = true
			}
		}
	}
}

// TestShapesOfForgedBlock checks that the shapes of a block that cannot be read to its end are the same in any
// order: those before the place where it goes wrong.
func TestShapesOfForgedBlock(t *testing.T) {
	const ranks = 8
	file, _ := inOneBlock(t, ranks)
	whole := openBytes(t, file)
	r := rand.New(rand.NewPCG(3, 4))
	some := false
	for range 20 {
		var forged bytes.Buffer
		w := format.NewWriter(&forged, format.Options{})
		for _, s := range whole.file.All() {
			data, err := whole.file.Content(s)
			if err != nil {
				t.Fatal(err)
			}
			if data = bytes.Clone(data); s.Kind == layout.KindGrammars {
				data[len(data)-1-r.IntN(len(data)*3/4)] ^= 1 << r.IntN(8)
			}
			if err := w.Add(s.Kind, s.Key, data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var readable [ranks]bool
		for i := range 4 {
			trace := openBytes(t, forged.Bytes())
			for _, shape := range r.Perm(ranks) {
				_, err := trace.shape(shape)
				if i > 0 && readable[shape] != (err == nil) {
					t.Fatalf("shape %d is readable or not, by the order: %v", shape, err)
				}
				readable[shape] = err == nil
			}
		}
		if readable[ranks-1] {
			t.Error("the last shape is readable though the block does not end as it should")
		}
		some = some || readable[0]
	}
	if !some {
		t.Error("the first shape is never readable")
	}
}

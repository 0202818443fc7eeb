package merge_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	var table cst.Table
	table.Intern(table.Declare(cst.Function{Name: "f"}))
	var b sequitur.Builder
	b.Append(0)
	g := b.Finish()
	part := merge.Part{Table: &table, Grammar: g}
	var a merge.Accumulator
	misuse.Panic(t, "merge", map[string]func(){
		"merging nil":         func() { new(merge.Accumulator).Merge(nil) },
		"merging with itself": func() { a.Merge(&a) },
		"a tree of no leaves": func() { merge.Tree(context.Background(), 1, nil, merge.TreeOptions{}) },
		"reading no file":     func() { merge.ReadPart(nil) },
		"salvaging no file":   func() { merge.SalvagePart(nil) },
		"ranks of no file":    func() { merge.ReadPartRanks(nil) },
		"whether nil is one":  func() { merge.IsPart(nil) },
	})
	refused := map[string]merge.Part{
		"nothing":           {},
		"no table":          {Grammar: g},
		"no grammar":        {Table: &table},
		"a negative rank":   {Rank: -1, Table: &table, Grammar: g},
		"a large rank":      {Rank: math.MaxInt, Table: &table, Grammar: g},
		"terminals of none": {Table: new(cst.Table), Grammar: g},
		"nil times":         {Table: new(cst.Table), Grammar: g, Times: &merge.Times{}},
	}
	for name, write := range map[string]func(a *merge.Accumulator) error{
		"Write":     func(a *merge.Accumulator) error { return a.Write(nil) },
		"WritePart": func(a *merge.Accumulator) error { return a.WritePart(nil) },
		"WriteBounded": func(a *merge.Accumulator) error {
			return a.WriteBounded(context.Background(), nil, 1<<20, nil)
		},
		"merge.Write": func(*merge.Accumulator) error {
			return merge.Write(nil, merge.Run{Ranks: 1}, []merge.Part{part})
		},
	} {
		var one merge.Accumulator
		if err := one.Add(part); err != nil {
			t.Fatal(err)
		}
		if err := write(&one); err == nil {
			t.Errorf("%s to nothing: no error", name)
		}
	}
	misuse.Harmless(t, map[string]func(){
		"parts": func() {
			for name, p := range refused {
				if err := new(merge.Accumulator).Add(p); err == nil {
					t.Errorf("a part with %s is taken", name)
				}
				if err := merge.Write(new(bytes.Buffer), merge.Run{Ranks: 1}, []merge.Part{p}); err == nil {
					t.Errorf("a part with %s is written", name)
				}
			}
		},
		"joining parts": func() {
			for name, p := range refused {
				if _, err := merge.Join(0, nil, p, p); err == nil && p.Rank == 0 {
					t.Errorf("a part with %s is joined", name)
				}
			}
		},
		"runs": func() {
			for _, n := range []int{-1, math.MaxInt} {
				err := merge.Write(new(bytes.Buffer), merge.Run{Ranks: n}, nil)
				if err == nil && n-1 != rankenc.MaxRank { // as of 32 bits
					t.Errorf("a run of %d ranks is written", n)
				}
			}
			merge.Run{}.ClockOf(-1)
			merge.Run{}.WorldOf(-1)
			merge.Run{}.Aligned()
		},
		"nothing": func() {
			var empty merge.Accumulator
			empty.Merge(new(merge.Accumulator))
			empty.HighestPeer()
			empty.Write(new(bytes.Buffer))
			empty.Align(nil)
			merge.Join(0, nil)
			merge.Part{}.Held()
			_ = new(merge.PartError).Error()
		},
	})
}

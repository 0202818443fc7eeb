package merge_test

import (
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A longProgram is a run of ranks that have a long column each of some functions.
type longProgram struct {
	name    string
	ranks   int
	part    func(rank int) Part
	slices  []int // of each stored column
	largest int   // bytes of a slice; 0 for as many as a section may have
}

// one returns the part of a rank that calls f with a value.
func one(rank int, typ cst.Type, v cst.Value) Part {
	return recorded(rank, 1, func(int) (cst.Function, cst.Value) { return numbered("f", typ), v })
}

var (
	typeInt  = cst.Type{Kind: cst.KindInt}
	typeRank = cst.Type{Kind: cst.KindRank}
)

// longPrograms have columns of more than 65 KiB. A number takes 2 bytes where
// nothing else is said, so that there are 33,024 positions in as many bytes as a
// slice is meant to have.
var longPrograms = []longProgram{
	{"Numbers", 70_000, func(rank int) Part {
		return one(rank, typeInt, cst.Int(int64(irregular(rank, 0)>>16)))
	}, []int{3}, 0},
	{"Ranks", 40_000, func(rank int) Part {
		return one(rank, typeRank, cst.Rank(int64(irregular(rank, 0)%40_000)))
	}, []int{2}, 0},
	// Of every other rank, and those of every fourth rank are apart in the domain.
	{"Shapes", 80_001, func(rank int) Part {
		if rank%2 == 0 {
			return Part{Rank: rank, Table: new(cst.Table), Grammar: orderOf()}
		}
		return recorded(rank, 1+rank/2%2, func(i int) (cst.Function, cst.Value) {
			return numbered("f", typeInt), cst.Int(int64(irregular(rank, 0) >> 16))
		})
	}, []int{2}, 0},
	// In a half of the positions no two values are equal, in the other half all.
	{"Half", 100_000, func(rank int) Part {
		v := irregular(rank, 0)
		if rank >= 50_000 {
			v = 7
		}
		return one(rank, typeInt, cst.Int(int64(v&0xffff)))
	}, []int{3}, 0},
	// The sections of the slices have nothing of the columns before and after them.
	{"Between", 40_000, func(rank int) Part {
		return recorded(rank, 3, func(i int) (cst.Function, cst.Value) {
			v := irregular(rank, i) >> 16
			if i != 1 {
				v %= 2
			}
			return numbered(fmt.Sprint("f", i), typeInt), cst.Int(int64(v))
		})
	}, []int{1, 2, 1}, 0},
	{"Array", 20_000, func(rank int) Part {
		n := irregular(rank, 0)
		return one(rank, cst.ArrayOf(typeInt), cst.Array(cst.Int(int64(n>>16)), cst.Int(int64(n&0xffff))))
	}, []int{2}, 0},
	{"LongRows", 2, func(rank int) Part {
		var v []cst.Value
		for i := range 40_000 {
			v = append(v, cst.Int(int64(irregular(rank, i)>>16)))
		}
		return one(rank, cst.ArrayOf(typeInt), cst.Array(v...))
	}, []int{2}, 80_010},
	// The second array is the first one again, whose positions are not apart.
	{"Same", 20_000, func(rank int) Part {
		n := irregular(rank, 0)
		v := cst.Array(cst.Int(int64(n>>16)), cst.Int(int64(n&0xffff)))
		return recorded(rank, 2, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", i), cst.ArrayOf(typeInt)), v
		})
	}, []int{1, 1}, 100_000},
	// What is in a slice was in the one before, and compressed as a whole takes less.
	{"Periodic", 80_000, func(rank int) Part {
		return one(rank, typeInt, cst.Int(int64(irregular(rank%20_000, 0)>>16)))
	}, []int{1}, 160_010},
	// A dictionary is needed by all slices.
	{"Dictionary", 60_000, func(rank int) Part {
		return one(rank, typeInt, cst.Int(int64(irregular(int(irregular(rank, 0)%900), 1)<<24)))
	}, []int{1}, 82_000},
	{"Short", 33_270, func(rank int) Part {
		return one(rank, typeInt, cst.Int(int64(irregular(rank, 0)>>16)))
	}, []int{1}, 0},
}

// accumulate returns the accumulator of all ranks, and their parts.
func (p longProgram) accumulate(t testing.TB) (*Accumulator, []Part) {
	var a Accumulator
	var parts []Part
	for rank := range p.ranks {
		part := p.part(rank)
		parts = append(parts, part)
		if err := a.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Describe(Run{Ranks: p.ranks}); err != nil {
		t.Fatal(err)
	}
	return &a, parts
}

// TestSlices checks which columns are stored in slices, what these cost, and the
// calls of all ranks.
func TestSlices(t *testing.T) {
	for _, p := range longPrograms {
		t.Run(p.name, func(t *testing.T) {
			if Racing && p.ranks > 20_000 || !tier.Nightly && p.name != "Array" {
				t.Skip("takes long")
			}
			a, parts := p.accumulate(t)
			file := traceFile(t, a)
			trace := open(t, file)
			var got []int
			largest := 0
			table := tableOf(t, file)
			for _, c := range table.Columns {
				got = append(got, c.End-c.First)
				for _, s := range table.Slices[c.First:c.End] {
					largest = max(largest, s.Size)
				}
			}
			if !slices.Equal(got, p.slices) {
				t.Errorf("columns in %d slices, want %d", got, p.slices)
			}
			most := p.largest
			if most == 0 {
				most = MaxSlice
			}
			if largest > most {
				t.Errorf("a slice of %d bytes, want at most %d", largest, most)
			}
			whole := a.SizeWithoutSlices()
			t.Logf("%d bytes, %d with columns stored whole, slices of up to %d bytes", len(file), whole, largest)
			if len(file) > whole+whole/MaxSlicedStorage || slices.Max(got) == 1 && len(file) != whole {
				t.Errorf("%d bytes, %d with columns stored whole", len(file), whole)
			}
			checkCalls(t, trace, parts)
			checkAccepted(t, file)
			var again Accumulator
			if err := again.Describe(Run{Ranks: p.ranks}); err != nil {
				t.Fatal(err)
			}
			if err := trace.AddTo(context.Background(), &again); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(traceFile(t, &again), file) {
				t.Error("the trace of what was read is another")
			}
		})
	}
}

// TestSlicesLost loses each section of columns in turn: the ranks that can be read
// are those whose values are in the others.
func TestSlicesLost(t *testing.T) {
	if Racing || !tier.Nightly {
		t.Skip("takes long")
	}
	a, parts := longPrograms[0].accumulate(t)
	sections := contents(t, traceFile(t, a))
	begin := 0
	for key := range uint64(3) {
		file := forge(t, replaced(sections, section{layout.KindColumns, key, gone})...)
		trace := open(t, file)
		s := tableOf(t, file).Slices[key]
		if s.Begin != begin || uint64(s.Section) != key {
			t.Fatalf("slice %d in section %d begins at %d, want %d", key, s.Section, s.Begin, begin)
		}
		for i, p := range parts {
			got, err := trace.Part(i)
			if i < s.Begin || i >= s.End {
				if err == nil {
					err = sameCalls(got, p)
				}
				if err != nil {
					t.Fatalf("rank %d: %v", i, err)
				}
				continue
			}
			var se *format.SectionError
			if !errors.As(err, &se) || se.Kind != layout.KindColumns || se.Key != key {
				t.Fatalf("rank %d: err = %v", i, err)
			}
		}
		begin = s.End
		if text := trace.Signature(0).String(); text != "f(x={by rank})" { // the column is too long to be looked at
			t.Error(text)
		}
	}
	if begin != len(parts) {
		t.Errorf("slices of %d ranks", begin)
	}
}

// TestSliceShape describes what a shape of few ranks has in a long column: those of
// two slices, and of the last.
func TestSliceShape(t *testing.T) {
	const ranks = 70_000
	p := longPrograms[0]
	var a Accumulator
	for rank := range ranks {
		part := p.part(rank)
		if rank%10_000 == 9_999 { // they are a shape
			part = recorded(rank, 2, func(int) (cst.Function, cst.Value) {
				return numbered("f", typeInt), cst.Int(int64(irregular(rank, 0) >> 16))
			})
		}
		if err := a.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	file := traceFile(t, &a)
	trace := open(t, file)
	shape, ok := trace.ShapeOf(9_999)
	if !ok || trace.Shapes() != 2 || !tableOf(t, file).Columns[0].Sliced() {
		t.Fatalf("%d shapes", trace.Shapes())
	}
	var want []int64
	for rank := 9_999; rank < ranks; rank += 10_000 {
		want = append(want, int64(irregular(rank, 0)>>16))
	}
	s, err := trace.Shape(shape)
	if err != nil {
		t.Fatal(err)
	}
	if got, text := s.Signature(0).String(), fmt.Sprintf("f(x={%d … %d})", slices.Min(want),
		slices.Max(want)); got != text {
		t.Errorf("%v, want %v", got, text)
	}
}

// BenchmarkSlices writes and reads a trace of long columns.
func BenchmarkSlices(b *testing.B) {
	for _, p := range longPrograms[:3] {
		b.Run("program="+p.name, func(b *testing.B) {
			a, _ := p.accumulate(b)
			perRank := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.ranks), "ns/rank")
				b.ReportMetric(0, "ns/op")
			}
			b.Run("do=write", func(b *testing.B) {
				for b.Loop() {
					traceFile(b, a)
				}
				perRank(b)
			})
			file := traceFile(b, a)
			b.Run("do=read", func(b *testing.B) {
				for b.Loop() {
					if _, err := readAll(open(b, file)); err != nil {
						b.Fatal(err)
					}
				}
				perRank(b)
			})
		})
	}
}

package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/sequitur"
)

// numbered returns a function with a parameter.
func numbered(name string, typ cst.Type) cst.Function {
	return cst.Function{Name: name, Params: []cst.Param{{Name: "x", Type: typ}}}
}

// recorded returns the part of a rank that makes n calls: call returns the i-th.
func recorded(rank, n int, call func(i int) (cst.Function, cst.Value)) Part {
	var table cst.Table
	var b sequitur.Builder
	for i := range n {
		f, v := call(i)
		b.Append(table.Intern(table.Declare(f), v))
	}
	return Part{Rank: rank, Table: &table, Grammar: b.Finish()}
}

// irregular returns a number that follows no rule.
func irregular(x, y int) uint64 {
	v := (uint64(x)<<32 + uint64(y) + 1) * 0x9e3779b97f4a7c15
	return (v ^ v>>32) * 0xd6e8feb86659fd93 >> 32
}

// largePrograms are runs of which the trace has several sections of a kind, or
// many shapes.
var largePrograms = []struct {
	name     string
	ranks    int
	part     func(rank int) Part
	sections map[format.Kind]int // at least
	shapes   int                 // at least
}{
	{"ColumnsInASection", 1000, func(rank int) Part {
		return recorded(rank, 4, func(i int) (cst.Function, cst.Value) {
			return numbered("f", cst.Type{Kind: cst.KindInt}), cst.Int(int64(irregular(rank, i) % 5000))
		})
	}, map[format.Kind]int{layout.KindColumns: 1}, 1},
	{"ColumnsInSections", 2000, func(rank int) Part {
		return recorded(rank, 30, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", i), cst.Type{Kind: cst.KindInt}), cst.Int(int64(irregular(rank, i)))
		})
	}, map[format.Kind]int{layout.KindColumns: 3}, 1},
	// As in IS: counts, displacements that are sums of them, and the same transposed.
	{"Matrices", 64, func(rank int) Part {
		vector := func(count func(i int) int64) []cst.Value {
			var counts, places []cst.Value
			place := int64(0)
			for i := range 64 {
				counts, places = append(counts, cst.Int(count(i))), append(places, cst.Int(place))
				place += 4 * count(i)
			}
			return []cst.Value{cst.Array(counts...), cst.Array(places...)}
		}
		count := func(from, to int) int64 { return int64(irregular(from, to) % 1000) }
		var vectors []cst.Value
		vectors = append(vectors, vector(func(to int) int64 { return count(rank, to) })...)
		vectors = append(vectors, vector(func(from int) int64 { return count(from, rank) })...)
		return recorded(rank, 8, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("alltoallv", i%4), cst.ArrayOf(cst.Type{Kind: cst.KindInt})), vectors[i%4]
		})
	}, map[format.Kind]int{layout.KindColumns: 1}, 1},
	{"Streams", 4, func(rank int) Part {
		return recorded(rank, 40_000, func(i int) (cst.Function, cst.Value) {
			if i%3 == 0 {
				return numbered("tag", cst.Type{Kind: cst.KindTag}), cst.Tag(int64(i % 5))
			}
			return numbered("compute", cst.Type{Kind: cst.KindFloat}), cst.Float(float64(irregular(rank, i) % 3000))
		})
	}, map[format.Kind]int{layout.KindStreams: 2}, 1},
	{"Shapes", 150, func(rank int) Part {
		return recorded(rank, rank+1, func(i int) (cst.Function, cst.Value) {
			return numbered("f", cst.Type{Kind: cst.KindRank}), cst.Rank(int64(rank ^ i))
		})
	}, nil, 150},
	{"Grammars", 12, func(rank int) Part {
		return recorded(rank, 14_000, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", irregular(rank, i)%60), cst.ArrayOf(cst.Type{Kind: cst.KindInt})),
				cst.Array(cst.Int(int64(i % 2)))
		})
	}, map[format.Kind]int{layout.KindGrammars: 3}, 12},
}

// TestLargePrograms checks every call of large runs, read by several goroutines at
// once in random order, and twice.
func TestLargePrograms(t *testing.T) {
	for _, tt := range tier.Some(largePrograms, 2) {
		t.Run(tt.name, func(t *testing.T) {
			var parts []Part
			for rank := range tt.ranks {
				parts = append(parts, tt.part(rank))
			}
			file := write(t, Run{Ranks: tt.ranks}, parts)
			count := make(map[format.Kind]int)
			for _, s := range container(t, file).All() {
				count[s.Kind]++
			}
			for kind, n := range tt.sections {
				if count[kind] < n {
					t.Errorf("%d sections of %s, want at least %d", count[kind], layout.KindName(kind), n)
				}
			}
			trace := open(t, file)
			if trace.Shapes() < tt.shapes {
				t.Errorf("%d shapes, want at least %d", trace.Shapes(), tt.shapes)
			}
			var readers sync.WaitGroup
			for seed := range 4 {
				readers.Go(func() {
					order := slices.Clone(parts)
					rand.New(rand.NewPCG(1, uint64(seed))).Shuffle(len(order), func(i, j int) {
						order[i], order[j] = order[j], order[i]
					})
					for _, p := range order[:min(len(order), 200)] {
						got, err := trace.Part(p.Rank)
						if err == nil {
							err = sameCalls(got, p)
						}
						if err != nil {
							t.Errorf("rank %d: %v", p.Rank, err)
							return
						}
					}
				})
			}
			readers.Wait()
			checkCalls(t, trace, parts)
		})
	}
}

// TestPacker gives the places of items in sections: a new one is begun where the
// last would become larger than 64 KiB, and a large item has one of its own.
func TestPacker(t *testing.T) {
	const full = 1 << 16
	var p layout.Packer
	for i, want := range []struct{ size, section, offset int }{
		{full - 1, 0, 0}, {1, 0, full - 1}, {1, 1, 0}, {full - 1, 1, 1}, {full, 2, 0}, {full + 1, 3, 0},
		{7, 4, 0}, {full - 6, 5, 0}, {2, 5, full - 6}, {5, 6, 0},
	} {
		if section, offset := p.Place(want.size); section != want.section || offset != want.offset {
			t.Errorf("item %d is at %d in section %d, want %d in %d", i, offset, section, want.offset, want.section)
		}
	}
}

// TestTextNumbers checks that texts are numbered so that a number in a name goes
// with the rank.
func TestTextNumbers(t *testing.T) {
	var parts []Part
	for rank := range 200 {
		parts = append(parts, oneCall(rank, numbered("open", cst.Type{Kind: cst.KindString}),
			cst.String(fmt.Sprint("file.", rank))))
	}
	trace := open(t, write(t, Run{Ranks: 200}, parts))
	checkCalls(t, trace, parts)
	want := []Form{{Name: "rank+c", Count: 1}}
	if got := argumentForms(trace); !slices.Equal(got, want) {
		t.Errorf("arguments %v, want %v", got, want)
	}
}

package bench

import (
	"fmt"
	"math/bits"
	"testing"

	rankcolumns "github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
)

// foldTest is fold for tests.
func foldTest(t *testing.T, p programs.Program) folded {
	t.Helper()
	f, err := fold(p)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return f
}

// TestConstantSize checks that the trace of a stencil does not grow with the
// number of ranks or iterations, but for the digits of numbers. Each kind of
// process has a set of ranks, of up to 6 numbers, and a number of iterations, and a
// number has a byte for each 7 bits. Other numbers of as many bytes compress to
// some bytes more or less. The measure is the smallest grid that has several inner
// processes and several at each side; where a kind has one process, all of its
// arguments are constants, and the trace is smaller.
func TestConstantSize(t *testing.T) {
	tier.Long(t, "makes large traces")
	const compression = 16
	stencil2D := func(side int, n uint64) programs.Program { return programs.Stencil2D(side, side, n) }
	stencil3D := func(side int, n uint64) programs.Program { return programs.Stencil3D(side, side, side, n) }
	tests := []struct {
		name    string
		program func(side int, iterations uint64) programs.Program
		sides   []int
		kinds   int
	}{
		{"2D", stencil2D, []int{3, 4, 5, 6, 7, 10, 16, 32, 33, 100, 512}, 9},
		{"3D", stencil3D, []int{3, 4, 5, 6, 7, 10, 16, 20}, 27},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := tt.program(5, 10)
			size := foldTest(t, base).size
			for _, side := range tt.sides {
				for _, iterations := range []uint64{10, 1e9} {
					p := tt.program(side, iterations)
					if p.Ranks > 20_000 && iterations == 10 || p.Ranks > 2000 && underRace {
						continue // one such takes seconds
					}
					f := foldTest(t, p)
					if f.kinds > tt.kinds {
						t.Errorf("%d ranks: %d kinds of processes, want at most %d", p.Ranks, f.kinds, tt.kinds)
					}
					digits := 6*max(0, length(uint64(p.Ranks))-length(uint64(base.Ranks))) +
						length(iterations) - length(10)
					t.Logf("%d ranks, %d iterations: %d bytes", p.Ranks, iterations, f.size)
					if most := size + tt.kinds*digits + compression; f.size > most {
						t.Errorf("%d ranks, %d iterations: %d bytes, want at most %d", p.Ranks, iterations,
							f.size, most)
					}
				}
			}
		})
	}
}

// TestNeighbours checks that halo exchanges with up to 26 neighbours take few bytes, and hardly more on more
// ranks, and a program that polls little more than the numbers of its polls.
func TestNeighbours(t *testing.T) {
	sizes := []struct{ side, most int }{{3, 760}, {5, 1030}, {10, 1130}, {20, 1300}}
	for _, s := range tier.Some(sizes, 3) {
		if f := foldTest(t, programs.Halo26(s.side, 1000)); f.size > s.most {
			t.Errorf("%d ranks: %d bytes, want at most %d", s.side*s.side*s.side, f.size, s.most)
		}
	}
	p := programs.Polling(8, 500, 1)
	if f, most := foldTest(t, p), 1.1*p.Entropy/8+2000; float64(f.size) > most {
		t.Errorf("%s: %d bytes, want at most %.0f", p.Name, f.size, most)
	}
}

// length returns the number of bytes of a uvarint.
func length(v uint64) int { return len(wire.AppendUvarint(nil, v)) }

// TestPermutation checks that an irregular peer costs its information and a tenth
// of that, over what the same program takes with one rank, and makes no shapes.
func TestPermutation(t *testing.T) {
	tier.SlowRace(t)
	tests := []struct {
		program func(ranks int, iterations, seed uint64) programs.Program
		columns float64
	}{
		{programs.PermutationSend, 1},
		{programs.Permutation, 2},
	}
	for _, tt := range tests {
		p := tt.program(65_536, 1000, 1)
		f, one := foldTest(t, p), tt.program(1, 1000, 1)
		// coded as the other is, which is not small
		alone := len(testtrace.Records(t, testtrace.File(t, one.Run(), one.Parts())))
		if f.shapes != 1 {
			t.Errorf("%s: %d shapes, want 1", p.Name, f.shapes)
		}
		cost := f.size - alone
		t.Logf("%s: %d bytes, %d of one rank, %.0f of information", p.Name, f.size, alone, p.Entropy/8)
		if most := tt.columns * 1.1 * p.Entropy / 8; float64(cost) > most {
			t.Errorf("%s: %d bytes for the peers, want at most %.0f", p.Name, cost, most)
		}
	}
}

// TestNearlyEqual checks that ranks of nearly equal control flow cost about the information in
// what differs.
func TestNearlyEqual(t *testing.T) {
	tests := []struct {
		program programs.Program
		times   float64 // the information at most
		besides int     // bytes
	}{
		{programs.TripCounts(1024, 50), 0, 700},
		{programs.RandomTrips(1024, 1), 1.15, 700},
		{programs.Refinement(64, 20, 50, 1), 3, 1000},
		{programs.Refinement(256, 20, 50, 1), 3, 1000},
		{programs.Multipartition(16, 200), 0, 900},
		{programs.Pentadiagonal(16, 207, 200), 0, 900},    // 2,200 if sizes of interiors and of the faces of all cells are not found
		{programs.TaggedMultipartition(16, 200), 0, 1000}, // 2,100 if sizes are not found to be those of blocks, 3,100 if tags are not found to follow from cells
	}
	for _, tt := range tier.Some(tests, 5) {
		f := foldTest(t, tt.program)
		most := tt.times*tt.program.Entropy/8 + float64(tt.besides)
		t.Logf("%s: %d bytes, %.0f at most", tt.program.Name, f.size, most)
		if float64(f.size) > most {
			t.Errorf("%s: %d bytes, want at most %.0f", tt.program.Name, f.size, most)
		}
	}
}

// TestGather checks that ranks that some calls need absolute and others relative
// make a trace grow with the logarithm of their number at most.
func TestGather(t *testing.T) {
	tier.Long(t, "makes large traces")
	const perDoubling = 64 // bytes
	for _, tree := range trees {
		first := 0
		for _, ranks := range gatherRanks {
			if ranks > 2048 && underRace {
				break
			}
			f := foldTest(t, programs.Gather(tree, ranks, 1000))
			if first == 0 {
				first = f.size
			}
			t.Logf("%v, %d ranks: %d bytes, %d shapes", tree, ranks, f.size, f.shapes)
			doublings := bits.Len(uint(ranks/gatherRanks[0])) - 1
			if most := first + perDoubling*doublings; f.size > most {
				t.Errorf("%v, %d ranks: %d bytes, want at most %d", tree, ranks, f.size, most)
			}
		}
	}
}

// TestTraceSizes checks the sizes of real traces against those of a prototype,
// which had no container, no index and no names of functions.
func TestTraceSizes(t *testing.T) {
	tier.Long(t, "makes large traces")
	prototype := map[string]int{
		"cg.S.16": 198, "cg.S.64": 232, "is.S.16": 1699, "is.S.64": 7410, "lu.W.16": 990, "lu.W.64": 1005,
		"mg.S.16": 618, "mg.S.64": 1308, "sp.S.16": 499,
	}
	for name, n := range prototype {
		prototype[name] = n*11/10 + 200
	}
	checkTraceSizes(t, prototype)
}

// checkTraceSizes checks that traces take so many bytes at the most.
func checkTraceSizes(t *testing.T, most map[string]int) {
	t.Helper()
	for _, tr := range sharedTraces(t) {
		most, ok := most[tr.name]
		if !ok {
			continue
		}
		file, err := tr.compress()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes of %d", tr.name, len(file), most)
		if len(file) > most {
			t.Errorf("%s: %d bytes, want at most %d", tr.name, len(file), most)
		}
	}
}

// TestRelative checks ranks relative to the caller against rankenc, by every kind
// of argument that may hold one.
func TestRelative(t *testing.T) {
	const rank, ranks = 3, 10
	from := func(r int64) int64 { return rankcolumns.Relative(r, rank, ranks) }
	status := func(source int64) cst.Value { return cst.StatusOf(cst.Status{Source: source, Tag: 5, Error: 1}) }
	tests := []struct{ in, want cst.Value }{
		{cst.Int(4), cst.Int(4)},
		{cst.Tag(4), cst.Tag(4)},
		{cst.Rank(4), cst.Rank(1)},
		{cst.Rank(2), cst.Rank(-1)},
		{cst.Rank(-1), cst.Rank(from(-1))},
		{status(4), status(1)},
		{cst.Array(cst.Rank(3), cst.Rank(9)), cst.Array(cst.Rank(0), cst.Rank(from(9)))},
		{cst.Array(cst.Array(status(5)), cst.Array()), cst.Array(cst.Array(status(2)), cst.Array())},
	}
	for _, tt := range tests {
		if got := displace(tt.in, rank, ranks); !got.Equal(tt.want) {
			t.Errorf("%v becomes %v, want %v", tt.in, got, tt.want)
		}
	}
}

// TestRelativeStencil checks that ranks relative to the caller make the parts of
// all inner ranks of a stencil equal but for the rank itself.
func TestRelativeStencil(t *testing.T) {
	p := programs.Stencil2D(4, 4, 10)
	var inner []string
	for _, rank := range []int{5, 6, 9, 10} {
		part := relative(p.Part(rank), p.Ranks)
		text := ""
		for fn, args := range part.Table.All() {
			text += fmt.Sprintln(fn, args)
		}
		inner = append(inner, text)
	}
	for _, text := range inner {
		if text != inner[0] {
			t.Errorf("inner ranks differ:\n%s\n%s", inner[0], text)
		}
	}
}

// TestIrregularPrograms checks sizes of irregular sequences that are smaller in blocks without streams.
func TestIrregularPrograms(t *testing.T) {
	tier.SlowRace(t)
	for _, p := range irregularPrograms {
		most, ok := map[string]int{"inner loop of 1 to 3 iterations": 3460,
			"loop of 20 calls, 0.1 % others": 4000}[p.name] // of xz, and what is known
		if !ok {
			continue
		}
		parts := p.parts()
		if len(parts) > 1 || parts[0].Grammar.Len() > 2e6 {
			continue
		}
		if n := len(testtrace.File(t, merge.Run{Ranks: 1}, parts)); n > most {
			t.Errorf("%s: %d bytes, want at most %d", p.name, n, most)
		}
	}
}

// TestIrregularTraces checks that traces with amounts of computation are smaller than zpaq -m5 makes their
// calls as numbers.
func TestIrregularTraces(t *testing.T) {
	tier.Long(t, "makes large traces")
	checkTraceSizes(t, map[string]int{"cg.S.16.compute": 33_762, "mg.S.16.compute": 18_999})
}

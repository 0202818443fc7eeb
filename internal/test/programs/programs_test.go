package programs

import (
	"bytes"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// sizes are numbers of ranks of which the tests run every program.
var sizes = []int{9, 16, 30}

// TestParts checks what a recorder would have made as well: terminals numbered
// in order of first use, with the counts that they have in the grammar, which is
// that of the calls one by one.
func TestParts(t *testing.T) {
	for _, ranks := range sizes {
		for _, p := range All(ranks) {
			for rank, part := range p.Parts() {
				if part.Rank != rank {
					t.Fatalf("%s: part of rank %d for rank %d", p.Name, part.Rank, rank)
				}
				checkPart(t, p.Name, part)
			}
		}
	}
}

func checkPart(t *testing.T, name string, part merge.Part) {
	t.Helper()
	var b sequitur.Builder
	next := sequitur.Symbol(0)
	for _, s := range part.Grammar.All() {
		if s > next {
			t.Fatalf("%s, rank %d: terminal %d before %d", name, part.Rank, s, next)
		}
		next = max(next, s+1)
		b.Append(s)
	}
	if int(next) != part.Table.Len() {
		t.Fatalf("%s, rank %d: %d signatures, %d used", name, part.Rank, part.Table.Len(), next)
	}
	for s, n := range part.Grammar.Occurrences() {
		if got := part.Table.Count(s); got != n {
			t.Fatalf("%s, rank %d: count %d of terminal %d, which occurs %d times", name, part.Rank, got, s, n)
		}
	}
	if !b.Finish().Equal(part.Grammar) {
		t.Errorf("%s, rank %d: not the grammar of the calls one by one:\n%v", name, part.Rank, part.Grammar)
	}
}

// TestAgain checks that a program is the same each time, whichever goroutine
// makes its parts.
func TestAgain(t *testing.T) {
	again := All(16)
	for i, p := range All(16) {
		parts := make([]merge.Part, p.Ranks)
		var wait sync.WaitGroup
		for g := range 4 {
			wait.Go(func() {
				for rank := g; rank < p.Ranks; rank += 4 {
					parts[rank] = p.Part(rank)
				}
			})
		}
		wait.Wait()
		for rank, want := range again[i].Parts() {
			if got := parts[rank]; !bytes.Equal(encoded(got.Table), encoded(want.Table)) ||
				!got.Grammar.Equal(want.Grammar) {
				t.Errorf("%s: rank %d differs from one time to the next", p.Name, rank)
			}
		}
	}
}

func TestStencil(t *testing.T) {
	for _, sides := range [][]int{{1, 1}, {3, 3}, {5, 2}, {1, 6}, {3, 3, 3}, {4, 3, 2}, {1, 1, 5}} {
		p := stencil("stencil", sides, 3)
		for rank := range p.Ranks {
			var got, want []int
			for peer := range p.Ranks {
				if distance(sides, rank, peer) == 1 {
					want = append(want, peer, peer, peer)
				}
			}
			part := p.Part(rank)
			for _, c := range expand(part) {
				if c.fn == mpiIsend {
					got = append(got, c.peer())
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%v: rank %d sends to %v, want %v", sides, rank, got, want)
			}
		}
	}
}

// distance returns the number of steps from one rank to another in a grid.
func distance(sides []int, a, b int) int {
	steps := 0
	for _, side := range sides {
		steps += max(a%side-b%side, b%side-a%side)
		a, b = a/side, b/side
	}
	return steps
}

// TestIterations checks that a part is as large for many iterations as for few,
// and has as many calls as it must.
func TestIterations(t *testing.T) {
	few, many := Stencil2D(3, 3, 10).Part(4), Stencil2D(3, 3, 1e9).Part(4)
	const body = 4 + 4 + 1 + 1
	if got, want := many.Grammar.Len(), uint64(4+1e9*body); got != want {
		t.Errorf("%d calls, want %d", got, want)
	}
	if many.Grammar.Symbols() != few.Grammar.Symbols() || many.Table.Len() != few.Table.Len() {
		t.Errorf("%d symbols and %d signatures, %d and %d for few iterations",
			many.Grammar.Symbols(), many.Table.Len(), few.Grammar.Symbols(), few.Table.Len())
	}
	if got := Stencil2D(3, 3, 0).Part(4).Grammar.Len(); got != 4 {
		t.Errorf("%d calls without iterations, want 4", got)
	}
}

func TestTrees(t *testing.T) {
	for _, tree := range []Tree{Binomial, Halving, Heap} {
		for ranks := 1; ranks < 70; ranks++ {
			listed := make(map[branch]int) // the parent of each branch that is a child
			for rank := range ranks {
				_, size, children := tree.node(rank, ranks)
				for _, child := range children {
					listed[child] = rank
					size -= child.size
				}
				if size != 1 {
					t.Errorf("%v of %d: rank %d has a branch of %d more than its children", tree, ranks, rank, size)
				}
			}
			for rank := range ranks {
				parent, size, _ := tree.node(rank, ranks)
				if got, ok := listed[branch{rank, size}]; rank == 0 && (parent != -1 || size != ranks) ||
					rank > 0 && (!ok || got != parent) {
					t.Errorf("%v of %d: rank %d has parent %d, is a child of %d", tree, ranks, rank, parent, got)
				}
			}
		}
	}
}

// TestHalving checks the tree against the one of 13 ranks in Fig. 11 of Wang et
// al., in which only four displacements occur.
func TestHalving(t *testing.T) {
	var steps []int
	for rank := 1; rank < 13; rank++ {
		parent, _, _ := Halving.node(rank, 13)
		steps = append(steps, rank-parent)
	}
	slices.Sort(steps)
	if got := slices.Compact(steps); !slices.Equal(got, []int{1, 2, 3, 6}) {
		t.Errorf("displacements %v, want 1, 2, 3 and 6", got)
	}
}

func TestEntropy(t *testing.T) {
	sent := func(p Program) (bits float64) { // of the lengths or destinations of all messages
		for rank := range p.Ranks {
			part := p.Part(rank)
			for _, c := range expand(part) {
				if c.fn == mpiIsend {
					bits++
				}
			}
		}
		return bits
	}
	tests := []struct {
		p         Program
		want, eps float64
	}{
		{Permutation(3, 1, 1), math.Log2(6), 1e-9},
		{Permutation(65_536, 1, 1), 954_037, 1}, // 119,255 bytes
		{Stencil2D(3, 3, 1), 0, 0},
		{RandomCounts(7, 3, 1), 7 * 3 * 10, 0},
		{RandomPartners(3, 5, 1), 5 * math.Log2(6), 1e-9},
		{RandomAlltoallv(3, 5, 1), 3 * 3 * 5 * 10, 0},
		{IntegerSort(2, 1000, 3, 1), 2 * math.Log2(math.Sqrt(2*math.Pi*math.E*250)), 2}, // the average of what is drawn
		{Refinement(16, 5, 1, 1), 16*5*4 + sent(Refinement(16, 5, 1, 1)), 0},            // 2 bits for a pair, which sends twice
	}
	for _, tt := range tests {
		if got := tt.p.Entropy; math.Abs(got-tt.want) > tt.eps {
			t.Errorf("%s: entropy %f, want %f", tt.p.Name, got, tt.want)
		}
	}
}

// A call is one of a part.
type call struct {
	fn   int
	args []cst.Value
}

func (c call) count() int64 { return c.args[1].Int() }
func (c call) peer() int    { return int(c.args[3].Int()) }
func (c call) tag() int64   { return c.args[4].Int() }

// expand lists the calls of a part.
func expand(p merge.Part) []call {
	signatures := make([]call, p.Table.Len())
	for i := range signatures {
		signatures[i].fn, signatures[i].args = p.Table.Signature(uint32(i))
	}
	var calls []call
	for _, s := range p.Grammar.All() {
		calls = append(calls, signatures[s])
	}
	return calls
}

// encoded returns a table as it is encoded.
func encoded(t *cst.Table) []byte {
	enc, _ := t.AppendBinary(nil)
	return enc
}

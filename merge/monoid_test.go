package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// A contribution is what one accumulator is given: descriptions and parts.
type contribution struct {
	runs  []Run
	parts []Part
}

func (c contribution) accumulator(t rapid.TB) *Accumulator {
	t.Helper()
	a := new(Accumulator)
	for _, run := range c.runs {
		if err := a.Describe(run); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range c.parts {
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// drawContributions draws groups of the parts of a program, in any order, some
// with an interleaving of their ranks, and with sources.
func drawContributions(t *rapid.T) []contribution {
	p := genProgram.Draw(t, "program")
	var list []contribution
	for _, part := range rapid.Permutation(p.parts()).Draw(t, "order") {
		if len(list) == 0 || rapid.Bool().Draw(t, "alone") {
			list = append(list, contribution{})
		}
		c := &list[len(list)-1]
		c.parts = append(c.parts, part)
	}
	for i := range list {
		c := &list[i]
		run := Run{Ranks: rapid.IntRange(0, 30).Draw(t, "ranks"),
			Source: rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "source"), Names: drawNames(t)}
		if rapid.Bool().Draw(t, "interleaved") {
			run.Interleaving = drawOrder(t, c.parts)
		}
		c.runs = append(c.runs, run)
	}
	return list
}

// mergeAll merges accumulators in random order and grouping, now and then through
// a part file.
func mergeAll(t *rapid.T, list []*Accumulator) *Accumulator {
	for len(list) > 1 {
		i := rapid.IntRange(0, len(list)-1).Draw(t, "into")
		j := rapid.IntRange(0, len(list)-2).Draw(t, "from")
		if j >= i {
			j++
		}
		if err := list[i].Merge(list[j]); err != nil {
			t.Fatal(err)
		}
		if list[j].RankSet().Len() != 0 || list[j].Shapes() != 0 {
			t.Fatal("what was merged is not empty")
		}
		if rapid.Bool().Draw(t, "file") {
			list[i] = throughFile(t, list[i])
		}
		list = slices.Delete(list, j, j+1)
	}
	return list[0]
}

// TestMonoid merges the parts of a program in random groups and order, and
// compares the files: traces and part files.
func TestMonoid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawContributions(t)
		var all contribution
		var accumulators []*Accumulator
		for _, c := range list {
			all.runs = append(all.runs, c.runs...)
			all.parts = append(all.parts, c.parts...)
			accumulators = append(accumulators, c.accumulator(t))
		}
		slices.SortFunc(all.parts, func(p, q Part) int { return p.Rank - q.Rank })
		a := mergeAll(t, accumulators)
		if a.RankSet().Len() != len(all.parts)-silent(all.parts) {
			t.Fatalf("%d ranks of %d", a.RankSet().Len(), len(all.parts))
		}
		if rapid.Bool().Draw(t, "part file") {
			if got, want := partFile(t, a), partFile(t, all.accumulator(t)); !bytes.Equal(got, want) {
				t.Fatalf("part file of %d bytes, %d when all parts are added in order", len(got), len(want))
			}
			return
		}
		got, want := traceFile(t, a), traceFile(t, all.accumulator(t))
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %d when all parts are added in order", len(got), len(want))
		}
		checkCalls(t, open(t, got), all.parts)
	})
}

// silent returns the number of parts without calls.
func silent(parts []Part) int {
	n := 0
	for _, p := range parts {
		if p.Grammar.Len() == 0 {
			n++
		}
	}
	return n
}

// TestOrders checks how interleavings of different ranks and ranks without one
// are put together: in the order of their lowest ranks.
func TestOrders(t *testing.T) {
	f := cst.Function{Name: "f"}
	twice := func(rank int) Part { return repeatCall(rank, 2, f) }
	a := contribution{[]Run{{Interleaving: orderOf(5, 2, 5, 2)}, {Interleaving: orderOf(1, 3, 3, 1)},
		{Ranks: 9, Source: "b"}, {Source: "a"}, {Source: "b"}},
		[]Part{twice(0), twice(1), twice(2), twice(3), twice(4), twice(5), twice(6)}}.accumulator(t)
	trace := open(t, traceFile(t, a))
	want := orderOf(0, 0, 1, 3, 3, 1, 5, 2, 5, 2, 4, 4, 6, 6)
	checkRun(t, trace.Run(), Run{Ranks: 9, Source: "a, b", Interleaving: want})
}

// orderOf returns an interleaving.
func orderOf(ranks ...int) *sequitur.Grammar {
	var b sequitur.Builder
	for _, rank := range ranks {
		b.Append(sequitur.Symbol(rank))
	}
	return b.Finish()
}

// repeatCall returns the part of a rank that makes equal calls.
func repeatCall(rank int, n uint64, f cst.Function, args ...cst.Value) Part {
	var table cst.Table
	var b sequitur.Builder
	b.AppendRun(table.Intern(table.Declare(f), args...), n)
	return Part{Rank: rank, Table: &table, Grammar: b.Finish()}
}

// traceFile returns the trace that an accumulator writes.
func traceFile(t rapid.TB, a *Accumulator) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// throughFile writes an accumulator as a part file, and reads it.
func throughFile(t rapid.TB, a *Accumulator) *Accumulator {
	t.Helper()
	return mustRead(t, partFile(t, a))
}

func partFile(t rapid.TB, a *Accumulator) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTree merges the parts of a program in a tree, with and without part files,
// and compares the files.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		parts := p.parts()
		size := rapid.IntRange(1, len(parts)).Draw(t, "ranks of a leaf")
		n := (len(parts) + size - 1) / size
		var all, tree *Accumulator
		for _, workers := range []int{1, 4} {
			done := 0
			a, err := Tree(context.Background(), n, func(_ context.Context, i int) (*Accumulator, error) {
				a := new(Accumulator)
				for _, p := range parts[i*size : min(len(parts), (i+1)*size)] {
					if err := a.Add(p); err != nil {
						return nil, err
					}
				}
				return a, nil
			}, TreeOptions{Workers: workers, Progress: func(n int) { done = n }})
			if err != nil || done != n {
				t.Fatal(err, done, n)
			}
			all, tree = tree, a
		}
		one := new(Accumulator)
		for _, p := range slices.Backward(parts) {
			one.Add(p)
		}
		want := partFile(t, one)
		if !bytes.Equal(partFile(t, all), want) || !bytes.Equal(partFile(t, tree), want) {
			t.Fatal("part files differ")
		}
		checkCalls(t, open(t, want), parts)
	})
}

func TestTreeErrors(t *testing.T) {
	broken := errors.New("broken")
	leaf := func(_ context.Context, i int) (*Accumulator, error) {
		if i == 7 {
			return nil, broken
		}
		return new(Accumulator), nil
	}
	if _, err := Tree(context.Background(), 20, leaf, TreeOptions{}); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Tree(ctx, 20, leaf, TreeOptions{}); err != context.Canceled {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	part := spmd{ranks: 1, body: []statement{{function: cst.Function{Name: "f"}}}}.part(0)
	twice := func(context.Context, int) (*Accumulator, error) {
		a := new(Accumulator)
		return a, a.Add(part)
	}
	if _, err := Tree(context.Background(), 2, twice, TreeOptions{}); err == nil {
		t.Error("two parts of a rank were merged")
	}
	if a, err := Tree(context.Background(), 0, leaf, TreeOptions{}); err != nil || a.RankSet().Len() != 0 {
		t.Error(a, err)
	}
}

// TestCheckpoint writes files of an accumulator again and again while parts are
// added, and compares the last ones with those of all parts at once.
func TestCheckpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		parts := p.parts()
		var a Accumulator
		for i, part := range parts {
			if err := a.Add(part); err != nil {
				t.Fatal(err)
			}
			switch rapid.IntRange(0, 3).Draw(t, "write") {
			case 0:
				checkCalls(t, open(t, partFile(t, &a)), parts[:i+1])
			case 1:
				var file bytes.Buffer
				if err := a.Write(&file); err != nil {
					t.Fatal(err)
				}
				checkCalls(t, open(t, file.Bytes()), parts[:i+1])
			}
		}
		var file bytes.Buffer
		if err := a.Write(&file); err != nil {
			t.Fatal(err)
		}
		if want := write(t, Run{Ranks: p.ranks}, parts); !bytes.Equal(file.Bytes(), want) {
			t.Fatalf("%d bytes, want %d", file.Len(), len(want))
		}
	})
}

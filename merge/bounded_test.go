package merge_test

import (
	"github.com/reprise-trace/reprise/format"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
)

// bounded returns the trace of a with size bytes at most.
func bounded(t rapid.TB, a *Accumulator, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.WriteBounded(context.Background(), &b, size, spec.Keep); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// least returns the size of the smallest trace of a.
func least(t rapid.TB, a *Accumulator) int64 {
	t.Helper()
	var b bytes.Buffer
	err := a.WriteBounded(context.Background(), &b, 1, spec.Keep)
	var bound *BoundError
	if !errors.As(err, &bound) || b.Len() > 0 || bound.Size != 1 {
		t.Fatalf("a trace of a byte: %d bytes, %v", b.Len(), err)
	}
	return bound.Least
}

// A total is what calls have together that have their ranks and the lengths of arrays in common.
type total struct {
	calls uint64
	sums  []*big.Int // of each integer
}

// totals returns those of all calls of a rank, by function and what they have in common.
func totals(p Part) map[string]*total {
	all := make(map[string]*total)
	for s, n := range p.Grammar.Occurrences() {
		fn, args := p.Table.Signature(s)
		f := p.Table.Functions()[fn]
		key := []byte(fmt.Sprint(f.Name, f.Params))
		var integers []int64
		for _, v := range args {
			key, integers = keyOf(key, integers, v)
		}
		x := all[string(key)]
		if x == nil {
			x = &total{sums: make([]*big.Int, len(integers))}
			for i := range x.sums {
				x.sums[i] = new(big.Int)
			}
			all[string(key)] = x
		}
		x.calls += n
		for i, v := range integers {
			x.sums[i].Add(x.sums[i], new(big.Int).Mul(big.NewInt(v), new(big.Int).SetUint64(n)))
		}
	}
	return all
}

// keyOf appends what is exact in an argument to key, and its integers to the others.
func keyOf(key []byte, integers []int64, v cst.Value) ([]byte, []int64) {
	switch v.Kind() {
	case cst.KindInt:
		return key, append(integers, v.Int())
	case cst.KindRank:
		return binary.AppendVarint(append(key, 'r'), v.Int()), integers
	case cst.KindArray:
		key = binary.AppendVarint(append(key, 'a'), int64(v.Len()))
		for i := range v.Len() {
			key, integers = keyOf(key, integers, v.Index(i))
		}
	}
	return key, integers
}

// checkTotals checks that a trace has the totals of parts.
func checkTotals(t rapid.TB, trace *Trace, parts []Part) {
	t.Helper()
	for _, p := range parts {
		want, got := totals(p), totals(readPart(t, trace, p.Rank))
		if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) {
			t.Fatalf("rank %d: calls of %d kinds, not %d", p.Rank, len(got), len(want))
		}
		for key, w := range want {
			g := got[key]
			if g.calls != w.calls {
				t.Fatalf("rank %d: %d calls of %q, not %d", p.Rank, g.calls, key, w.calls)
			}
			for i := range w.sums {
				if g.sums[i].Cmp(w.sums[i]) != 0 {
					t.Fatalf("rank %d: integer %d of %q adds up to %v, not %v", p.Rank, i, key, g.sums[i], w.sums[i])
				}
			}
		}
	}
}

// checkExact checks that the calls that a trace says are exact are those of the parts, and returns
// how many they are.
func checkExact(t rapid.TB, trace *Trace, parts []Part) (exact int) {
	t.Helper()
	for _, p := range parts {
		rank, err := trace.Rank(p.Rank)
		if err != nil {
			t.Fatal(err)
		}
		position := uint64(0)
		for c, err := range rank.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			fn, args := p.Table.Signature(p.Grammar.At(position))
			position++
			if !c.Exact() {
				continue
			}
			exact++
			if c.Function.Name != p.Table.Functions()[fn].Name || !slices.EqualFunc(args, c.Args, cst.Value.Equal) {
				t.Fatalf("rank %d, position %d: %v is said to be exact", p.Rank, position-1, c)
			}
		}
	}
	return exact
}

// testBounded makes traces of a program that fit a random size: they have its totals, are exact
// where they say so, are the same in any order of merging, and keep all that if they are merged and
// made smaller again.
func testBounded(t *rapid.T) {
	parts := genProgram.Draw(t, "program").parts()
	run := Run{Ranks: 24}
	whole := traceFile(t, accumulate(t, run, parts))
	smallest := least(t, accumulate(t, run, parts))
	size := rapid.Int64Range(smallest, int64(len(whole))).Draw(t, "size")
	file := bounded(t, accumulate(t, run, parts), size)
	if int64(len(file)) > size {
		t.Fatalf("%d bytes, not %d at most", len(file), size)
	}
	if size == int64(len(whole)) && !bytes.Equal(file, whole) {
		t.Fatal("a trace that fits is not written as it is")
	}
	trace := open(t, file)
	checkTotals(t, trace, parts)
	checkExact(t, trace, parts)
	shuffled := rapid.Permutation(parts).Draw(t, "order")
	half := rapid.IntRange(0, len(shuffled)).Draw(t, "half")
	a := throughFile(t, accumulate(t, run, shuffled[half:]))
	if err := a.Merge(accumulate(t, run, shuffled[:half])); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bounded(t, a, size), file) {
		t.Fatal("another file in another order of merging")
	}
	again := new(Accumulator)
	if err := again.Describe(run); err != nil {
		t.Fatal(err)
	}
	if err := trace.AddTo(context.Background(), again); err != nil {
		t.Fatal(err)
	}
	if got := open(t, traceFile(t, throughFile(t, again))).Run().Bounded; !sameBounded(got, trace.Run().Bounded) {
		t.Fatalf("after merging, %+v is not exact, not %+v", got, trace.Run().Bounded)
	}
	trace = open(t, bounded(t, again, max(smallest, least(t, again))))
	checkTotals(t, trace, parts)
	checkExact(t, trace, parts)
}

func sameBounded(a, b *format.Bounded) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) }

func TestBounded(t *testing.T) {
	tier.SlowRace(t)
	rapid.Check(t, testBounded)
}

// TestBoundedLeast checks that a trace fits the size that is said to be the least, also if all that there is
// takes less than what calls give way to.
func TestBoundedLeast(t *testing.T) {
	larger := 0
	for _, p := range tier.Some(programs.All(4), 4) {
		whole := traceFile(t, accumulate(t, p.Run(), p.Parts()))
		smallest := least(t, accumulate(t, p.Run(), p.Parts()))
		if n := len(bounded(t, accumulate(t, p.Run(), p.Parts()), smallest)); int64(n) > smallest ||
			smallest > int64(len(whole)) {
			t.Errorf("%s: %d bytes, where %d are the least, and %d the whole", p.Name, n, smallest, len(whole))
		}
		if smallest == int64(len(whole)) {
			larger++
		}
	}
	if larger == 0 {
		t.Error("all programs are smaller if calls give way")
	}
}

// TestBoundedMessages makes traces of programs that never repeat fit 4 kB: messages and bytes by
// pair of ranks are those of the run.
func TestBoundedMessages(t *testing.T) {
	const size = 4000
	for _, p := range tier.Some([]programs.Program{programs.RandomAlltoallv(8, 80, 1),
		programs.RandomMessages(8, 300, 1)}, 2) {
		parts := p.Parts()
		whole := traceFile(t, accumulate(t, p.Run(), parts))
		file := bounded(t, accumulate(t, p.Run(), parts), size)
		if len(whole) <= size || len(file) > size {
			t.Fatalf("%s: %d bytes, %d of the whole", p.Name, len(file), len(whole))
		}
		trace := open(t, file)
		if trace.Content().Exact {
			t.Errorf("%s: all is exact in %d bytes of %d", p.Name, len(file), len(whole))
		}
		checkTotals(t, trace, parts)
		checkExact(t, trace, parts)
		if got, want := pairsOf(t, trace), pairsOf(t, open(t, whole)); !slices.Equal(got, want) {
			t.Errorf("%s: %v between ranks, not %v", p.Name, got, want)
		}
	}
}

// pairsOf returns what goes between all pairs of ranks, but for the number of blocks that collective
// operations exchange: those without bytes do not count, and which these are is not kept.
func pairsOf(t *testing.T, trace *Trace) []query.Pair {
	t.Helper()
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	m, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := slices.Collect(m.Traffic.All())
	for i := range pairs {
		pairs[i].Exchanged.Blocks = 0
	}
	return pairs
}

// TestBoundedReal makes traces of recorded programs fit sizes from their own to the least.
func TestBoundedReal(t *testing.T) {
	for _, name := range tier.Some([]string{"stencil.exact", "stencil.statistics", "messages.exact",
		"wildcard.exact", "startall.exact"}, 3) {
		whole := testtrace.Recorded(t, name)
		parts, err := readAll(whole)
		if err != nil {
			t.Fatal(err)
		}
		add := func() *Accumulator {
			a := accumulate(t, Run{Ranks: whole.Ranks(), Source: whole.Run().Source}, nil)
			if err := whole.AddTo(context.Background(), a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		smallest, all := least(t, add()), int64(len(traceFile(t, add())))
		for _, size := range []int64{smallest, (smallest + all) / 2, all - 1} {
			if size < smallest {
				continue
			}
			file := bounded(t, add(), size)
			if int64(len(file)) > size {
				t.Fatalf("%s: %d bytes, not %d at most", name, len(file), size)
			}
			trace := open(t, file)
			checkTotals(t, trace, parts)
			checkExact(t, trace, parts)
			if got, want := pairsOf(t, trace), pairsOf(t, whole); !slices.Equal(got, want) {
				t.Errorf("%s in %d bytes: %v between ranks, not %v", name, size, got, want)
			}
			if b := trace.Run().Bounded; b == nil && size < all {
				t.Errorf("%s: all is in %d bytes of %d", name, size, all)
			}
		}
	}
}

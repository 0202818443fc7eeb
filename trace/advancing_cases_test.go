package trace_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/advancing"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// recordedCalls returns the part of the calls of a rank.
func recordedCalls(t *testing.T, rank int, functions []cst.Function, calls []advancing.Call) merge.Part {
	t.Helper()
	var r tracer.Recorder
	numbers := make([]int, len(functions))
	for i, f := range functions {
		numbers[i] = r.Declare(f)
	}
	for _, c := range calls {
		r.Call(numbers[c.Function], c.Args...)
	}
	p := r.Finish(rank)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

// accumulated returns the calls of ranks, in one Accumulator.
func accumulated(t *testing.T, functions []cst.Function, ranks ...[]advancing.Call) *merge.Accumulator {
	t.Helper()
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Ranks: len(ranks)}); err != nil {
		t.Fatal(err)
	}
	for rank, calls := range ranks {
		if err := a.Add(recordedCalls(t, rank, functions, calls)); err != nil {
			t.Fatal(err)
		}
	}
	return &a
}

// compareWritten compares the calls of ranks with those that are read of a trace of a.
func compareWritten(t *testing.T, a *merge.Accumulator, functions []cst.Function, ranks ...[]advancing.Call) {
	t.Helper()
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(b.Bytes()), int64(b.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range ranks {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != uint64(len(want)) {
			t.Fatalf("%d calls of rank %d, not %d", r.Len(), rank, len(want))
		}
		i := 0
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if f := functions[want[i].Function]; !c.Function.Equal(f) {
				t.Fatalf("call %d of rank %d is of %v, not %v", i, rank, *c.Function, f)
			}
			for k, v := range want[i].Args {
				if !v.Equal(c.Args[k]) {
					t.Fatalf("argument %d of call %d of rank %d is %v, not %v", k, i, rank, c.Args[k], v)
				}
			}
			i++
		}
	}
}

// numbers returns parameters that are numbers.
func numbers(names ...string) []cst.Param {
	var params []cst.Param
	for _, n := range names {
		params = append(params, cst.Param{Name: n, Type: cst.Type{Kind: cst.KindInt}})
	}
	return params
}

// TestAdvancingOfOneName has the same values advance in functions of one name, whose calls have one text.
func TestAdvancingOfOneName(t *testing.T) {
	functions := []cst.Function{
		{Name: "f", Params: numbers("n")},
		{Name: "f", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindTag}}}},
	}
	var calls []advancing.Call
	for i := range int64(100) {
		calls = append(calls, advancing.Call{Function: 0, Args: []cst.Value{cst.Int(i)}},
			advancing.Call{Function: 1, Args: []cst.Value{cst.Tag(i)}})
	}
	compareWritten(t, accumulated(t, functions, calls), functions, calls)
}

// shuffledFirst returns calls of a function with a number: n from first on in any order, and 100 that advance.
func shuffledFirst(first, n int) []advancing.Call {
	var calls []advancing.Call
	add := func(v int) { calls = append(calls, advancing.Call{Args: []cst.Value{cst.Int(int64(v))}}) }
	for _, v := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		add(first + v)
	}
	for i := range 100 {
		add(1_000_000 + 8*i)
	}
	return calls
}

// TestAdvancingAfterAll has an argument advance that had all values before that its stream may have as a number.
func TestAdvancingAfterAll(t *testing.T) {
	functions, calls := []cst.Function{{Name: "f", Params: numbers("n")}}, shuffledFirst(0, 20_000)
	begin := time.Now()
	a := accumulated(t, functions, calls)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%v for %d calls", took, len(calls))
	}
	compareWritten(t, a, functions, calls)
}

// comparePart checks that ranks that are written to one part file are the same trace if they are read from it.
func comparePart(t *testing.T, functions []cst.Function, ranks ...[]advancing.Call) {
	t.Helper()
	a := accumulated(t, functions, ranks...)
	var part, want, got bytes.Buffer
	if err := a.WritePart(&part); err != nil {
		t.Fatal(err)
	}
	r, err := format.NewReader(bytes.NewReader(part.Bytes()), int64(part.Len()), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := merge.ReadPart(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Write(&got); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("another trace")
	}
	compareWritten(t, read, functions, ranks...)
}

// TestStreamNumbersOfRanks has ranks of one shape whose streams have different numbers, as those that the first
// would have are values of an argument of some ranks.
func TestStreamNumbersOfRanks(t *testing.T) {
	comparePart(t, []cst.Function{{Name: "f", Params: numbers("n")}}, shuffledFirst(0, 300), shuffledFirst(10_000, 300))
}

// TestStreamsOfRanks has ranks of one shape, of which one has a stream for the first two signatures of three, and
// the other for the last two.
func TestStreamsOfRanks(t *testing.T) {
	functions := []cst.Function{{Name: "f", Params: append(numbers("k"),
		cst.Param{Name: "p", Type: cst.Type{Kind: cst.KindPointer}})}}
	var ranks [][]advancing.Call
	for _, segments := range [][]int64{{0, 0, 1}, {0, 1, 1}} {
		var calls []advancing.Call
		var at [2]int64
		for k, s := range segments {
			for range 50 {
				at[s] += 8
				p := cst.PointerTo(cst.Pointer{Segment: s, Displacement: at[s]})
				calls = append(calls, advancing.Call{Args: []cst.Value{cst.Int(int64(k % 2)), p}})
			}
		}
		ranks = append(ranks, calls)
	}
	comparePart(t, functions, ranks...)
}

// TestAdvancingBesideAny has an argument go on in a loop as it does in all, and another that has any value.
func TestAdvancingBesideAny(t *testing.T) {
	functions := []cst.Function{{Name: "f", Params: numbers("n")}, {Name: "g", Params: numbers("n")}}
	random := rand.New(rand.NewPCG(1, 1))
	var calls []advancing.Call
	for i := range int64(80_000) {
		for k := range int64(20) {
			calls = append(calls, advancing.Call{Function: 0, Args: []cst.Value{cst.Int(408 * k)}})
		}
		if i >= 100 {
			i = random.Int64N(1 << 20)
		}
		calls = append(calls, advancing.Call{Function: 1, Args: []cst.Value{cst.Int(i)}})
	}
	begin := time.Now()
	compareWritten(t, accumulated(t, functions, calls), functions, calls)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%v for %d calls", took, len(calls))
	}
}

package trace_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/advancing"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// advancingPart records the calls of a rank, with exact times if they are to be kept.
func advancingPart(t *rapid.T, rank int, calls []advancing.Call, timed bool) merge.Part {
	var o tracer.Options
	if timed {
		o.Series, o.BlockLen = exactSeries(t), 64
	}
	r, err := tracer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int, len(advancing.Functions))
	for i, f := range advancing.Functions {
		numbers[i] = r.Declare(f)
	}
	for i, c := range calls {
		if timed {
			r.CallAt(numbers[c.Function], startOf(i), int64(i%7), c.Args...)
		} else {
			r.Call(numbers[c.Function], c.Args...)
		}
		if i == len(calls)/2 && rank%2 == 1 {
			r.Snapshot(rank) // which changes nothing
		}
	}
	p := r.Finish(rank)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

// startOf returns when the i-th call begins.
func startOf(i int) int64 { return int64(i*10 + i%3) }

// exactSeries returns a codec of exact times.
func exactSeries(t *rapid.T) *timing.SeriesCodec {
	exact, err := timing.NewLossless(timing.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	c, err := timing.NewSeriesCodec(exact, exact, timing.Gaps)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAdvancing compares the calls of random programs whose arguments advance with those of their traces,
// which are the same in whatever order ranks are merged, and if they are merged again.
func TestAdvancing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program, ranks := advancing.Draw(t), rapid.IntRange(1, 5).Draw(t, "ranks")
		timed := rapid.Bool().Draw(t, "timed")
		calls := make([][]advancing.Call, ranks)
		var all merge.Accumulator
		describe(t, &all, ranks)
		for rank := range calls {
			calls[rank] = program.Calls(rank, 600)
			add(t, &all, advancingPart(t, rank, calls[rank], timed))
		}
		file := written(t, &all)
		first := compareAdvancing(t, file, calls, timed)
		var parts merge.Accumulator
		describe(t, &parts, ranks)
		for _, rank := range rapid.Permutation(ranksOf(first)).Draw(t, "order") {
			var one merge.Accumulator
			add(t, &one, advancingPart(t, rank, calls[rank], timed))
			mergeInto(t, &parts, throughFile(t, &one))
		}
		if got := written(t, &parts); !bytes.Equal(got, file) {
			t.Fatalf("%d bytes by part files, not %d", len(got), len(file))
		}
		checkBounded(t, &all, len(file), calls)
		var again merge.Accumulator
		describe(t, &again, ranks)
		if err := first.AddTo(t.Context(), &again); err != nil {
			t.Fatal(err)
		}
		compareAdvancing(t, written(t, &again), calls, timed)
	})
}

func describe(t *rapid.T, a *merge.Accumulator, ranks int) {
	if err := a.Describe(merge.Run{Ranks: ranks}); err != nil {
		t.Fatal(err)
	}
}

func add(t *rapid.T, a *merge.Accumulator, p merge.Part) {
	if err := a.Add(p); err != nil {
		t.Fatal(err)
	}
}

func mergeInto(t *rapid.T, a, b *merge.Accumulator) {
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
}

func written(t *rapid.T, a *merge.Accumulator) []byte {
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// throughFile returns what a part file of a is read as.
func throughFile(t *rapid.T, a *merge.Accumulator) *merge.Accumulator {
	var b bytes.Buffer
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	r, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := merge.ReadPart(r)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// compareAdvancing compares what ranks called with their trace, which it returns.
func compareAdvancing(t *rapid.T, file []byte, calls [][]advancing.Call, timed bool) *trace.Trace {
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range calls {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != uint64(len(want)) {
			t.Fatalf("rank %d has %d calls, not %d", rank, r.Len(), len(want))
		}
		compareCalls(t, r, want, timed)
		checkTerminals(t, r)
		kept := rapid.SliceOfN(rapid.Bool(), 5, 5).Draw(t, "kept")
		for _, keep := range []func(function, param int) bool{
			nil, func(_, param int) bool { return kept[param] }, func(int, int) bool { return true },
		} {
			folded, err := tr.Folded(rank, keep)
			if err != nil {
				t.Fatal(err)
			}
			compareCalls(t, folded, want, timed)
			compareFolded(t, folded, want, keep)
			expanded, err := folded.Expand(r.Terminals())
			if err != nil {
				t.Fatal(err)
			}
			compareCalls(t, expanded, want, timed)
			if expanded.Terminals() != r.Terminals() {
				t.Fatalf("%d different calls, not %d", expanded.Terminals(), r.Terminals())
			}
			_, err = folded.Expand(r.Terminals() - 1)
			if expanded != folded && !errors.Is(err, format.ErrLimit) {
				t.Fatalf("one different call more than the limit: %v", err)
			}
		}
	}
	return tr
}

// compareCalls compares the calls of a rank with those it made.
func compareCalls(t *rapid.T, r *trace.Rank, want []advancing.Call, timed bool) {
	check := func(i int, c trace.Call) {
		got, w := c.String(), textOf(want[i])
		if got != w || c.Position != uint64(i) {
			t.Fatalf("call %d of rank %d is %s, %d, not %s", i, c.Rank, got, c.Position, w)
		}
		if timed && c.Timed && (c.Start != startOf(i) || c.Duration != int64(i%7)) {
			t.Fatalf("call %d of rank %d began at %d and took %d", i, c.Rank, c.Start, c.Duration)
		}
	}
	from := rapid.IntRange(0, len(want)).Draw(t, "from")
	for _, from := range []int{0, from} {
		i := from
		for c, err := range r.Calls(uint64(from)) {
			if err != nil {
				t.Fatal(err)
			}
			if check(i, c); timed && !c.Timed {
				t.Fatalf("call %d of rank %d has no time", i, c.Rank)
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("%d calls of rank %d, not %d", i, r.Number(), len(want))
		}
	}
	if from < len(want) {
		check(from, r.CallAt(uint64(from)))
	}
	chosen := rapid.Uint64().Draw(t, "chosen") // terminals
	of := func(c trace.Call) bool { return chosen>>(c.Terminal%64)&1 == 1 }
	for c, err := range r.Select(uint64(from), of) {
		if err != nil || !of(c) {
			t.Fatalf("call %d of terminal %d: %v", c.Position, c.Terminal, err)
		}
		for ; !of(r.CallAt(uint64(from))); from++ {
		}
		check(from, c)
		from++
	}
	for ; from < len(want); from++ {
		if of(r.CallAt(uint64(from))) {
			t.Fatalf("call %d is not among those of its terminal", from)
		}
	}
}

// compareFolded compares the calls that the terminals of a rank stand for with those it made.
func compareFolded(t *rapid.T, r *trace.Rank, want []advancing.Call, keep func(function, param int) bool) {
	first, i := make(map[uint32]int), 0
	for w := r.Walk(0); i < len(want); {
		run := w.Next()
		for range run.Count {
			if _, ok := first[run.Symbol]; !ok {
				if first[run.Symbol] = i; r.Call(run.Symbol).String() != textOf(want[i]) {
					t.Fatalf("terminal %d begins with %s, not %s", run.Symbol, r.Call(run.Symbol), textOf(want[i]))
				}
			}
			x := want[first[run.Symbol]]
			for param, v := range want[i].Args {
				if keep != nil && keep(x.Function, param) && !v.Equal(x.Args[param]) {
					t.Fatalf("calls %d and %d have terminal %d", first[run.Symbol], i, run.Symbol)
				}
			}
			i++
		}
	}
}

// textOf returns a call as text.
func textOf(c advancing.Call) string {
	return string(cst.AppendCall(nil, advancing.Functions[c.Function], c.Args))
}

// checkTerminals checks that equal calls have equal terminals.
func checkTerminals(t *rapid.T, r *trace.Rank) {
	of := make(map[string]uint32)
	for x := range uint32(r.Terminals()) {
		text := r.Call(x).String()
		if y, ok := of[text]; ok {
			t.Fatalf("terminals %d and %d are %s", y, x, text)
		}
		of[text] = x
	}
}

// ranksOf returns the ranks that made calls.
func ranksOf(tr *trace.Trace) []int {
	var list []int
	for _, rank := range tr.RankSet().All() {
		list = append(list, int(rank))
	}
	return list
}

// checkBounded checks that a trace of three quarters of the size has as many calls of each function and rank.
func checkBounded(t *rapid.T, a *merge.Accumulator, size int, calls [][]advancing.Call) {
	var b bytes.Buffer
	var bound *merge.BoundError
	if err := a.WriteBounded(t.Context(), &b, int64(size)*3/4, nil); errors.As(err, &bound) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(b.Bytes()), int64(b.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range calls {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		counts := make(map[string]int)
		for _, c := range calls[rank] {
			counts[advancing.Functions[c.Function].Name]++
		}
		for x, n := range r.Occurrences() {
			counts[r.Call(x).Function.Name] -= int(n)
		}
		for name, n := range counts {
			if n != 0 {
				t.Fatalf("%d calls of %s are missing of rank %d", n, name, rank)
			}
		}
	}
}

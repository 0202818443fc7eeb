package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// numbered returns a function with one parameter.
func numbered(name string, typ cst.Type) cst.Function {
	return cst.Function{Name: name, Params: []cst.Param{{Name: "x", Type: typ}}}
}

// recordedCalls returns the part of a rank that makes n calls of one argument.
func recordedCalls(rank, n int, call func(i int) (cst.Function, cst.Value)) merge.Part {
	var table cst.Table
	var b sequitur.Builder
	for i := range n {
		f, v := call(i)
		b.Append(table.Intern(table.Declare(f), v))
	}
	return merge.Part{Rank: rank, Table: &table, Grammar: b.Finish()}
}

// recordedArgs returns the part of a rank that makes n calls of a function.
func recordedArgs(rank, n int, f cst.Function, args func(i int) []cst.Value) merge.Part {
	var table cst.Table
	var b sequitur.Builder
	fn := table.Declare(f)
	for i := range n {
		b.Append(table.Intern(fn, args(i)...))
	}
	return merge.Part{Rank: rank, Table: &table, Grammar: b.Finish()}
}

// irregular returns a number without a pattern for a call of a rank.
func irregular(rank, i int) uint32 {
	x := uint64(rank)<<32 | uint64(i)
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return uint32(x >> 32)
}

func writeTrace(t rapid.TB, ranks int, parts ...merge.Part) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Ranks: ranks}, parts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openTrace(t rapid.TB, file []byte) *Trace {
	t.Helper()
	trace, err := OpenReader(bytes.NewReader(file), int64(len(file)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// A callReader reads the calls of an iterator one by one.
type callReader struct{ next func() (Call, error, bool) }

func readCalls(t rapid.TB, calls iter.Seq2[Call, error]) *callReader {
	next, stop := iter.Pull2(calls)
	if t, ok := t.(interface{ Cleanup(func()) }); ok {
		t.Cleanup(stop)
	}
	return &callReader{next}
}

// Read returns the next call, or io.EOF after the last.
func (r *callReader) Read() (Call, error) {
	c, err, ok := r.next()
	if !ok {
		return Call{}, io.EOF
	}
	return c, err
}

// ranksOf returns the ranks that made calls.
func ranksOf(trace *Trace) (list []int) {
	for _, rank := range trace.RankSet().All() {
		list = append(list, rank)
	}
	return list
}

// checkCallsOf checks that a rank has the calls of a part.
func checkCallsOf(t rapid.TB, trace *Trace, want merge.Part) {
	t.Helper()
	r, err := trace.Rank(want.Rank)
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != want.Grammar.Len() {
		t.Fatalf("rank %d made %d calls, want %d", want.Rank, r.Len(), want.Grammar.Len())
	}
	next := want.Grammar.Walk(0)
	var run sequitur.Run
	for call, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		position := call.Position
		if run.Count == 0 {
			run = next.Next()
		}
		run.Count--
		fn, args := want.Table.Signature(run.Symbol)
		if got, want := call.String(), string(cst.AppendCall(nil, want.Table.Functions()[fn], args)); got != want {
			t.Fatalf("call %d of rank %d is %s, want %s", position, r.Number(), got, want)
		}
	}
}

// TestCalls checks the calls of a rank from every position, where they are a list
// and where they are a grammar. Their terminals are numbered as a rank that
// records calls numbers them.
func TestCalls(t *testing.T) {
	amount := numbered("compute", cst.Type{Kind: cst.KindFloat})
	step := numbered("step", cst.Type{Kind: cst.KindInt})
	noisy := func(round int) merge.Part { // calls in a loop of so many, of which one varies
		return recordedCalls(0, 300*round, func(i int) (cst.Function, cst.Value) {
			if i%round == round-1 {
				return amount, cst.Float(float64(irregular(i, 0) % 30))
			}
			return step, cst.Int(int64(i % round % 3))
		})
	}
	tests := []struct {
		name          string
		part          merge.Part
		varying, list bool
	}{
		{"NoStreams", recordedCalls(0, 100, func(i int) (cst.Function, cst.Value) {
			return step, cst.Int(int64(i % 3))
		}), false, false},
		{"List", noisy(4), true, true},
		{"Grammar", noisy(40), true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := writeTrace(t, 1, tt.part)
			trace := openTrace(t, file)
			c, err := trace.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			withoutTemplate := openTrace(t, file)
			withoutTemplate.caches.shapes.most = 0
			checkCallsOf(t, withoutTemplate, tt.part)
			checkCallsOf(t, trace, tt.part)
			if varying := trace.signatures.Streams != nil; varying != tt.varying || c.Listed() != tt.list {
				t.Errorf("varying: %v, a list: %v, want %v, %v", varying, c.Listed(), tt.varying, tt.list)
			}
			want := tt.part.Grammar.AppendSymbols(nil)
			if c.Len() != uint64(len(want)) || !c.Grammar().Equal(tt.part.Grammar) {
				t.Fatalf("%d calls, %v, want %d, %v", c.Len(), c.Grammar(), len(want), tt.part.Grammar)
			}
			if got, want := maps.Collect(c.Occurrences()),
				maps.Collect(tt.part.Grammar.Occurrences()); !maps.Equal(got, want) {
				t.Errorf("occurrences %v, want %v", got, want)
			}
			for position := 0; position < len(want)+2; position += 1 + position/9 {
				var got []sequitur.Symbol
				w := c.Walk(uint64(position))
				for r := w.Next(); r.Count > 0; r = w.Next() {
					got = append(got, slices.Repeat([]sequitur.Symbol{r.Symbol}, int(r.Count))...)
				}
				if !slices.Equal(got, want[min(position, len(want)):]) {
					t.Fatalf("calls %v from %d on", got, position)
				}
			}
			for i := range c.Terminals() {
				args := c.Call(uint32(i)).Args
				if _, recorded := tt.part.Table.Signature(uint32(i)); fmt.Sprint(args) != fmt.Sprint(recorded) {
					t.Errorf("signature %d: %v, want %v", i, args, recorded)
				}
			}
		})
	}
}

// TestColumnCache checks that no more columns are kept than fit, whatever the
// order in which ranks are read, and that they are read again.
func TestColumnCache(t *testing.T) {
	const ranks = 500
	var parts []merge.Part
	for rank := range ranks {
		parts = append(parts, recordedCalls(rank, 30, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", i), cst.Type{Kind: cst.KindInt}), cst.Int(int64(irregular(rank, i)))
		}))
	}
	file := writeTrace(t, ranks, parts...)
	whole := openTrace(t, file)
	for _, p := range parts {
		checkCallsOf(t, whole, p)
	}
	// columns returns how many columns are kept, and how many bytes are counted for them.
	columns := func(trace *Trace) (n, size int) {
		for i := range trace.columns {
			if c := trace.columns[i].value.Load(); c != nil {
				n, size = n+1, size+c.size
			}
		}
		return n, size
	}
	n, size := columns(whole)
	column := size / 30
	if n != 30 || column < 4*ranks {
		t.Fatalf("%d columns of %d bytes", n, size)
	}
	for _, fit := range []int{0, 1, 7, 29, 30} {
		trace := openTrace(t, file)
		trace.held = 0 // or the shape would keep them, too
		trace.caches.columns.most = fit * (column + 9)
		held := 0
		for i := range ranks {
			rank := i * 7 % ranks
			checkCallsOf(t, trace, parts[rank])
			n, size := columns(trace)
			if size != trace.caches.columns.size {
				t.Fatalf("%d bytes are kept, taken for %d", size, trace.caches.columns.size)
			}
			held = max(held, n)
		}
		if want := max(fit, 1); held < want || held > fit+1 { // the last one is kept in any case
			t.Errorf("%d columns are kept, want %d", held, want)
		}
	}
}

// TestExpressions checks that what expressions of all ranks yield are the arguments,
// and how many of them are not constant: of ranks in communicators, and in the run.
func TestExpressions(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "amount", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "varies", Type: cst.Type{Kind: cst.KindRank}}, {Name: "to", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "from", Type: cst.Type{Kind: cst.KindStatus}},
		{Name: "list", Type: cst.ArrayOf(cst.Type{Kind: cst.KindRank})},
	}}
	var parts []merge.Part
	for rank := range 8 {
		parts = append(parts, recordedArgs(rank, 400, f, func(i int) []cst.Value {
			next := int64(rank) + 1
			return []cst.Value{
				cst.PointerTo(cst.Pointer{Segment: 1}), cst.Rank(int64(irregular(rank, i) % 30)), cst.Rank(next),
				cst.StatusOf(cst.Status{Source: next}), cst.Array(cst.Rank(next)),
			}
		}))
	}
	trace := openTrace(t, writeTrace(t, 8, parts...))
	r, err := trace.Rank(3)
	if err != nil {
		t.Fatal(err)
	}
	next := knownExpression{expr: rankenc.Shift(1), known: true, rank: 3}
	for i, want := range []bool{false, false, true, true, false} {
		if got := r.expression(0, i); got.known != want || want && got != next {
			t.Errorf("argument %d: %+v, want %+v", i, got, next)
		}
	}
}

// TestExpressionsInGroups checks that ranks in communicators are expressions of the
// rank there.
func TestExpressionsInGroups(t *testing.T) {
	const ranks, groups = 60, 3
	f := cst.Function{Name: "send", Params: []cst.Param{{Name: "to", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "from", Type: cst.Type{Kind: cst.KindRank}}, {Name: "comm", Type: cst.HandleOf("comm")}}}
	order := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
	var parts []merge.Part
	for rank := range ranks {
		const size = ranks / groups
		own := merge.Group{Rank: order[rank] % size, Size: size}
		p := recordedArgs(rank, 5, f, func(int) []cst.Value {
			return []cst.Value{cst.Rank(int64(own.Rank+1) % size), cst.Rank(int64(own.Rank+size-1) % size),
				cst.Handle(int64(order[rank] / size))}
		})
		p.Groups = map[merge.GroupHandle]merge.Group{{Class: "comm", Value: int64(order[rank] / size)}: own}
		parts = append(parts, p)
	}
	trace := openTrace(t, writeTrace(t, ranks, parts...))
	for _, p := range parts {
		r, err := trace.Rank(p.Rank)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(order[p.Rank] % (ranks / groups))
		if e := r.expression(0, 0); !e.known || !e.grouped || e.rank != want ||
			e.expr.Eval(want, ranks/groups) != r.Call(0).Args[0].Int() {
			t.Fatalf("rank %d: %+v", p.Rank, e)
		}
	}
}

// TestExpressionsDiffer checks that calls of one rank that are equal, but follow from
// different expressions, are one terminal and have none.
func TestExpressionsDiffer(t *testing.T) {
	f := numbered("send", cst.Type{Kind: cst.KindRank})
	var parts []merge.Part
	for rank := range 4 {
		to := []int64{int64(rank) + 1, 2}
		parts = append(parts, recordedArgs(rank, 2, f, func(i int) []cst.Value { return []cst.Value{cst.Rank(to[i])} }))
	}
	trace := openTrace(t, writeTrace(t, 4, parts...))
	for rank, p := range parts {
		r, err := trace.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.expression(0, 0); got.known != (rank != 1) {
			t.Errorf("rank %d: %+v", rank, got)
		}
		if r.Terminals() != p.Table.Len() || !r.Grammar().Equal(p.Grammar) {
			t.Errorf("rank %d has %d terminals, want %d", rank, r.Terminals(), p.Table.Len())
		}
		checkCallsOf(t, trace, p)
	}
}

// TestArgumentAt checks that the values of arguments over ranks are those of their
// calls.
func TestArgumentAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []cst.Type{{Kind: cst.KindInt}, {Kind: cst.KindRank}, {Kind: cst.KindString},
			{Kind: cst.KindStatus}, cst.ArrayOf(cst.Type{Kind: cst.KindTag})}
		f := cst.Function{Name: "f"}
		for i, k := range rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 4).Draw(t, "types") {
			f.Params = append(f.Params, cst.Param{Name: string(rune('a' + i)), Type: k})
		}
		number := rapid.SampledFrom([]func(rank int) int64{
			func(int) int64 { return 7 }, func(rank int) int64 {
				return int64(rank) + 1
			}, func(rank int) int64 { return int64(rank+1) % 5 },
			func(rank int) int64 { return int64(irregular(rank, 3) % 4) },
		})
		values := make([]func(rank int) int64, len(f.Params))
		for i := range values {
			values[i] = number.Draw(t, "values")
		}
		valueOf := func(k cst.Type, v int64) cst.Value {
			switch k.Kind {
			case cst.KindRank:
				return cst.Rank(v)
			case cst.KindString:
				return cst.String(fmt.Sprint(v))
			case cst.KindStatus:
				return cst.StatusOf(cst.Status{Source: v, Tag: 3})
			case cst.KindArray:
				return cst.Array(cst.Tag(v), cst.Tag(2))
			}
			return cst.Int(v)
		}
		var parts []merge.Part
		for rank := range 9 {
			parts = append(parts, recordedArgs(rank, 1, f, func(int) []cst.Value {
				var args []cst.Value
				for i, p := range f.Params {
					args = append(args, valueOf(p.Type, values[i](rank)))
				}
				return args
			}))
		}
		trace := openTrace(t, writeTrace(t, 9, parts...))
		s := trace.Signature(0)
		for rank, p := range parts {
			_, want := p.Table.Signature(0)
			for i, a := range s.Args {
				got, err := a.At(rank)
				if err != nil || got.String() != want[i].String() {
					t.Fatalf("argument %d of rank %d is %v, %v, want %v", i, rank, got, err, want[i])
				}
				if v, ok := a.Constant(); ok && v.String() != want[i].String() {
					t.Fatalf("argument %d is always %v, but %v of rank %d", i, v, want[i], rank)
				}
			}
		}
		if _, err := s.Args[0].At(9); err == nil {
			t.Fatal("a rank that is not there has a value")
		}
	})
}

// TestShapesKept checks that a trace does not keep many grammars that a small file
// stands for.
func TestShapesKept(t *testing.T) {
	const shapes, symbols = 10, 1 << 12
	f := numbered("step", cst.Type{Kind: cst.KindInt})
	var parts []merge.Part
	for rank := range shapes {
		parts = append(parts, recordedCalls(rank, symbols+rank, func(i int) (cst.Function, cst.Value) {
			return f, cst.Int(int64(i))
		}))
	}
	trace := openTrace(t, writeTrace(t, shapes, parts...))
	trace.caches.shapes.most = 3 * (symbols * 11 * symbolSize)
	held, most := 0, 0
	for i := range shapes {
		if _, err := trace.Shape(i); err != nil {
			t.Fatal(err)
		}
		n, size := 0, 0
		for i := range trace.shapes {
			if s := trace.shapes[i].value.Load(); s != nil {
				n, size = n+1, size+s.size()
			}
		}
		held, most = max(held, size), max(most, n)
	}
	if held > trace.caches.shapes.most || most < 2 || most == shapes {
		t.Errorf("%d shapes of %d bytes are kept, more than %d", most, held, trace.caches.shapes.most)
	}
}

// TestSignatureContradiction describes a file that contradicts itself: an array
// that is not as long as the rows that are stored of it, and shapes with a rank
// in common.
func TestSignatureContradiction(t *testing.T) {
	trace := openTrace(t, writeTrace(t, 1, recordedCalls(0, 1, func(int) (cst.Function, cst.Value) {
		return numbered("f", cst.ArrayOf(cst.Type{Kind: cst.KindInt})), cst.Array(cst.Int(1), cst.Int(2))
	})))
	s := trace.Signature(0)
	s.Args[0].array.Slots--
	if text, err := trace.Printer(PrintOptions{}).Signature(nil, s); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("signature is %v, %v", text, err)
	}
	set := rankenc.SetOf(3, 9)
	trace.setRanks([]rankenc.Set{rankenc.World(5), set})
	if got := trace.RankSet().String(); got != "0-4, 9" {
		t.Errorf("ranks %s", got)
	}
}

// TestRankIndex compares what an index finds with a list of the shapes of ranks.
func TestRankIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 60
		shapes := rapid.SliceOfN(rapid.IntRange(-1, 5), ranks, ranks).Draw(t, "shapes")
		lists := make([][]int, 6)
		for rank, shape := range shapes {
			if shape >= 0 {
				lists[shape] = append(lists[shape], rank)
			}
		}
		var sets []rankenc.Set
		for _, list := range lists {
			if len(list) > 0 {
				set := rankenc.SetOf(list...)
				sets = append(sets, set)
			}
		}
		slices.SortFunc(sets, func(s, u rankenc.Set) int { return int(s.At(0)) - int(u.At(0)) })
		x := newRankIndex(sets)
		for rank := range ranks + 5 {
			shape, ok := x.find(rank)
			if want := rank < ranks && shapes[rank] >= 0; ok != want || ok && !sets[shape].Contains(rank) {
				t.Fatalf("rank %d is in %v, %d, want %v", rank, ok, shape, want)
			}
			next := rank
			for next < ranks && shapes[next] < 0 {
				next++
			}
			if got, ok := x.next(rank); ok != (next < ranks) || ok && got != next {
				t.Fatalf("the next rank from %d is %d, %v, want %d", rank, got, ok, next)
			}
		}
	})
}

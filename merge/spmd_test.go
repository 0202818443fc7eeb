package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/sequitur"
)

// An spmd is a program that every rank runs.
type spmd struct {
	ranks int
	body  []statement
}

// A statement is a call, a loop or a branch on the rank.
type statement struct {
	function cst.Function
	args     []argument
	body     []statement
	loops    func(rank int) int // nil if there is no body
}

// An argument is the value of one in the i-th call of a rank.
type argument func(rank, call int) cst.Value

// part returns what a rank records.
func (p spmd) part(rank int) Part {
	var (
		table   cst.Table
		grammar sequitur.Builder
		calls   int
		run     func([]statement)
	)
	run = func(body []statement) {
		for _, s := range body {
			if s.loops != nil {
				for range s.loops(rank) {
					run(s.body)
				}
				continue
			}
			var args []cst.Value
			for _, a := range s.args {
				args = append(args, a(rank, calls))
			}
			calls++
			grammar.Append(sequitur.Symbol(table.Intern(table.Declare(s.function), args...)))
		}
	}
	run(p.body)
	return Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
}

func (p spmd) parts() []Part {
	var parts []Part
	for rank := range p.ranks {
		parts = append(parts, p.part(rank))
	}
	return parts
}

// genProgram draws programs with loops, branches on the rank, peers by
// expressions of the rank, and counts that vary.
var genProgram = rapid.Custom(func(t *rapid.T) spmd {
	p := spmd{ranks: rapid.IntRange(1, 24).Draw(t, "ranks")}
	p.body = drawBody(t, p.ranks, 3)
	return p
})

func drawBody(t *rapid.T, ranks, depth int) []statement {
	var body []statement
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 || kind < 3 {
			body = append(body, drawCall(t, ranks))
			continue
		}
		s := statement{body: drawBody(t, ranks, depth-1)}
		n := rapid.IntRange(1, 5).Draw(t, "times")
		switch kind {
		case 3:
			s.loops = func(int) int { return n }
		case 4:
			s.loops = func(rank int) int { return min(1, rank%n) }
		case 5:
			s.loops = func(rank int) int { return rank % n }
		}
		body = append(body, s)
	}
	return body
}

func drawCall(t *rapid.T, ranks int) statement {
	types := []cst.Type{
		{Kind: cst.KindInt}, {Kind: cst.KindRank}, {Kind: cst.KindTag}, {Kind: cst.KindFloat}, {Kind: cst.KindString}, {Kind: cst.KindBytes},
		{Kind: cst.KindPointer}, {Kind: cst.KindStatus}, cst.HandleOf("comm"), cst.ArrayOf(cst.Type{Kind: cst.KindInt}),
		cst.ArrayOf(cst.Type{Kind: cst.KindStatus}), cst.ArrayOf(cst.ArrayOf(cst.Type{Kind: cst.KindString})),
	}
	s := statement{function: cst.Function{Name: rapid.SampledFrom([]string{"send", "recv", "wait"}).Draw(t, "name")}}
	for i := range rapid.IntRange(0, 3).Draw(t, "params") {
		typ := rapid.SampledFrom(types).Draw(t, "type")
		s.function.Params = append(s.function.Params, cst.Param{Name: fmt.Sprint("p", i), Type: typ})
		number := drawNumber(t, ranks)
		s.args = append(s.args, func(rank, call int) cst.Value { return valueOf(typ, number(rank, call)) })
	}
	return s
}

// drawNumber draws a number that depends on the rank, and on how many calls it
// made before.
func drawNumber(t *rapid.T, ranks int) func(rank, call int) int64 {
	c := rapid.Int64Range(-3, 300).Draw(t, "c")
	m := rapid.IntRange(1, 4).Draw(t, "m")
	return []func(rank, call int) int64{
		func(int, int) int64 { return c },
		func(rank, _ int) int64 { return int64(rank) + c },
		func(rank, _ int) int64 { return (int64(rank) + c) % int64(ranks) },
		func(rank, _ int) int64 { return int64(rank) ^ 1 },
		func(rank, _ int) int64 { return int64(rank*7919%101) * c },
		func(_, call int) int64 { return int64(call % m) },
		func(rank, call int) int64 { return int64((rank + call) % m) },
		func(rank, call int) int64 { return int64(rank*31+call*17) * 2654435761 % 97 },
		func(rank, call int) int64 { return math.MaxInt64 - int64(rank)*math.MaxInt64/2 + int64(call/5) },
	}[rapid.IntRange(0, 8).Draw(t, "number")]
}

// valueOf returns a value of a type that goes with a number.
func valueOf(t cst.Type, v int64) cst.Value {
	switch t.Kind {
	case cst.KindRank:
		return cst.Rank(v)
	case cst.KindTag:
		return cst.Tag(v)
	case cst.KindHandle:
		return cst.Handle(v)
	case cst.KindFloat:
		return cst.Float(float64(v) / 3)
	case cst.KindString:
		return cst.String(fmt.Sprint("file.", v))
	case cst.KindBytes:
		return cst.Bytes([]byte{byte(v), byte(v >> 8)})
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: v, Displacement: 8 * v})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: v, Tag: -v})
	case cst.KindArray:
		elems := make([]cst.Value, uint64(v)%4)
		for i := range elems {
			elems[i] = valueOf(*t.Elem, v+int64(i))
		}
		return cst.Array(elems...)
	}
	return cst.Int(v)
}

func TestPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		parts := p.parts()
		run := Run{Ranks: p.ranks, Source: "test"}
		checkCalls(t, open(t, write(t, run, parts)), parts)
	})
}

// TestMonoid merges the parts of a program in random groups and order, and
// compares the files.
func TestMonoid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		run := Run{Ranks: p.ranks, Source: "test"}
		want := write(t, run, p.parts())
		var list []*Accumulator
		for _, part := range rapid.Permutation(p.parts()).Draw(t, "order") {
			if len(list) == 0 || rapid.Bool().Draw(t, "alone") {
				list = append(list, new(Accumulator))
			}
			if err := list[len(list)-1].Add(part); err != nil {
				t.Fatal(err)
			}
		}
		list[0].Describe(run)
		for len(list) > 1 {
			i := rapid.IntRange(0, len(list)-1).Draw(t, "into")
			j := rapid.IntRange(0, len(list)-2).Draw(t, "from")
			if j >= i {
				j++
			}
			if err := list[i].Merge(list[j]); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "file") {
				list[i] = throughFile(t, list[i])
			}
			list = slices.Delete(list, j, j+1)
		}
		var got bytes.Buffer
		if err := list[0].Write(&got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("%d bytes, %d when all parts are added in order", got.Len(), len(want))
		}
	})
}

// throughFile writes an accumulator as a part file, and reads it.
func throughFile(t rapid.TB, a *Accumulator) *Accumulator {
	t.Helper()
	file := partFile(t, a)
	f, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadPart(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
	if a, err := Tree(context.Background(), 0, leaf, TreeOptions{}); err != nil || a.Ranks() != 0 {
		t.Error(a, err)
	}
}

// TestColumns compares the columns of values that are split and joined again
// with what push makes of all of them.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		step := rapid.IntRange(1, 3).Draw(t, "step")
		small := rapid.Bool().Draw(t, "small")
		type half struct {
			column column
			ranks  spans
		}
		var all half
		var halves [2]half
		var values []int64
		for i := range n {
			v := int64(i * step)
			if rapid.Bool().Draw(t, "irregular") {
				v = rapid.Int64Range(-2, 6).Draw(t, "v")
				if !small {
					v = rapid.Int64().Draw(t, "large")
				}
			}
			values = append(values, v)
			rank := i*step + i/7
			h := &halves[rapid.IntRange(0, 1).Draw(t, "half")]
			if rapid.IntRange(0, 9).Draw(t, "together") > 0 {
				h = &halves[min(1, i*2/n)]
			}
			for _, h := range []*half{&all, h} {
				h.column.push(h.ranks.len(), rank, v)
				h.ranks = h.ranks.add(rank, rank)
			}
		}
		if got := all.column.appendValues(nil, all.ranks); !slices.Equal(got, values) {
			t.Fatalf("%v, want %v", got, values)
		}
		x, y := halves[0], halves[1]
		if len(x.column) == 0 || len(y.column) == 0 {
			return
		}
		g := &sequitur.Grammar{}
		s := (&shape{g, nil, x.ranks, []column{x.column}}).merge(&shape{g, nil, y.ranks, []column{y.column}})
		if !slices.Equal(s.columns[0], all.column) || !slices.Equal(s.ranks, all.ranks) {
			t.Fatalf("%v of %v, want %v of %v", s.columns[0], s.ranks, all.column, all.ranks)
		}
	})
}

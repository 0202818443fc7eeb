package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/trace"
)

// TestShapeSignature checks how an argument of one call is described for the ranks
// of a shape, of which there are three: the ranks 0–19, 20–38 and 39.
func TestShapeSignature(t *testing.T) {
	irregular := func(rank int) int64 { return int64(rank*rank*7919+rank*31) % 1009 }
	pick := func(rank int, list ...int64) int64 { return list[irregular(rank)%int64(len(list))] }
	rank, integer := cst.Type{Kind: cst.KindRank}, cst.Type{Kind: cst.KindInt}
	for _, tt := range []struct {
		name  string
		typ   cst.Type
		value func(rank int) int64
		want  [3]string // of the shapes
	}{
		{"Constant", integer, func(int) int64 { return 7 }, [3]string{"7", "7", "7"}},
		{"Shift", rank, func(r int) int64 { return int64(r) + 1 }, [3]string{"rank+1", "rank+1", "40"}},
		{"Ring", rank, func(r int) int64 { return int64(r+1) % 40 }, [3]string{"rank+1", "rank+1", "0"}},
		{"Xor", rank, func(r int) int64 { return int64(r) ^ 1 }, [3]string{"rank xor 1", "rank xor 1", "38"}},
		{"ByShape", integer, func(r int) int64 { return []int64{5, 6, 9}[r/20+r/39] }, [3]string{"5", "6", "9"}},
		{"Pieces", rank, func(r int) int64 {
			if r < 10 {
				return int64(r) + 30
			}
			return 3
		}, [3]string{"{3 on 10-19, rank+30 on 0-9}", "3", "3"}},
		{"Displacements", rank, func(r int) int64 { return int64(r) + pick(r, -40, -1, 1, 40) + 40 },
			[3]string{"rank+{0, 39, 41, 80}", "rank+{0, 39, 41, 80}", "80"}},
		{"Special", rank, func(r int) int64 {
			if pick(r, 0, 1, 2) == 0 {
				return -333
			}
			return int64(r) + pick(r, 0, 1, 2)
		}, [3]string{"{-333, rank+{1, 2}}", "{-333, rank+{1, 2}}", "41"}},
		{"Few", integer, func(r int) int64 {
			return pick(r, 3, 18, 33)
		}, [3]string{"{3, 18, 33}", "{3, 18, 33}", "33"}},
		{"Many", integer, irregular, [3]string{"{0 … 1003}", "{208 … 1005}", "566"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := cst.Function{Name: "f", Params: []cst.Param{{Name: "x", Type: tt.typ}}}
			tr := threeShapes(t, f, func(rank int) cst.Value {
				if tt.typ.Kind == cst.KindRank {
					return cst.Rank(tt.value(rank))
				}
				return cst.Int(tt.value(rank))
			})
			if tr.Shapes() != 3 {
				t.Fatalf("%d shapes", tr.Shapes())
			}
			for i, want := range tt.want {
				if got := shapeSignature(t, tr, i); got != "f(x="+want+")" {
					t.Errorf("shape %d: signature is %s, want x=%s", i, got, want)
				}
			}
		})
	}
}

// threeShapes returns a trace of 40 ranks that call f, those from 20 on twice, and
// the last a third time.
func threeShapes(t testing.TB, f cst.Function, value func(rank int) cst.Value) *Trace {
	t.Helper()
	barrier := cst.Function{Name: "barrier"}
	p := spmd{ranks: 40, body: []statement{
		{function: f, args: []argument{func(rank, _ int) cst.Value { return value(rank) }}},
		{body: []statement{{function: barrier}}, loops: func(rank int) int { return rank/20 + rank/39 }},
	}}
	return openParts(t, 40, p.parts())
}

// shapeSignature returns the first signature of a shape.
func shapeSignature(t testing.TB, tr *Trace, number int) string {
	t.Helper()
	shape, err := tr.Shape(number)
	if err != nil {
		t.Fatal(err)
	}
	return shape.Signature(int(shape.Grammar.FirstUse()[0])).String()
}

// TestShapeSignatureOfParts checks arrays, pointers and statuses of the ranks of a
// shape.
func TestShapeSignatureOfParts(t *testing.T) {
	integer := cst.Type{Kind: cst.KindInt}
	for _, tt := range []struct {
		name  string
		typ   cst.Type
		value func(rank int) cst.Value
		want  [3]string // of the shapes
	}{
		{"Array", cst.ArrayOf(integer), func(rank int) cst.Value {
			return cst.Array(cst.Int(int64(rank/20*7)), cst.Int(max(int64(rank), 38)))
		}, [3]string{"[0 38]", "[7 38]", "[7 39]"}},
		{"Status", cst.Type{Kind: cst.KindStatus}, func(rank int) cst.Value {
			return cst.StatusOf(cst.Status{Source: int64(rank) + 1, Tag: int64(rank / 20)})
		}, [3]string{"{source=rank+1, tag=0}", "{source=rank+1, tag=1}", "{source=40, tag=1}"}},
	} {
		tr := threeShapes(t, cst.Function{Name: "f", Params: []cst.Param{{Name: "x", Type: tt.typ}}}, tt.value)
		for i, want := range tt.want {
			if got := shapeSignature(t, tr, i); got != "f(x="+want+")" {
				t.Errorf("%s: signature of shape %d is %s, want x=%s", tt.name, i, got, want)
			}
		}
	}
}

// TestShapeSignatureProperty checks that a shape of one rank is described by the
// values that the rank has.
func TestShapeSignatureProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		tr := openParts(t, p.ranks, p.parts())
		printer := tr.Printer(trace.PrintOptions{Absolute: true})
		for number := range tr.Shapes() {
			shape, err := tr.Shape(number)
			if err != nil {
				t.Fatal(err)
			}
			rank, err := tr.Rank(int(shape.Ranks.At(0)))
			if err != nil {
				t.Fatal(err)
			}
			calls := make(map[string]bool)
			for terminal := range uint32(rank.Terminals()) {
				calls[string(printer.AppendCall(nil, rank.Call(terminal)))] = true
			}
			for n := range shape.Grammar.Occurrences() {
				text, err := printer.Signature(rank, shape.Signature(int(n)))
				if err != nil {
					t.Fatalf("signature %d: %v", n, err)
				}
				if shape.Ranks.Len() == 1 && !calls[text] && !strings.Contains(text, "…") &&
					!strings.Contains(text, "by call") {
					t.Fatalf("%s is none of %s", text, fmt.Sprint(calls))
				}
			}
		}
	})
}

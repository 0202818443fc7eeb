package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"

	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// oneCall returns the part of a rank that makes one call.
func oneCall(rank int, f cst.Function, args ...cst.Value) Part {
	var table cst.Table
	var grammar sequitur.Builder
	grammar.Append(table.Intern(table.Declare(f), args...))
	return Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
}

// openParts writes and opens a trace.
func openParts(t rapid.TB, size int, parts []Part) *Trace {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, Run{Ranks: size}, parts); err != nil {
		t.Fatal(err)
	}
	return openTrace(t, file.Bytes())
}

func openTrace(t rapid.TB, file []byte) *Trace {
	t.Helper()
	r, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestSignature checks how the argument of one call is described, of which the
// ranks have these values.
func TestSignature(t *testing.T) {
	irregular := func(rank int) int64 { return int64(rank*rank*7919+rank*31) % 1009 }
	integers := func(n int, f func(rank, i int) int64) func(int) cst.Value {
		return func(rank int) cst.Value {
			var elems []cst.Value
			for i := range n {
				elems = append(elems, cst.Int(f(rank, i)))
			}
			return cst.Array(elems...)
		}
	}
	kind := func(k cst.Kind) cst.Type { return cst.Type{Kind: k} }
	for _, tt := range []struct {
		name  string
		typ   cst.Type
		value func(rank int) cst.Value
		want  string
	}{
		{"Constant", kind(cst.KindInt), func(int) cst.Value { return cst.Int(-7) }, "-7"},
		{"Shift", kind(cst.KindRank), func(rank int) cst.Value { return cst.Rank(int64(rank) + 1) }, "rank+1"},
		{"Ring", kind(cst.KindRank), func(rank int) cst.Value {
			return cst.Rank(int64(rank+1) % 40)
		}, "(rank+1) mod N"},
		{"Few", kind(cst.KindTag), func(rank int) cst.Value {
			return cst.Tag([]int64{3, 18, 3e9}[irregular(rank)%3])
		}, "{3, 18, 3000000000}"},
		{"Pieces", kind(cst.KindRank), func(rank int) cst.Value {
			return cst.Rank([]int64{2, int64(rank) + 3}[min(1, rank/17)])
		},
			"{rank+3 on 17-39, 2 on 0-16}"},
		{"Displacements", kind(cst.KindRank), func(rank int) cst.Value {
			return cst.Rank(int64(rank) + irregular(rank)%3)
		}, "rank+{0, 1, 2}"},
		{"Many", kind(cst.KindInt), func(rank int) cst.Value { return cst.Int(irregular(rank) - 9) }, "{-9 … 996}"},
		{"Float", kind(cst.KindFloat), func(int) cst.Value { return cst.Float(1.5) }, "1.5"},
		{"Floats", kind(cst.KindFloat), func(rank int) cst.Value {
			return cst.Float(float64(irregular(rank)-500) / 8)
		}, "{-62.5 … 63.125}"},
		{"String", kind(cst.KindString), func(int) cst.Value { return cst.String("a\x1b") }, `"a\x1b"`},
		{"LongString", kind(cst.KindString), func(int) cst.Value {
			return cst.String(strings.Repeat("ä", 99))
		}, `"` + strings.Repeat("ä", 63) + "…"},
		{"Strings", kind(cst.KindString), func(rank int) cst.Value {
			return cst.String(fmt.Sprint(irregular(rank)))
		}, `{"0" … 40 texts}`},
		{"TextsByParity", kind(cst.KindString), func(rank int) cst.Value {
			return cst.String([]string{"even", "odd"}[rank%2])
		},
			`{"odd" on 1-39:2, "even" on 0-38:2}`},
		{"TextOfEachRank", kind(cst.KindString), func(rank int) cst.Value {
			return cst.String(fmt.Sprintf("out.%02d", rank))
		}, `{"out.00" … 40 texts}`},
		{"BytesByHalf", kind(cst.KindBytes), func(rank int) cst.Value {
			return cst.Bytes([]byte{byte(rank / 20)})
		}, `{0x00 on 0-19, 0x01 on 20-39}`},
		{"FloatsByParity", kind(cst.KindFloat), func(rank int) cst.Value {
			return cst.Float(float64(rank%2) + 0.5)
		}, `{0.5 on 0-38:2, 1.5 on 1-39:2}`},
		{"Pointer", kind(cst.KindPointer), func(int) cst.Value {
			return cst.PointerTo(cst.Pointer{Segment: 3, Displacement: 16})
		}, "heap#3+16"},
		{"Pointers", kind(cst.KindPointer), func(rank int) cst.Value {
			return cst.PointerTo(cst.Pointer{Segment: irregular(rank), Displacement: int64(rank)})
		}, "{segment={0 … 1005}, displacement=rank, device=0}"},
		{"Status", kind(cst.KindStatus), func(rank int) cst.Value {
			return cst.StatusOf(cst.Status{Source: int64(rank) + 1})
		},
			"{source=rank+1, tag=0}"},
		{"Array", cst.ArrayOf(kind(cst.KindInt)), integers(3, func(_, i int) int64 { return int64(i) }), "[0 1 2]"},
		{"EmptyArray", cst.ArrayOf(kind(cst.KindInt)), integers(0, nil), "[]"},
		{"LongArray", cst.ArrayOf(kind(cst.KindInt)), integers(64, func(_, i int) int64 {
			return int64(i)
		}), "[0 1 2 3 4 5 6 … 64 elements]"},
		{"Arrays", cst.ArrayOf(kind(cst.KindInt)), integers(9, func(rank, i int) int64 {
			return irregular(rank + i)
		}), "[9 by rank]"},
		{"NestedArray", cst.ArrayOf(cst.ArrayOf(kind(cst.KindString))), func(int) cst.Value {
			return cst.Array(cst.Array(), cst.Array(cst.String("a"), cst.String("b")))
		}, `[[] ["a" "b"]]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := cst.Function{Name: "f", Params: []cst.Param{{Name: "x", Type: tt.typ}}}
			var parts []Part
			for rank := range 40 {
				parts = append(parts, oneCall(rank, f, tt.value(rank)))
			}
			tr := openParts(t, 40, parts)
			if tr.Signatures() != 1 {
				t.Fatalf("%d signatures", tr.Signatures())
			}
			if s, want := tr.Signature(0).String(), "f(x="+tt.want+")"; s != want {
				t.Errorf("signature is %v, want %s", s, want)
			}
		})
	}
}

// TestSignatureTexts checks that texts are told of the ranks that make the call, of which
// the shapes are several, and not of others.
func TestSignatureTexts(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{{Name: "x", Type: cst.Type{Kind: cst.KindString}}}}
	var parts []Part
	for rank := range 40 {
		p := oneCall(rank, cst.Function{Name: "g"})
		if rank < 20 {
			p = oneCall(rank, f, cst.String(strings.Repeat("x", 1+rank%2)))
		}
		parts = append(parts, p)
	}
	tr := openParts(t, 40, parts)
	if tr.Shapes() != 2 {
		t.Fatalf("%d shapes", tr.Shapes())
	}
	for n := range tr.Signatures() {
		if tr.Functions()[tr.FunctionOf(n)].Name != "f" {
			continue
		}
		s := tr.Signature(n).String()
		if want := `f(x={"x" on 0-18:2, "xx" on 1-19:2})`; s != want {
			t.Errorf("signature is %v, want %s", s, want)
		}
		shape, err := tr.Shape(0)
		if err != nil {
			t.Fatal(err)
		}
		if of := shape.Signature(n).String(); of != s {
			t.Errorf("signature of the shape is %v, want %v", of, s)
		}
	}
}

// TestSignatureName checks that a name from a file cannot write on a terminal.
func TestSignatureName(t *testing.T) {
	f := cst.Function{Name: "f\x1b[2J", Params: []cst.Param{{Name: "\n", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "größe", Type: cst.Type{Kind: cst.KindTag}}}}
	s := openParts(t, 1, []Part{oneCall(0, f, cst.Int(1), cst.Tag(2))}).Signature(0).String()
	if want := `"f\x1b[2J"("\n"=1, größe=2)`; s != want {
		t.Errorf("signature is %v, want %s", s, want)
	}
}

// TestForms counts the forms of calls of which every argument is written in a
// way of its own.
func TestForms(t *testing.T) {
	integer := cst.Type{Kind: cst.KindInt}
	f := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "constant", Type: integer}, {Name: "shift", Type: integer}, {Name: "ring", Type: integer},
		{Name: "irregular", Type: integer},
		{Name: "status", Type: cst.Type{Kind: cst.KindStatus}}, {Name: "array", Type: cst.ArrayOf(integer)},
	}}
	for _, ranks := range []int{40, 4000} { // the columns stand in the section of the signatures, and in their own
		var parts []Part
		for rank := range ranks {
			x := int64(rank)
			irregular := (x*x*7919 + x*31) % 1009
			parts = append(parts, oneCall(rank, f, cst.Int(7), cst.Int(x+1), cst.Int((x+1)%int64(ranks)),
				cst.Int(irregular),
				cst.StatusOf(cst.Status{Source: x}), cst.Array(cst.Int(irregular))))
		}
		tr := openParts(t, ranks, parts)
		want := []Form{{Name: "constant", Count: 3, Bytes: 0}, {Name: "rank+c", Count: 2, Bytes: 0},
			{Name: "(rank+c) mod N", Count: 1, Bytes: 0}, {Name: "stored array", Count: 1, Bytes: 0},
			{Name: "stored column", Count: 1, Bytes: 0}}
		if got := argumentForms(tr); !slices.Equal(got, want) {
			t.Errorf("%d ranks: arguments %v, want %v", ranks, got, want)
		}
		forms := columnForms(tr)
		if len(forms) != 2 || forms[0].Count != 1 || forms[1].Count != 1 || forms[0].Bytes < int64(ranks) ||
			!strings.HasPrefix(forms[0].Name+forms[1].Name, "array: ") {
			t.Errorf("%d ranks: columns %v", ranks, forms)
		}
		if _, _, inline := tr.Forms(); (inline > 0) != (ranks == 40) ||
			inline > 0 && int64(inline) != forms[0].Bytes+forms[1].Bytes {
			t.Errorf("%d ranks: %d bytes of columns with the signatures, %v", ranks, inline, forms)
		}
	}
}

// TestVaryingSignature checks what is said of an argument that varies from call
// to call.
func TestVaryingSignature(t *testing.T) {
	f := cst.Function{Name: "compute", Params: []cst.Param{{Name: "unit", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "flops", Type: cst.Type{Kind: cst.KindFloat}}}}
	var parts []Part
	for rank := range 4 {
		var table cst.Table
		var grammar sequitur.Builder
		for i := range 400 {
			x := uint64(rank*400+i+1) * 0x9e3779b97f4a7c15
			flops := float64((x^x>>29)*0xbf58476d1ce4e5b9>>32%60) / 2
			grammar.Append(table.Intern(table.Declare(f), cst.Int(1), cst.Float(flops)))
			grammar.Append(table.Intern(table.Declare(cst.Function{Name: "barrier"})))
		}
		parts = append(parts, Part{Rank: rank, Table: &table, Grammar: grammar.Finish()})
	}
	tr := openParts(t, 4, parts)
	if n := tr.Signatures(); n != 2 {
		t.Fatalf("%d signatures", n)
	}
	s := tr.Signature(0)
	if want := "compute(unit=1, flops={0 … 29.5 by call})"; s.String() != want || len(s.Args[1].Stream()) != 60 {
		t.Errorf("signature is %v, want %s", s, want)
	}
	want := []Form{{Name: "constant", Count: 1, Bytes: 0}, {Name: "stored by call", Count: 1, Bytes: 0}}
	if got := argumentForms(tr); !slices.Equal(got, want) {
		t.Errorf("arguments %v, want %v", got, want)
	}
	if got := columnForms(tr); len(got) != 1 || got[0].Name != "by call: packed" || got[0].Count != 4 ||
		got[0].Bytes < 4*300 {
		t.Errorf("columns %v", got)
	}
}

// TestRanges checks that an argument that varies from call to call is described with the
// values of the calls of a signature, of all ranks or those of a shape, not with those of
// all calls of the function, unless these are asked for.
func TestRanges(t *testing.T) {
	f := cst.Function{Name: "compute", Params: []cst.Param{{Name: "unit", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "flops", Type: cst.Type{Kind: cst.KindInt}}}}
	var parts []Part
	for rank := range 4 {
		var table cst.Table
		var grammar sequitur.Builder
		for i := range 800 {
			x := uint64(rank*800+i+1) * 0x9e3779b97f4a7c15
			flops := int64((x ^ x>>29) * 0xbf58476d1ce4e5b9 >> 32 % 60)
			unit := i % 2
			flops += int64(1000 * unit)
			if rank == 3 {
				flops += 100
			}
			grammar.Append(table.Intern(table.Declare(f), cst.Int(int64(unit)), cst.Int(flops)))
			if rank < 3 {
				grammar.Append(table.Intern(table.Declare(cst.Function{Name: "barrier"})))
			}
		}
		parts = append(parts, Part{Rank: rank, Table: &table, Grammar: grammar.Finish()})
	}
	tr := openParts(t, 4, parts)
	if n := tr.Signatures(); n != 3 {
		t.Fatalf("%d signatures", n)
	}
	last, _ := tr.ShapeOf(3)
	if n := tr.ShapeRanks(last).Len(); n != 1 {
		t.Fatalf("%d ranks are of the shape of rank 3", n)
	}
	shape, err := tr.Shape(last)
	if err != nil {
		t.Fatal(err)
	}
	pooled := tr.Printer(trace.PrintOptions{Pooled: true})
	var varying []trace.Argument
	for unit, want := range [][3]string{
		{"{0 … 159 by call}", "{100 … 159 by call}", "{0 … 1159 by call}"},
		{"{1000 … 1159 by call}", "{1100 … 1159 by call}", "{0 … 1159 by call}"},
	} {
		name := fmt.Sprintf("compute(unit=%d, ", unit)
		n := 0
		for n < 2 && !strings.HasPrefix(tr.Signature(n).String(), name) {
			n++
		}
		s := tr.Signature(n)
		all, err := pooled.Signature(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		for k, got := range []string{s.String(), shape.Signature(n).String(), all} {
			if want := fmt.Sprintf("compute(unit=%d, flops=%s)", unit, want[k]); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if n := len(s.Args[1].Stream()); n != 120 {
			t.Errorf("unit %d has %d values", unit, n)
		}
		varying = append(varying, s.Args[1])
	}
	if got := tr.Printer(trace.PrintOptions{}).Varying(varying...); got != "{0 … 1159 by call}" {
		t.Errorf("both are %s", got)
	}
}

// TestFormsLost checks what is said of a trace of which the columns are lost.
func TestFormsLost(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{{Name: "x", Type: cst.Type{Kind: cst.KindInt}}}}
	var parts []Part
	for rank := range 4000 {
		x := int64(rank)
		parts = append(parts, oneCall(rank, f, cst.Int((x*x*7919+x*31)%1009)))
	}
	var file bytes.Buffer
	if err := Write(&file, Run{Ranks: 4000}, parts); err != nil {
		t.Fatal(err)
	}
	data := testtrace.Records(t, file.Bytes())
	r, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := r.Lookup(layout.KindColumns, 0)
	if !ok {
		t.Fatal("no columns")
	}
	data[s.Offset+s.Size-1] ^= 1
	tr := openTrace(t, data)
	if forms := columnForms(tr); len(forms) != 1 || forms[0].Name != "cannot be read" || forms[0].Count != 1 {
		t.Errorf("columns %v", forms)
	}
	if s, err := tr.Printer(trace.PrintOptions{}).Signature(nil, tr.Signature(0)); err == nil {
		t.Errorf("signature is %v", s)
	}
}

// TestSignatureProperty checks that whatever a trace holds can be described, and
// that an argument described as a value is that value on every rank. Arguments that have values of
// their own in each call are described by these.
func TestSignatureProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		tr := openParts(t, p.ranks, p.parts())
		texts := make([]string, tr.Signatures())
		printer := tr.Printer(trace.PrintOptions{Absolute: true})
		rank, err := tr.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		for n := range tr.Signatures() {
			s := tr.Signature(n)
			if len(s.Args) != len(s.Function.Params) {
				t.Fatalf("signature %d is %v", n, s)
			}
			text, err := printer.Signature(rank, s)
			if err != nil {
				t.Fatalf("signature %d: %v", n, err)
			}
			texts[n] = text
		}
		checkStreams(t, tr)
		if p.ranks > 1 {
			return
		}
		for terminal := range uint32(rank.Terminals()) {
			text := string(printer.AppendCall(nil, rank.Call(terminal)))
			known := texts[rank.Signature(terminal)]
			if len(text) < 128 && !strings.Contains(text, "…") && !strings.Contains(known, " by call}") &&
				text != known {
				t.Fatalf("%s is not %s", text, known)
			}
		}
	})
}

// checkStreams checks that the values of arguments that vary from call to call are those of
// the calls: all that calls of the signature have, and of the function no others.
func checkStreams(t *rapid.T, tr *trace.Trace) {
	type slot struct{ of, arg int }
	values, ofFunction := make(map[slot][]cst.Value), make(map[slot][]cst.Value)
	for rank := range tr.Ranks() {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for terminal := range uint32(r.Terminals()) {
			for i, v := range r.Call(terminal).Args {
				values[slot{r.Signature(terminal), i}] = append(values[slot{r.Signature(terminal), i}], v)
				ofFunction[slot{r.Function(terminal), i}] = append(ofFunction[slot{r.Function(terminal), i}], v)
			}
		}
	}
	in := func(list []cst.Value, v cst.Value) bool { return slices.ContainsFunc(list, v.Equal) }
	for n := range tr.Signatures() {
		for i, a := range tr.Signature(n).Args {
			stream := a.Stream()
			if stream == nil {
				continue
			}
			for _, v := range values[slot{n, i}] {
				if !in(stream, v) {
					t.Fatalf("argument %d of signature %d is %v in a call, not of %v", i, n, v, stream)
				}
			}
			for _, v := range stream {
				if !in(ofFunction[slot{tr.FunctionOf(n), i}], v) {
					t.Fatalf("argument %d of signature %d is said to be %v, which no call has", i, n, v)
				}
			}
		}
	}
}

func TestShapeOf(t *testing.T) {
	f, g := cst.Function{Name: "f"}, cst.Function{Name: "g"}
	parts := []Part{oneCall(1, f), oneCall(2, g), oneCall(4, f), oneCall(5, g)}
	tr := openParts(t, 7, parts)
	for rank, want := range []int{-1, 0, 1, -1, 0, 1, -1} {
		if got, ok := tr.ShapeOf(rank); ok != (want >= 0) || ok && got != want {
			t.Errorf("rank %d has shape %d, %v, want %d", rank, got, ok, want)
		}
	}
	var a Accumulator
	for _, p := range parts {
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, ranks := range []rankenc.Set{a.RankSet(), tr.RankSet()} {
		if got := ranks.String(); got != "(1-2)+3×2" {
			t.Errorf("ranks %s", got)
		}
	}
}

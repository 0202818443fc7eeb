package merge

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// checkExpressions checks that expressions of all ranks yield the arguments, and
// returns how many there are that are not constant, and how many of them of groups.
func checkExpressions(t rapid.TB, trace *Trace) (relative, grouped int) {
	t.Helper()
	for rank, ok := trace.Active(0); ok; rank, ok = trace.Active(rank + 1) {
		c, err := trace.Calls(rank)
		if err != nil {
			t.Fatal(err)
		}
		checkSignatures(t, trace, c)
		for terminal := range uint32(c.Table().Len()) {
			fn, args := c.Table().Signature(terminal)
			for i := range args {
				e := c.Expression(terminal, i)
				if !e.Known {
					if e != (Expression{}) {
						t.Fatalf("%+v is not known", e)
					}
					continue
				}
				var want int64
				switch p := trace.Functions()[fn].Params[i]; p.Type.Kind {
				case cst.KindRank:
					want = args[i].Int()
				case cst.KindStatus:
					want = args[i].Status().Source
				default:
					t.Fatalf("an expression of kind %v", p.Type.Kind)
				}
				if got := e.Expr.Eval(e.Rank, e.Size); got != want {
					t.Fatalf("rank %d: %v is %d, want %d", rank, e, got, want)
				}
				if _, constant := e.Expr.Constant(); !constant {
					relative++
				}
				if e.Grouped {
					grouped++
				}
			}
		}
	}
	return relative, grouped
}

// checkSignatures checks that the signature of each terminal is that of its first
// call.
func checkSignatures(t rapid.TB, trace *Trace, c *Calls) {
	t.Helper()
	seen := make([]bool, c.Table().Len())
	position, w := uint64(0), c.Walk(0)
	for run := w.Next(); run.Count > 0; run = w.Next() {
		if !seen[run.Symbol] {
			seen[run.Symbol] = true
			if got, want := c.Signature(run.Symbol), c.shape.Grammar.At(position); got != int(want) {
				t.Fatalf("rank %d: terminal %d has the signature %d, want %d", c.rank, run.Symbol, got, want)
			}
		}
		position += run.Count
	}
}

func TestExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		checkExpressions(t, open(t, write(t, Run{Ranks: p.ranks}, p.parts())))
	})
}

// TestExpressionsInGroups checks that ranks in communicators are expressions of
// the rank there, and others of the rank in the run.
func TestExpressionsInGroups(t *testing.T) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(60)
	for _, grouped := range []bool{false, true} {
		trace, _ := traceOf(t, rings(60, func(rank int) int { return rank % 3 }, order, grouped))
		if relative, inGroups := checkExpressions(t, trace); grouped && (relative != 120 || inGroups != 120) || !grouped && inGroups > 0 {
			t.Errorf("%d expressions, %d of them in groups", relative, inGroups)
		}
	}
}

// TestExpressionsThatVary checks that what is stored call by call has no
// expression, and that the arguments after it keep theirs.
func TestExpressionsThatVary(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "amount", Type: cst.Type{Kind: cst.KindPointer}}, {Name: "varies", Type: cst.Type{Kind: cst.KindRank}}, {Name: "to", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "from", Type: cst.Type{Kind: cst.KindStatus}}, {Name: "list", Type: cst.ArrayOf(cst.Type{Kind: cst.KindRank})},
	}}
	var parts []Part
	for rank := range 8 {
		parts = append(parts, recordedArgs(rank, 400, f, func(i int) []cst.Value {
			next := int64(rank) + 1
			return []cst.Value{
				cst.PointerTo(cst.Pointer{Segment: 1}), cst.Rank(int64(irregular(rank, i) % 30)), cst.Rank(next),
				cst.StatusOf(cst.Status{Source: next}), cst.Array(cst.Rank(next)),
			}
		}))
	}
	trace := open(t, write(t, Run{Ranks: 8}, parts))
	checkExpressions(t, trace)
	c, err := trace.Calls(3)
	if err != nil {
		t.Fatal(err)
	}
	next := Expression{rankenc.Shift(1), true, false, 3, 8}
	for i, want := range []Expression{{}, {}, next, next, {}} {
		if got := c.Expression(0, i); got != want {
			t.Errorf("argument %d: %+v, want %+v", i, got, want)
		}
	}
}

// recordedArgs returns the part of a rank that makes n calls of a function.
func recordedArgs(rank, n int, f cst.Function, args func(i int) []cst.Value) Part {
	var table cst.Table
	var b sequitur.Builder
	fn := table.Declare(f)
	for i := range n {
		b.Append(table.Intern(fn, args(i)...))
	}
	return Part{Rank: rank, Table: &table, Grammar: b.Finish()}
}

// TestExpressionsDiffer checks that calls of one rank that are equal, but follow from
// different expressions, have none.
func TestExpressionsDiffer(t *testing.T) {
	var parts []Part
	for rank := range 4 {
		to := []int64{int64(rank) + 1, 2}
		parts = append(parts, recordedArgs(rank, 2, send, func(i int) []cst.Value { return []cst.Value{cst.Rank(to[i])} }))
	}
	trace := open(t, write(t, Run{Ranks: 4}, parts))
	checkExpressions(t, trace)
	for rank := range 4 {
		c, err := trace.Calls(rank)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Expression(0, 0); got.Known != (rank != 1) {
			t.Errorf("rank %d: %+v", rank, got)
		}
	}
}

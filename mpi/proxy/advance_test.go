package proxy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
)

// TestAdvance checks the expressions of numbers that advance: they are the numbers of each call of each rank.
func TestAdvance(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(2, 6), 1, 3).Draw(rt, "counts")
		length := 1
		for _, n := range counts {
			length *= n
		}
		whole := rapid.Bool().Draw(rt, "whole")
		if !whole {
			length = rapid.IntRange(1, length).Draw(rt, "length")
		}
		far := rapid.SampledFrom([]int64{3, 1 << 20, 1 << 40}).Draw(rt, "far")
		number := rapid.Int64Range(-far, far)
		affine := rapid.Bool().Draw(rt, "affine")
		var ranks []int
		var of []int64 // first numbers and steps, of each rank
		rank := 0
		a, b := rapid.SliceOfN(number, 4, 4).Draw(rt, "a"), rapid.SliceOfN(number, 4, 4).Draw(rt, "b")
		for range rapid.IntRange(1, 4).Draw(rt, "ranks") {
			rank += rapid.IntRange(1, 3).Draw(rt, "further")
			ranks = append(ranks, rank)
			for i := range 4 {
				n := a[i] + b[i]*int64(rank)
				if !affine {
					n = number.Draw(rt, "n")
				}
				of = append(of, n)
			}
		}
		v := &values{ranks: ranks, of: make([][]cst.Value, len(ranks)), varies: true}
		for k := range ranks {
			for n := range length {
				x, i := of[4*k], n
				for q := len(counts) - 1; q >= 0; q-- {
					x += of[4*k+1+q] * int64(i%counts[q])
					i /= counts[q]
				}
				v.of[k] = append(v.of[k], cst.Int(x))
			}
		}
		loops := rapid.SampledFrom([][]int{nil, counts, {length}}).Draw(rt, "loops")
		checkAdvance(rt, v, loops, whole && affine && far < 1<<40 && length > 5)
	})
	var random []cst.Value
	for n := range 30 {
		random = append(random, cst.Int(int64(n*n%31)))
	}
	checkAdvance(t, &values{ranks: []int{0}, of: [][]cst.Value{random}, varies: true}, []int{5, 6}, false)
}

// checkAdvance checks the expression of numbers of a call in loops. It must have one if sure is set.
func checkAdvance(t rapid.TB, v *values, counts []int, sure bool) {
	t.Helper()
	g := &generator{size: v.ranks[len(v.ranks)-1] + 1, objects: make(map[string]*objects)}
	g.clear()
	for i, n := range counts {
		g.loops = append(g.loops, loop{loopVariable(i), uint64(n)})
	}
	text, err := g.advance(v, "key", "count", cst.Value.Int, numberName(""))
	if err != nil {
		t.Fatal(err)
	}
	if text == "" {
		if sure {
			t.Fatalf("no expression of %v in loops of %v", v.of, counts)
		}
		return
	}
	for k, rank := range v.ranks {
		for n, x := range v.of[k] {
			known := map[string]int64{"rank": int64(rank), "next_0": int64(n)}
			i := n
			for q := len(counts) - 1; q >= 0; q-- {
				known[loopVariable(q)] = int64(i % counts[q])
				i /= counts[q]
			}
			if got := inC(t, text, g.tables.text.String(), known); got != x.Int() {
				t.Fatalf("%s is %d in call %d of rank %d, not %d", text, got, n, rank, x.Int())
			}
		}
	}
}

// inC returns the value of an expression in C, of tables and variables.
func inC(t rapid.TB, text, tables string, known map[string]int64) int64 {
	t.Helper()
	e, err := parser.ParseExpr(strings.ReplaceAll(text, "LL", ""))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var value func(e ast.Expr) int64
	value = func(e ast.Expr) int64 {
		switch e := e.(type) {
		case *ast.BasicLit:
			n, _ := strconv.ParseInt(e.Value, 10, 64)
			return n
		case *ast.Ident:
			n, ok := known[e.Name]
			if !ok {
				t.Fatalf("%s in %s", e.Name, text)
			}
			return n
		case *ast.ParenExpr:
			return value(e.X)
		case *ast.UnaryExpr:
			return -value(e.X)
		case *ast.IndexExpr:
			_, after, _ := strings.Cut(tables, " "+e.X.(*ast.Ident).Name+"[] = {")
			cells, _, _ := strings.Cut(after, "}")
			n, err := strconv.ParseInt(strings.TrimSpace(strings.Split(cells, ",")[value(e.Index)]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		case *ast.BinaryExpr:
			x, y := value(e.X), value(e.Y)
			switch e.Op {
			case token.ADD:
				return x + y
			case token.SUB:
				return x - y
			case token.MUL:
				return x * y
			case token.QUO:
				return x / y
			case token.REM:
				return x % y
			}
		}
		t.Fatalf("%s has an unknown part", text)
		return 0
	}
	return value(e)
}

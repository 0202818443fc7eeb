package slice

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A generator writes modules with pointers in variables, arrays, arguments and messages.
type generator struct {
	strings.Builder
	below     func(n int) int // a choice
	functions int
	kinds     int // of statements
	names     int
	pointers  []string // that can be used here
	numbers   []string
}

// allKinds is how many kinds of statements there are. The last two are calls of functions that are not known.
const allKinds = 15

// module returns a module, each function of it with some statements in a loop.
func (g *generator) module(statements int) string {
	g.WriteString(`%node = type { i32, ptr, [4 x ptr], %pair }
%pair = type { i64, i32 }
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)
declare i32 @MPI_Recv(ptr, i32, i32, i32, i32, i32, ptr)
declare i32 @MPI_Allreduce(ptr, ptr, i32, i32, i32, i32)
declare ptr @malloc(i64)
declare ptr @memcpy(ptr, ptr, i64)
declare ptr @elsewhere(ptr)
`)
	for k := range g.functions {
		fmt.Fprintf(g, "@n%d = global %%node zeroinitializer\n@a%d = global [16 x i32] zeroinitializer\n@p%d = global ptr @%s%d\n", k, k, k, g.one("n", "a", "f"), g.below(g.functions))
	}
	for k := range g.functions {
		g.function(k, statements)
	}
	g.WriteString("define i32 @main(i32 %n, ptr %v) {\nbb:\n")
	for k := range g.functions {
		fmt.Fprintf(g, "  %%r%d = call i32 @f%d(i32 %%n, ptr @%s%d)\n", k, k, g.one("n", "a"), k)
	}
	g.WriteString("  ret i32 0\n}\n")
	return g.String()
}

func (g *generator) one(texts ...string) string { return texts[g.below(len(texts))] }

func (g *generator) function(number, statements int) {
	fmt.Fprintf(g, "define i32 @f%d(i32 %%x, ptr %%p) {\nbb:\n  %%a = alloca %%node\n  br label %%loop\n\n", number)
	g.pointers, g.numbers = []string{"%a", "%p", "%p"}, []string{"%x", "%i", "0", "1"}
	g.WriteString("loop:\n  %i = phi i32 [ 0, %bb ], [ %j, %next ]\n")
	for k := 0; k < statements; k += 5 {
		g.branch(k, min(k+5, statements))
	}
	g.WriteString("  br label %next\n\nnext:\n  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, 3\n  br i1 %c, label %loop, label %end\n\nend:\n")
	fmt.Fprintf(g, "  ret i32 %s\n}\n", g.number())
}

// branch writes statements, the last ones in a branch.
func (g *generator) branch(from, to int) {
	in := from + g.below(to-from+1)
	for k := from; k < to; k++ {
		if k == in {
			fmt.Fprintf(g, "  %%c%d = icmp eq i32 %s, %s\n  br i1 %%c%d, label %%then%d, label %%else%d\n\nthen%d:\n", k, g.number(), g.number(), k, k, k, k)
		}
		pointers, numbers := len(g.pointers), len(g.numbers)
		g.statement()
		if k >= in {
			defer func() { g.pointers, g.numbers = g.pointers[:pointers], g.numbers[:numbers] }()
		}
	}
	if in < to {
		fmt.Fprintf(g, "  br label %%else%d\n\nelse%d:\n", in, in)
	}
}

func (g *generator) name(list *[]string) string {
	g.names++
	name := fmt.Sprintf("%%v%d", g.names)
	*list = append(*list, name)
	return name
}

func (g *generator) number() string { return g.one(g.numbers...) }

func (g *generator) pointer() string {
	if g.below(3) == 0 {
		return fmt.Sprintf("@%s%d", g.one("n", "a", "p", "f"), g.below(g.functions))
	}
	return g.one(g.pointers...)
}

func (g *generator) statement() {
	p, q, n := g.pointer(), g.pointer(), g.number()
	var text string
	switch g.below(g.kinds) {
	case 0, 1:
		text = fmt.Sprintf("%s = getelementptr %%node, ptr %s, i64 0, i32 %d", g.name(&g.pointers), p, 1+g.below(3))
	case 2:
		text = fmt.Sprintf("%s = getelementptr [16 x i32], ptr %s, i64 0, i32 %s", g.name(&g.pointers), p, n)
	case 3, 4:
		text = fmt.Sprintf("%s = load ptr, ptr %s", g.name(&g.pointers), p)
	case 5:
		text = fmt.Sprintf("%s = load i32, ptr %s", g.name(&g.numbers), p)
	case 6:
		text = fmt.Sprintf("store ptr %s, ptr %s", p, q)
	case 7:
		text = fmt.Sprintf("store i32 %s, ptr %s", n, p)
	case 8:
		text = fmt.Sprintf("%s = call i32 @f%d(i32 %s, ptr %s)", g.name(&g.numbers), g.below(g.functions), n, p)
	case 9:
		text = fmt.Sprintf("%s = call i32 @MPI_Send(ptr %s, i32 %s, i32 1, i32 0, i32 1, i32 2)",
			g.name(&g.numbers), p, n)
	case 10:
		text = fmt.Sprintf("%s = call i32 @MPI_Recv(ptr %s, i32 %s, i32 1, i32 0, i32 1, i32 2, ptr null)",
			g.name(&g.numbers), p, n)
	case 11:
		text = fmt.Sprintf("%s = call i32 @MPI_Allreduce(ptr %s, ptr %s, i32 %s, i32 1, i32 1, i32 2)",
			g.name(&g.numbers), p, q, n)
	case 12:
		text = g.name(&g.pointers) + " = " + g.one("call ptr @malloc(i64 40)",
			fmt.Sprintf("call ptr @memcpy(ptr %s, ptr %s, i64 %d)", p, q, 8*g.below(6)))
	case 13:
		text = fmt.Sprintf("%s = call i32 %s(i32 %s, ptr %s)", g.name(&g.numbers), g.one(g.pointers...), n, q)
	case 14:
		text = fmt.Sprintf("%s = call ptr @elsewhere(ptr %s)", g.name(&g.pointers), p)
	}
	fmt.Fprintf(g, "  %s\n", text)
}

// TestAnalyze checks that nothing more follows for the pointers of a module when all of its instructions are
// looked at again.
func TestAnalyze(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		below := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		g := &generator{below: below, functions: 1 + below(4), kinds: allKinds}
		m, err := Read([]byte(g.module(1 + below(20))))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Cut(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := s.memory
		before := a.String()
		clear(a.stored)
		clear(a.steps)
		for _, l := range a.loads {
			l.known = false
		}
		for _, f := range a.reached {
			for _, b := range f.blocks {
				for _, i := range b.instructions {
					a.transfer(i)
				}
			}
		}
		a.spread()
		if after := a.String(); after != before {
			t.Errorf("before\n%s\nafter\n%s\nof\n%s", before, after, strings.Join(m.lines, "\n"))
		}
		if _, err := s.AppendText(nil); err != nil {
			t.Error(err)
		}
	})
}

// String returns where all values and all cells point to.
func (a *memory) String() string {
	var text strings.Builder
	show := func(name string, pts *pointers) {
		fmt.Fprintf(&text, "%s:", name)
		for p := range a.places(pts) {
			fmt.Fprintf(&text, " %s[%d,%d)", p.object.name, p.lo, p.hi)
		}
		text.WriteByte('\n')
	}
	for _, f := range a.reached {
		show(f.name, f.returned.pts)
		for _, p := range f.params {
			show(f.name+p.name, p.pts)
		}
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				show(f.name+i.name, i.pts)
			}
		}
	}
	for _, o := range a.objects {
		for _, c := range o.cells {
			show(fmt.Sprint(o.name, c.lo, c.hi, o.escaped), c.pts)
		}
	}
	return text.String()
}

// BenchmarkCut cuts a module of 25,000 instructions in which most pointers may point to all that there is, as
// messages have pointers in them.
func BenchmarkCut(b *testing.B) {
	g := &generator{below: rand.New(rand.NewPCG(1, 1)).IntN, functions: 175, kinds: allKinds - 2}
	text := []byte(g.module(90))
	for b.Loop() {
		b.StopTimer()
		m, err := Read(text)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s, err := Cut(m, Options{Wildcards: true, AnySource: -2, AnyTag: -1})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(s.memory.instructions)), "instructions")
	}
}

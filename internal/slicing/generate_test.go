package slicing

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator writes a random MPI program for any number of ranks up to 4: branches, loops, arrays,
// structures, pointers, functions, and messages whose contents matter or not. Its programs have no undefined
// behaviour, end, and make the same calls in each run.
//
// Variables u… are equal on all ranks; others need not be. Where control is equal on all ranks (uniform),
// there may be communication. Arrays have 16 elements, and pointers point to at least 8.
type generator struct {
	*rand.Rand
	text    strings.Builder
	indent  int
	uniform bool
	depth   int
	loops   []string // counters of the loops around that are equal on all ranks
	locals  []string // those that may differ
	sites   int
	names   int
	budget  int // statements that are left
	helpers int // functions that communicate not, g0 to g(helpers-1)
	steps   int // functions that may communicate
}

// generate returns the source of the program of a number.
func generate(number uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(number, 1)), uniform: true}
	g.line("#include <math.h>\n#include <mpi.h>\n#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>")
	g.line("typedef struct node { unsigned n, v[16]; double w; unsigned *p; struct node *next; } node;")
	g.line("static unsigned a0[16], a1[16], a2[16], receive[64], send[64], gl, gu;")
	g.line("static double d0[16], d1[16];")
	g.line("static node s0, s1, *sp = &s0;")
	g.line("static unsigned *gp = a0, *heap;")
	g.line("static unsigned verdicts[4];")
	g.line("static int rank, size, counts[4], offsets[4], counts2[4], offsets2[4];")
	g.line("static unsigned total(int n, ...)\n{\n\tva_list l;\n\tunsigned s = 0;\n\tva_start(l, n);\n\twhile (n-- > 0)\n\t\ts += va_arg(l, unsigned);\n\tva_end(l);\n\treturn s;\n}")
	g.line("static int compare(const void *a, const void *b)\n{\n\tunsigned x = *(const unsigned *)a, y = *(const unsigned *)b;\n\treturn (x > y) - (x < y);\n}")
	g.line("static void combine(void *in, void *inout, int *n, MPI_Datatype *t)\n{\n\tfor (int i = 0; i < *n; i++)\n\t\t((unsigned *)inout)[i] += 3 * ((unsigned *)in)[i];\n}")
	g.line("static unsigned deep(unsigned n, unsigned *p)\n{\n\tif (n == 0)\n\t\treturn p[0];\n\tp[n & 7] += n;\n\treturn deep(n - 1, p) + p[n & 3];\n}")
	g.line("static unsigned verdict(unsigned own, unsigned k)\n{\n\tunsigned all[4] = {1, 2, 3, 4}, *at = verdicts + (k & 3);\n\tverdicts[k + 1 & 3] += k;\n\t*at = own ^ *at >> 1;\n" +
		"\tMPI_Allreduce(verdicts + (k & 3), &all[k + 1 & 3], 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);\n\tfor (unsigned i = 0; i < 4; i++) {\n" +
		"\t\tif (all[i] %% 5 == 0)\n\t\t\treturn all[i + 1 & 3] >> 1;\n\t\tall[i] += all[i + 3 & 3] / 2;\n\t}\n\treturn all[k & 3];\n}")
	for range 1 + g.IntN(3) {
		g.budget, g.uniform = 4+g.IntN(4), false
		g.function(fmt.Sprint("g", g.helpers))
		g.helpers++
	}
	g.line("static unsigned (*table[2])(unsigned, unsigned *, node *) = {g0, g%d};", g.helpers-1)
	for range 1 + g.IntN(2) {
		g.budget, g.uniform = 5+g.IntN(6), true
		g.function(fmt.Sprint("f", g.steps))
		g.steps++
	}
	g.line("int main(int argc, char **argv)\n{")
	g.indent++
	g.line("unsigned u0 = 1, u1 = 2, x = 0, l0 = 1, l1 = 2, r = 0, *p = a1;\n\tnode *s = &s1, local;")
	g.line("MPI_Init(&argc, &argv);\n\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\tMPI_Comm_size(MPI_COMM_WORLD, &size);")
	g.line("memset(&local, 0, sizeof local);\n\theap = calloc(16, sizeof *heap);\n\ts0.p = a2, s1.p = heap, local.p = s0.v, local.next = &s1, s0.next = &s1, s1.next = &s0;")
	g.line("for (int i = 0; i < 16; i++)\n\t\ta0[i] = i * (rank + 1), a1[i] = i + rank, d0[i] = i;")
	g.budget, g.uniform = 12+g.IntN(14), true
	g.block()
	if g.IntN(2) == 0 {
		g.line("if ((%s & 1) == %d) {\n\t\tMPI_Finalize();\n\t\texit(0);\n\t}", g.common(2),
			g.IntN(2))
		g.communicate()
	}
	g.line("printf(\"%%u %%u %%g\\n\", l0 + r, gl + local.n, d0[3] + d1[2]);")
	g.line("free(heap);\n\tMPI_Finalize();\n\treturn 0;\n}")
	return g.text.String()
}

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.text, strings.Repeat("\t", g.indent)+format+"\n", args...)
}

// one returns one of several texts.
func (g *generator) one(texts ...string) string { return texts[g.IntN(len(texts))] }

func (g *generator) name(begin string) string {
	g.names++
	return fmt.Sprint(begin, g.names)
}

// function writes a function. That of a parameter x that is equal on all ranks is a step.
func (g *generator) function(name string) {
	g.line("static unsigned %s(unsigned x, unsigned *p, node *s)\n{", name)
	g.indent++
	uniform := g.uniform
	g.line("unsigned u0 = 1, u1 = 3, l0 = x, l1 = s->n, r = 0;\n\tnode local;\n\tmemset(&local, 0, sizeof local), local.p = a1, local.next = s;")
	g.block()
	if g.IntN(2) == 0 && !uniform {
		g.line("if (%s)\n\t\treturn %s;", g.condition(), g.local(1))
	}
	g.line("return r + %s;", g.local(1))
	g.indent--
	g.line("}")
	g.uniform = uniform
}

// block writes statements until the budget is used.
func (g *generator) block() {
	for g.budget > 0 {
		g.budget--
		g.statement()
	}
}

// body writes some statements in braces behind a line.
func (g *generator) body(format string, args ...any) {
	g.line(format+" {", args...)
	g.indent++
	g.depth++
	for range 1 + g.IntN(3) {
		g.statement()
	}
	g.depth--
	g.indent--
}

// common returns an expression that is equal on all ranks.
func (g *generator) common(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		if len(g.loops) > 0 && g.IntN(3) == 0 {
			return g.loops[g.IntN(len(g.loops))]
		}
		u := []string{"u0", "u1", "gu", "size", fmt.Sprint(g.IntN(9), "u")}
		if g.steps > 0 || g.uniform {
			u = append(u, "x")
		}
		return g.one(u...)
	}
	return g.combined(g.common, depth)
}

func (g *generator) combined(part func(int) string, depth int) string {
	a, b := part(depth-1), part(depth-1)
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf("(%s - %s)", a, b)
	case 1:
		return fmt.Sprintf("(%s * %s)", a, b)
	case 2:
		return fmt.Sprintf("(%s %% (%s | 1u))", a, b)
	case 3:
		return fmt.Sprintf("(%s > %s ? %s : %s)", a, b, b, part(depth-1))
	case 4:
		return fmt.Sprintf("(%s ^ %s >> 1)", a, b)
	}
	return fmt.Sprintf("(%s + %s)", a, b)
}

// local returns an expression that may differ from rank to rank.
func (g *generator) local(depth int) string {
	if depth == 0 || g.IntN(4) == 0 {
		terms := []string{"(unsigned)rank", "l0", "l1", "r", "gl", "x", g.element(), g.element(), g.element(),
			g.element(),
			g.one("s->n", "local.n", "sp->n", "sp->next->n", "local.next->n", "s->next->next->n"),
			fmt.Sprintf("(unsigned)fabs(%s)", g.double()), g.common(1)}
		if len(g.locals) > 0 {
			terms = append(terms, g.locals[g.IntN(len(g.locals))])
		}
		return g.one(terms...)
	}
	return g.combined(g.local, depth)
}

// element returns an element of an array, which can be assigned to.
func (g *generator) element() string {
	index := g.index()
	return fmt.Sprintf("%s[%s]", g.one("a0", "a1", "a2", "s0.v", "s1.v", "local.v", "s->v", "p", "gp", "heap",
		"local.p", "sp->p", "s->p"), index)
}

func (g *generator) index() string {
	if g.IntN(2) == 0 {
		return fmt.Sprint(g.IntN(8))
	}
	loops := append(append([]string{"l0", "l1", "u0", "rank", "gl"}, g.loops...), g.locals...)
	return g.one(loops...) + " & 7"
}

func (g *generator) double() string {
	return g.one(fmt.Sprintf("d0[%s]", g.index()), fmt.Sprintf("d1[%s]", g.index()), "s0.w", "local.w", "s->w", "sp->w")
}

// condition returns a condition, which is equal on all ranks where control is to remain so.
func (g *generator) condition() string {
	part := g.local
	if g.uniform && g.IntN(3) > 0 {
		part = g.common
	}
	return fmt.Sprintf("(%s & %d) %s %d", part(2), 1+g.IntN(7), g.one("<", ">", "==", "!="), g.IntN(4))
}

// branch writes a branch of one to three blocks.
func (g *generator) branch() {
	uniform, part := g.uniform, g.common
	if !uniform || g.IntN(3) == 0 {
		part, g.uniform = g.local, false
	}
	g.body("if ((%s & 3) > %d)", part(2), g.IntN(3))
	if g.IntN(2) == 0 {
		g.body("} else if (%s %% 3 == 1)", part(1))
		if g.IntN(2) == 0 {
			g.body("} else")
		}
	}
	g.line("}")
	g.uniform = uniform
}

// decide writes that a value of all ranks, which comes from a message, through memory and a function, decides
// what they communicate and how often.
func (g *generator) decide() {
	n := g.name("n")
	g.line("unsigned %s = verdict(%s, %s);", n, g.local(2), g.common(1))
	g.line("for (unsigned %si = 0; %si < (%s >> 2 & 3); %si++) {", n, n, n, n)
	g.indent++
	g.depth++
	g.communicate()
	g.line("if (%s[%si + %s & 7] == %s)\n\t\t%s++;", g.one("a0", "a1", "s0.v"), n, n, g.local(1), g.target())
	g.line("if ((%s + %si) %% 3 == 2)\n\t\tbreak;", n, n)
	g.indent--
	g.line("}\n\tif (%s %% 3 == 1) {", n)
	g.indent++
	g.communicate()
	g.indent--
	g.line("} else")
	g.line("\tMPI_Sendrecv(send, (%s & 3), MPI_UNSIGNED, (rank + 1) %% size, 20000 + (%s & 31), receive, 8, MPI_UNSIGNED, (rank + size - 1) %% size, 20000 + (%s & 31), MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
		g.element(), n, n)
	g.depth--
}

func (g *generator) statement() {
	if g.uniform && g.depth < 2 && g.IntN(6) == 0 {
		g.decide()
		return
	}
	if g.uniform && g.IntN(3) == 0 {
		g.communicate()
		return
	}
	switch k := g.IntN(26); {
	case k < 6 || g.depth >= 3:
		g.assign()
	case k < 9:
		g.branch()
	case k < 12:
		g.loop()
	case k < 13:
		g.switches()
	case k < 15:
		g.line("%s %s %s;", g.double(), "=", fmt.Sprintf("fmod(%s * 0.5 + %s, 1000)", g.double(),
			g.one(g.double(), "("+g.local(1)+" & 31)")))
	case k < 17:
		g.pointer()
	case k < 19:
		g.call()
	case k < 20:
		g.line("%s(%s, %s, %d * sizeof(unsigned));", g.one("memcpy", "memmove"),
			g.one("a0", "a1", "s0.v", "heap"), g.one("a2", "s1.v", "receive"), 1+g.IntN(8))
	case k < 21:
		g.line("qsort(%s, %d, sizeof(unsigned), compare);", g.one("a0", "a1", "s0.v", "p", "gp"), 1+g.IntN(8))
	case k < 22:
		n := g.name("text")
		g.line("char %s[40];\n\tsnprintf(%s, sizeof %s, \"%%u %%u\", %s & 255, %s & 15);\n\t%s = atoi(%s);",
			n, n, n, g.local(1), g.local(1), g.target(), n)
	case k < 23:
		g.line("*%s = *%s;", g.one("s", "sp", "&s0", "&local"), g.one("&s1", "&local", "sp->next"))
	case k < 24:
		g.line("%s = total(3, %s, %s, %s);", g.target(), g.local(1), g.local(1), g.local(1))
	case k < 25:
		g.line("memset(%s, 0, %d);", g.one("a0", "a1", "d0", "s0.v", "local.v"), 4*(1+g.IntN(8)))
	default:
		n := g.name("list")
		g.line("node *%s = NULL;", n)
		g.line("for (unsigned k = 0; k < 1 + (%s & 3); k++) {\n\t\tnode *c = calloc(1, sizeof *c);\n\t\tc->n = k + %s, c->next = %s, %s = c;\n\t}", g.local(1), g.local(1), n, n)
		g.line("while (%s) {\n\t\tnode *c = %s->next;\n\t\t%s += %s->n;\n\t\tfree(%s), %s = c;\n\t}", n, n,
			g.target(), n, n, n)
	}
}

// target returns what can be assigned to, and may differ from rank to rank.
func (g *generator) target() string {
	return g.one("l0", "l1", "r", "gl", g.element(), g.element(), "s->n", "local.n", "sp->n", "s0.n", "local.next->n")
}

func (g *generator) assign() {
	if g.uniform && g.IntN(3) == 0 {
		g.line("%s = %s;", g.one("u0", "u1", "gu"), g.common(2))
		return
	}
	g.line("%s %s %s;", g.target(), g.one("=", "=", "+=", "^="), g.local(2))
}

func (g *generator) loop() {
	i := g.name("i")
	uniform := g.uniform
	list, part := &g.loops, g.common
	if !uniform || g.IntN(3) == 0 {
		list, part, g.uniform = &g.locals, g.local, false
	}
	bound := fmt.Sprintf("1 + (%s & %d)", part(1), g.one("1", "1", "3")[0]-'0')
	n := g.name("n")
	form := g.IntN(3)
	switch form {
	case 0:
		g.line("for (unsigned %s = 0, %s = %s; %s < %s; %s++) {", i, n, bound, i, n, i)
	case 1:
		g.line("unsigned %s = 0, %s = %s;\n\twhile (%s < %s) {", i, n, bound, i, n)
	case 2:
		g.line("unsigned %s = 0, %s = %s;\n\tdo {", i, n, bound)
	}
	*list = append(*list, i)
	g.indent++
	g.depth++
	for range 1 + g.IntN(3) {
		g.statement()
	}
	switch g.IntN(4) {
	case 0:
		g.line("if ((%s & 7) == %d)\n\t\tbreak;", part(2), g.IntN(4))
	case 1:
		if form == 0 {
			g.line("if ((%s & 3) == %d)\n\t\tcontinue;", part(2), g.IntN(4))
			g.statement()
		}
	}
	if form > 0 {
		g.line("%s++;", i)
	}
	g.depth--
	g.indent--
	*list = (*list)[:len(*list)-1]
	if form == 2 {
		g.line("} while (%s < %s);", i, n)
	} else {
		g.line("}")
	}
	g.uniform = uniform
}

func (g *generator) switches() {
	uniform := g.uniform
	part := g.common
	if !uniform || g.IntN(2) == 0 {
		part, g.uniform = g.local, false
	}
	g.line("switch (%s %% 4) {", part(2))
	for k := range 3 {
		g.line("case %d: {", k)
		g.indent++
		g.depth++
		g.statement()
		g.depth--
		if g.IntN(3) > 0 {
			g.line("break;")
		}
		g.indent--
		g.line("}")
	}
	g.line("}")
	g.uniform = uniform
}

func (g *generator) pointer() {
	where := g.one("a0", "a1 + 4", "a2", "&a0[u0 & 7]", "s0.v", "heap", "&s1.v[l0 & 7]", "p", "gp", "sp->p",
		fmt.Sprintf("(%s & 1 ? a1 : a2)", g.local(1)))
	switch g.IntN(4) {
	case 0:
		g.line("sp = %s;", g.one("&s0", "&s1", "sp->next", fmt.Sprintf("(%s & 1 ? &s0 : &s1)", g.local(1))))
	case 1:
		if where == "p" || where == "gp" || where == "sp->p" {
			where = "a2"
		}
		g.line("%s = %s;", g.one("sp->p", "local.p", "s0.p", "s1.p"), where)
	default:
		g.line("%s = %s;", g.one("p", "gp"), where)
	}
}

func (g *generator) call() {
	where, s := g.one("a0", "a1", "gp", "heap", "p", "s0.v"), g.one("s", "sp", "&s0", "&s1")
	switch g.IntN(4) {
	case 0:
		g.line("%s = deep(%s & 7, %s);", g.target(), g.local(1), where)
		return
	case 1:
		if g.steps+g.IntN(2) > 0 && g.uniform && g.steps > 0 && g.depth < 2 {
			g.line("%s += f%d(%s & 7, %s, %s);", g.target(), g.IntN(g.steps), g.common(1), where, s)
			return
		}
	case 2:
		if strings.Contains(g.text.String(), "*table[2]") {
			g.line("%s = table[%s & 1](%s, %s, %s);", g.target(), g.local(1), g.local(1), where, s)
			return
		}
	}
	if g.helpers > 0 {
		g.line("%s += g%d(%s, %s, %s);", g.target(), g.IntN(g.helpers), g.local(1), where, s)
	}
}

// buffer returns a buffer of at least 8 elements, and its type.
func (g *generator) buffer() (name, datatype string) {
	if g.IntN(4) == 0 {
		return g.one("d0", "d1"), "MPI_DOUBLE"
	}
	return g.one("a0", "a1", "a2", "s0.v", "s->v", "p", "gp", "heap"), "MPI_UNSIGNED"
}

// other returns a name of a buffer that never overlaps.
func (g *generator) other(datatype string) string {
	if datatype == "MPI_DOUBLE" {
		return "(double *)receive"
	}
	return "receive"
}

// partners returns the ranks to send to and to receive from.
func (g *generator) partners() (to, from string) {
	switch g.IntN(4) {
	case 0:
		return "(rank + 1 < size ? rank + 1 : MPI_PROC_NULL)", "(rank ? rank - 1 : MPI_PROC_NULL)"
	case 1:
		p := "((rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL)"
		return p, p
	case 2:
		k := g.common(1)
		return fmt.Sprintf("(int)((rank + (%s) %% size) %% size)", k),
			fmt.Sprintf("(int)((rank + size - (%s) %% size) %% size)", k)
	}
	return "((rank + 1) % size)", "((rank + size - 1) % size)"
}

// communicate writes a communication of all ranks.
func (g *generator) communicate() {
	g.sites++
	buffer, datatype := g.buffer()
	to, from := g.partners()
	tag := fmt.Sprint(8 * g.sites)
	if g.IntN(3) == 0 {
		tag = fmt.Sprintf("(int)(%d + (%s & 3))", g.sites*8, g.common(1))
	}
	n := fmt.Sprintf("(int)(%s & 7)", g.one(g.local(1), g.common(1), "l0", g.element()))
	same := fmt.Sprintf("(int)(%s & 7)", g.common(1))
	g.line("{")
	g.indent++
	switch g.IntN(21) {
	case 0, 1:
		g.line("MPI_Send(%s, %s, %s, %s, %s, MPI_COMM_WORLD);", buffer, n, datatype, to, tag)
		g.line("MPI_Recv(%s, 8, %s, %s, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", buffer, datatype, from, tag)
	case 2, 3:
		g.line("MPI_Request q[2];")
		g.line("memcpy(send, %s, 32);", buffer)
		g.line("MPI_Irecv(receive, 8, %s, %s, %s, MPI_COMM_WORLD, &q[0]);", datatype, from, tag)
		g.line("MPI_Isend(send, (%s) / %d, %s, %s, %s, MPI_COMM_WORLD, &q[1]);", n, 2, datatype, to, tag)
		uniform := g.uniform
		g.uniform = false
		g.depth += 2
		g.assign()
		g.depth -= 2
		g.uniform = uniform
		g.line("%s", g.one("MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
			"MPI_Wait(&q[1], MPI_STATUS_IGNORE);\n\tMPI_Wait(&q[0], MPI_STATUS_IGNORE);",
			"for (int i = 0; i < 2; i++)\n\t\tMPI_Wait(q + i, MPI_STATUS_IGNORE);"))
		g.line("memcpy(%s, receive, 32);", buffer)
	case 4:
		g.line("MPI_Sendrecv(%s, %s, %s, %s, %s, %s, 8, %s, %s, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
			buffer, n, datatype, to, tag, g.other(datatype), datatype, from, tag)
		g.line("%s = receive[%d];", g.target(), g.IntN(8))
	case 5:
		g.line("MPI_Status status;")
		g.line("MPI_Sendrecv_replace(%s, %s, %s, %s, %s, %s, %s, MPI_COMM_WORLD, &status);", buffer, same,
			datatype, to, tag, from, tag)
		g.line("%s = status.MPI_TAG + status.MPI_SOURCE;", g.target())
	case 6: // a length before what has it
		g.line("int n = %s, m = 0;", n)
		g.line("MPI_Send(&n, 1, MPI_INT, %s, %s, MPI_COMM_WORLD);\n\tMPI_Recv(&m, 1, MPI_INT, %s, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", to, tag, from, tag)
		g.line("MPI_Send(%s, n, %s, %s, 7, MPI_COMM_WORLD);\n\tMPI_Recv(%s, m, %s, %s, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", buffer, datatype, to, g.other(datatype), datatype, from)
		g.line("%s = receive[1] + m;", g.target())
	case 7: // the first rank asks all others
		g.line("if (rank == 0) {\n\t\tfor (int i = 1; i < size; i++) {\n\t\t\tMPI_Send(%s, %s, %s, i, %s, MPI_COMM_WORLD);", buffer, n, datatype, tag)
		g.line("\tMPI_Recv(receive, 8, MPI_UNSIGNED, i, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\t\t\t%s += receive[i];\n\t\t}\n\t} else {", g.target())
		g.line("MPI_Recv(%s, 8, %s, 0, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", buffer, datatype, tag)
		g.line("MPI_Send(%s, %s, MPI_UNSIGNED, 0, 3, MPI_COMM_WORLD);\n\t}", g.one("a0", "a1", "heap"), n)
	case 8:
		g.line("MPI_Bcast(%s, %s, %s, %s %% size, MPI_COMM_WORLD);", buffer, same, datatype, g.common(1))
	case 9:
		g.line("%s", g.one("MPI_Bcast(&u0, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);",
			"u1 = rank ? 0 : l0;\n\tMPI_Bcast(&u1, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);",
			"MPI_Allreduce(&l0, &gu, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);"))
	case 10, 11:
		g.line("unsigned own = %s, all;\n\tMPI_Allreduce(&own, &all, 1, MPI_UNSIGNED, %s, MPI_COMM_WORLD);",
			g.local(2), g.one("MPI_SUM", "MPI_MAX"))
		g.line("%s = all;", g.one("u0", "u1", "gu", "l0", "r"))
	case 12:
		if datatype == "MPI_DOUBLE" {
			g.line("MPI_Allreduce(MPI_IN_PLACE, %s, %s, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);", buffer, same)
		} else {
			g.line("MPI_Reduce(%s, receive, %s, MPI_UNSIGNED, MPI_SUM, %s %% size, MPI_COMM_WORLD);\n\t%s += receive[0];", buffer, same, g.common(1), g.target())
		}
	case 13:
		g.line("MPI_Allgather(&%s, 1, MPI_UNSIGNED, receive, 1, MPI_UNSIGNED, MPI_COMM_WORLD);", g.element())
		g.line("for (int i = 0; i < size; i++)\n\t\t%s[i] = receive[i];", g.one("a0", "s0.v", "gp"))
	case 14: // lengths from each to each
		g.line("int at = 0, at2 = 0;\n\tfor (int i = 0; i < size; i++)\n\t\tcounts[i] = (%s + i) %% 4;", g.local(1))
		g.line("MPI_Alltoall(counts, 1, MPI_INT, counts2, 1, MPI_INT, MPI_COMM_WORLD);")
		g.line("for (int i = 0; i < size; i++)\n\t\toffsets[i] = at, at += counts[i], offsets2[i] = at2, at2 += counts2[i];")
		g.line("for (int i = 0; i < at; i++)\n\t\tsend[i] = i + %s;", g.local(1))
		g.line("MPI_Alltoallv(send, counts, offsets, MPI_UNSIGNED, receive, counts2, offsets2, MPI_UNSIGNED, MPI_COMM_WORLD);")
		g.line("for (int i = 0; i < at2; i++)\n\t\t%s += receive[i];", g.target())
	case 15:
		g.line("MPI_Gather(%s, 2, %s, receive, 2, %s, 0, MPI_COMM_WORLD);", buffer, datatype, datatype)
		g.line("MPI_Scatter(receive, 1, %s, %s, 1, %s, 0, MPI_COMM_WORLD);", datatype, buffer, datatype)
	case 16:
		g.line("MPI_Comm half;\n\tint n;\n\tMPI_Comm_split(MPI_COMM_WORLD, %s & 1, 0, &half);\n\tMPI_Comm_size(half, &n);", g.local(1))
		g.line("MPI_Allreduce(%s, receive, n, %s, MPI_MAX, half);\n\t%s = receive[0];\n\tMPI_Comm_free(&half);", buffer, datatype, g.target())
	case 17:
		g.line("MPI_Datatype t;\n\tMPI_Type_vector(%s, 1, 2, MPI_UNSIGNED, &t);\n\tMPI_Type_commit(&t);",
			"1 + (int)("+g.common(1)+" & 3)")
		g.line("memcpy(send, a0, 64);\n\tMPI_Sendrecv(send, 1, t, %s, 5, receive, 1, t, %s, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\tMPI_Type_free(&t);\n\t%s = receive[2];", to, from, g.target())
	case 18:
		if g.IntN(3) > 0 {
			g.line("MPI_Barrier(MPI_COMM_WORLD);")
			break
		}
		g.line("MPI_Op op;\n\tMPI_Op_create(combine, 1, &op);\n\tMPI_Allreduce(a1, receive, 2, MPI_UNSIGNED, op, MPI_COMM_WORLD);\n\tMPI_Op_free(&op);\n\t%s = receive[1];", g.target())
	case 19:
		switch g.IntN(3) {
		case 0:
			g.line("MPI_Status status;\n\tint n;")
			g.line("MPI_Send(%s, %s, MPI_UNSIGNED, (rank + 1) %% size, %s, MPI_COMM_WORLD);",
				g.one("a0", "a1", "heap"), n, tag)
			g.line("MPI_Probe(%s, %s, MPI_COMM_WORLD, &status);\n\tMPI_Get_count(&status, MPI_UNSIGNED, &n);",
				g.one("MPI_ANY_SOURCE", "(rank + size - 1) % size"), tag)
			g.line("MPI_Recv(receive, n, MPI_UNSIGNED, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);\n\t%s = receive[0] + n;", g.target())
		case 1: // the sum does not depend on which message comes first
			at := g.one("gl", "l0", "r")
			g.line("if (rank == 0) {\n\t\tMPI_Status status;\n\t\tfor (int i = 1; i < size; i++) {\n\t\t\tMPI_Recv(receive, 8, MPI_UNSIGNED, MPI_ANY_SOURCE, %s, MPI_COMM_WORLD, &status);", tag)
			g.line("\t\t%s += receive[1] + status.MPI_SOURCE;\n\t\t}\n\t\tmemset(receive, 0, sizeof receive);\n\t} else\n\t\tMPI_Send(%s, 2, MPI_UNSIGNED, 0, %s, MPI_COMM_WORLD);", at, g.one("a0", "a1", "heap"), tag)
			g.line("MPI_Bcast(send, (int)(%s & 7), MPI_UNSIGNED, 0, MPI_COMM_SELF);\n\tMPI_Barrier(MPI_COMM_WORLD);", at)
		case 2:
			g.line("MPI_Scan(%s, receive, %s, %s, MPI_MAX, MPI_COMM_WORLD);\n\tgl += receive[0];", buffer,
				same, datatype)
		}
	case 20:
		if g.IntN(3) > 0 {
			g.line("if ((%s & 7) == 9)\n\t\tMPI_Abort(MPI_COMM_WORLD, 1);", g.local(1))
			break
		}
		g.line("MPI_Request q[2];\n\tmemcpy(send, %s, 32);\n\tMPI_Recv_init(receive, 8, MPI_UNSIGNED, %s, 6, MPI_COMM_WORLD, &q[0]);\n\tMPI_Send_init(send, %s, MPI_UNSIGNED, %s, 6, MPI_COMM_WORLD, &q[1]);", buffer, from, n, to)
		g.line("for (int i = 0; i < 2; i++) {\n\t\tMPI_Startall(2, q);\n\t\tMPI_Waitall(2, q, MPI_STATUSES_IGNORE);\n\t\t%s += receive[i];\n\t}\n\tMPI_Request_free(&q[0]);\n\tMPI_Request_free(&q[1]);", g.target())
	}
	g.indent--
	g.line("}")
}

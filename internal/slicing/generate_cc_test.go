package slicing

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A classes writes a random MPI program in C++: classes that inherit, with virtual functions, lists, maps and
// texts, pointers to member functions and to members, exceptions, recursion and templates. Objects u are equal
// on all ranks, and what they compute, too; objects l need not be. Only u decides what all ranks do together,
// and what l computes how much is sent to others.
type classes struct {
	*rand.Rand
	text    strings.Builder
	depth   int
	members int // functions of the class at hand that are declared before
}

// generateClasses returns the source of the program of a number.
func generateClasses(number uint64) string {
	g := &classes{Rand: rand.New(rand.NewPCG(number, 3))}
	g.line(`#include <mpi.h>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>
struct E0 {
	unsigned n;
	explicit E0(unsigned k) : n(k) {}
	virtual ~E0() {}
	virtual unsigned weight() const { return n; }
};
struct E1 : E0 { explicit E1(unsigned k) : E0(k * 2) {} unsigned weight() const override { return n + 7; } };
static unsigned budget;
static void step() { if (budget == 0) throw E1(99); budget--; }
struct Guard { unsigned &n; explicit Guard(unsigned &k) : n(k) { n++; } ~Guard() { n += 3; } };
template <class T> T pick(const std::vector<T> &v, unsigned k) { return v.empty() ? T() : v[k % v.size()]; }
struct Part { unsigned x, y[4]; Part *next; };
struct Base {
	unsigned a = 1, b = 2, arr[8] = {3, 1, 4, 1, 5, 9, 2, 6};
	std::vector<unsigned> v, w;
	std::map<unsigned, unsigned> m;
	std::unordered_map<unsigned, unsigned> hash;
	std::string s;
	Part parts[2];
	std::unique_ptr<Part> own;
	explicit Base(unsigned k) : v(3, k), own(new Part())
	{
		parts[0] = {k, {1, 2, 3, k}, &parts[1]};
		parts[1] = {k + 1, {5, k, 7, 8}, own.get()};
		own->next = &parts[0], own->x = k;
	}
	virtual ~Base() {}
	virtual unsigned f(unsigned x) { return a + x; }
	virtual unsigned h(unsigned x) { return x % 2 ? f(x / 2) : b; }`)
	g.functions("Base")
	g.line("};")
	for k := range 2 {
		g.line(fmt.Sprintf(
			"struct D%d : Base {\n\tunsigned c = %d;\n"+
				"\tstd::vector<unsigned> own_list;\n\texplicit D%d(unsigned k) : Base(k * %d) {}", k, k+4, k, k+2))
		g.line(fmt.Sprintf("\tunsigned %s(unsigned x) override {", g.one("f", "h")))
		g.body(2)
		g.line("\t\treturn c + a + x;\n\t}\n};")
	}
	g.line(`static unsigned buffer[64], other[64];
static int rank, size;
static unsigned (Base::*const table[])(unsigned) = {
	&Base::f0, &Base::f1, &Base::f2, ` + g.one("&Base::f", "&Base::f2", "&Base::h") + `};
static unsigned Base::*const field[] = {&Base::a, &Base::b};
static unsigned run(Base &o, unsigned k)
{
	budget = 300;
	try {
		return (o.*table[k % 4])(k) + o.h(k);
	} catch (const E1 &e) {
		o.*field[k % 2] += e.weight();
		return 5;
	} catch (E0 &e) {
		return e.weight() % 11;
	} catch (const std::exception &) {
		return 17 + unsigned(o.v.size());
	}
}
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	std::vector<std::unique_ptr<Base>> u, l;
	for (unsigned k = 0; k < 2; k++) {
		u.emplace_back(k ? static_cast<Base *>(new D0(k)) : new D1(3));
		l.emplace_back(k ? static_cast<Base *>(new D1(rank + 1)) : new D0(2 * rank));
	}`)
	for range 5 + g.IntN(5) {
		g.communicate()
	}
	g.line("\tMPI_Finalize();\n\treturn 0;\n}")
	return g.text.String()
}

func (g *classes) line(text string) { g.text.WriteString(text + "\n") }

func (g *classes) one(texts ...string) string { return texts[g.IntN(len(texts))] }

// functions writes member functions.
func (g *classes) functions(_ string) {
	for k := range 3 {
		g.line(fmt.Sprintf("\tunsigned f%d(unsigned x)\n\t{\n\t\tstep();\n\t\tunsigned r = x;", k))
		g.members = k
		g.body(2 + g.IntN(3))
		g.line("\t\treturn r + a;\n\t}")
	}
	g.members = 3
}

func (g *classes) body(statements int) {
	for range statements {
		g.statement()
	}
}

func (g *classes) value(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.one("x", "a", "b", fmt.Sprint(1+g.IntN(9), "u"), "arr[x & 7]", "arr[b & 7]", "pick(v, x)",
			"pick(w, a)",
			"unsigned(s.size())", "parts[x & 1].y[a & 3]", "parts[0].next->x", "own->next->y[b & 3]",
			"unsigned(m.size())", "unsigned(hash.count(x & 3))",
			"unsigned(v.size())")
	}
	p, q := g.value(depth-1), g.value(depth-1)
	return g.one(fmt.Sprintf("(%s + %s)", p, q), fmt.Sprintf("(%s * %s)", p, q), fmt.Sprintf("(%s ^ %s)", p, q),
		fmt.Sprintf("(%s %% (%s | 1u))", p, q), fmt.Sprintf("(%s > %s ? %s : %s)", p, q, q, p))
}

func (g *classes) target() string {
	return g.one("a", "b", "arr[x & 7]", "arr[a & 7]", "parts[b & 1].y[x & 3]", "own->x",
		"parts[1].next->y[a & 3]", "m[x & 3]", "hash[x & 7]")
}

// call returns a call of a function of the object.
func (g *classes) call() string {
	if g.members > 0 && g.IntN(2) == 0 {
		return fmt.Sprintf("f%d(%s & 15)", g.IntN(g.members), g.value(1))
	}
	return g.one("(x > 3 ? h(x / 2) : 2u)", "(x > 3 ? f(x / 2) : 1u)", "Base::f(x)")
}

func (g *classes) statement() {
	g.depth++
	defer func() { g.depth-- }()
	k := g.IntN(16)
	if g.depth > 3 {
		k = g.IntN(6)
	}
	switch {
	case k < 4:
		g.line(fmt.Sprintf("\t\t%s %s %s;", g.target(), g.one("=", "+=", "^="), g.value(2)))
	case k == 4:
		g.line(fmt.Sprintf("\t\tif (%s.size() < 40)\n\t\t\t%s.push_back(%s);", "v", "v", g.value(1)))
	case k == 5:
		g.line("\t\tif (s.size() < 40)\n\t\t\ts += char('a' + " + g.value(1) + " % 26);")
	case k == 6:
		g.line(fmt.Sprintf("\t\tif (%s %% 5 == %d)\n\t\t\tthrow %s(%s);", g.value(2), g.IntN(5),
			g.one("E0", "E1"), g.value(1)))
	case k == 7:
		g.line(fmt.Sprintf("\t\t%s = v.at(%s %% 9);", g.target(), g.value(1)))
	case k < 10:
		g.line("\t\ttry {\n\t\tGuard guard(" + g.one("a", "b", "arr[1]") + ");")
		g.body(1 + g.IntN(2))
		g.line(fmt.Sprintf("\t\t%s += %s;", g.target(), g.call()))
		g.line("\t\t} catch (" + g.one("const E1 &", "const E0 &", "const std::out_of_range &", "...") + ") {")
		g.statement()
		if g.IntN(4) == 0 {
			g.line("\t\tif (a % 3 == 1)\n\t\t\tthrow;")
		}
		g.line("\t\t}")
	case k < 12:
		g.line(fmt.Sprintf("\t\tif (%s %% 3 > %d) {", g.value(2), g.IntN(2)))
		g.statement()
		g.line("\t\t} else {")
		g.statement()
		g.line("\t\t}")
	case k < 14:
		i := fmt.Sprintf("i%d_%d", g.depth, g.IntN(1000))
		g.line(fmt.Sprintf("\t\tfor (unsigned %s = 0; %s < %s %% 4; %s++) {", i, i, g.value(1), i))
		g.statement()
		g.line(fmt.Sprintf("\t\tif (%s %% 7 == %s)\n\t\t\tbreak;\n\t\t}", g.value(1), i))
	case k == 14:
		g.line("\t\tw = v;\n\t\tif (!v.empty())\n\t\t\tv.pop_back();")
	default:
		g.line(fmt.Sprintf("\t\t%s += %s;", g.target(), g.call()))
	}
}

// communicate writes what all ranks do together.
func (g *classes) communicate() {
	o := g.one("*u[0]", "*u[1]")
	p := g.one("*l[0]", "*l[1]")
	k := g.IntN(20)
	g.line(fmt.Sprintf(
		"\tfor (unsigned k = 0; k < 1 + run(%s, %d) %% 3; k++) {\n"+
			"\t\tunsigned n = run(%s, k + %d), mine = run(%s, k + %d);", o, k, o, k+1, p, k))
	switch g.IntN(4) {
	case 0:
		g.line("\t\tMPI_Bcast(buffer, n % 30, MPI_UNSIGNED, 0, MPI_COMM_WORLD);")
	case 1:
		g.line(fmt.Sprintf(
			"\t\tMPI_Sendrecv(buffer, mine %% 30, MPI_UNSIGNED, (rank + 1) %% size, n %% 100, other, 32,\n"+
				" MPI_UNSIGNED, (rank + size - 1) %% size, n %% 100, MPI_COMM_WORLD,\n"+
				"MPI_STATUS_IGNORE);\n\t\tl[%d]->b += other[1];", g.IntN(2)))
	case 2:
		g.line(fmt.Sprintf(
			"\t\tunsigned all;\n\t\tMPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);\n"+
				"\t\tu[%d]->a += all %% 16;", g.IntN(2)))
	default:
		g.line("\t\tbuffer[0] = mine, buffer[1] = n;\n" +
			"\t\tMPI_Bcast(buffer, 2, MPI_UNSIGNED, int(n % size), MPI_COMM_WORLD);\n" +
			"\t\tif (buffer[0] % 2)\n\t\t\tu[0]->v.push_back(buffer[0]);")
	}
	g.line("\t}")
}

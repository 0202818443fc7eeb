//go:build linux

package slicing

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A fortran writes a random MPI program in Fortran for any number of ranks up to 4: modules, COMMON blocks that
// procedures see in different ways, EQUIVALENCE, derived types, pointers, allocatable arrays, sections, internal
// procedures, and messages whose contents matter or not. All numbers are from 0 to 4095. Variables u… are equal
// on all ranks, as in the programs in C. Arrays begin at 0 and have at least 8 elements.
type fortran struct {
	*rand.Rand
	text    strings.Builder
	uniform bool
	inMain  bool
	depth   int
	loops   []string // counters of the loops around that are equal on all ranks
	locals  []string // those that may differ
	helpers int      // subroutines that communicate not, g0 to g(helpers-1)
	steps   int      // those that may, f0 to f(steps-1)
	budget  int
	sites   int
}

const fortranBegin = `module state
  implicit none
  include 'mpif.h'
  type node
    integer :: n = 3, v(8) = 5
    real(8) :: w = 1
    integer, pointer :: p(:) => null()
  end type
  type box
    integer, allocatable :: list(:)
  end type
  integer, target, save :: a0(0:15) = 4, a1(0:15) = 6, a2(0:15) = 2, send(0:63) = 0, receive(0:63) = 0
  real(8), target, save :: d0(0:15) = 1, d1(0:15) = 2
  integer, save :: gl = 3, gu = 2, rank = 0, ranks = 1, ierr = 0
  integer, allocatable, target, save :: heap(:), other(:)
  integer, pointer, save :: gp(:)
  type(node), target, save :: s0, s1, nodes(0:3)
  type(box), target, save :: boxes(0:1)
  type(node), pointer, save :: sp
  integer, save :: ea(0:7), eb(0:7)
  equivalence (ea(3), eb(0))
  integer, target :: ca(0:7), cn
  real(8), target :: cd(0:7)
  common /block/ cd, ca, cn
contains
`

const fortranExternal = `subroutine mix(k, r)
  implicit none
  integer, intent(in) :: k
  integer, intent(out) :: r
  integer :: c(0:15), ca(0:3), cb(0:3), cn, calls, kept(0:7)
  common /block/ c, ca, cb, cn
  common /own/ kept
  save calls
  data calls /3/
  calls = iand(calls + k, 63)
  ca(iand(k, 3)) = iand(ca(iand(calls, 3)) + cb(1), 4095)
  cb(iand(calls, 3)) = k
  cn = iand(cn + kept(iand(k, 7)) + iand(c(1), 255), 4095)
  r = iand(cn + calls, 4095)
end subroutine
subroutine put(k)
  implicit none
  integer, intent(in) :: k
  integer :: low(0:3), high(0:3)
  common /own/ low, high
  low(iand(k, 3)) = high(iand(k + 1, 3))
  high(iand(k, 3)) = k
end subroutine
block data
  integer :: kept(0:7)
  common /own/ kept
  data kept /3, 1, 4, 1, 5, 9, 2, 6/
end block data
program main
  use state
  implicit none
  external mix, put
`

// generateFortran returns the source of the program of a number.
func generateFortran(number uint64) string {
	g := &fortran{Rand: rand.New(rand.NewPCG(number, 5))}
	g.text.WriteString(fortranBegin)
	g.line("recursive subroutine deep(n, a, r)\ninteger, intent(in) :: n\ninteger, intent(inout), target :: a(0:)")
	g.line("integer, intent(out) :: r\na(iand(n, 7)) = iand(a(iand(n, 7)) + n, 4095)\nr = a(iand(n, 3))")
	g.line("if (n > 0) then\ncall deep(n - 1, a, r)\nr = iand(r + a(iand(n, 3)), 4095)\nend if\nend subroutine")
	for range 1 + g.IntN(3) {
		g.budget = 4 + g.IntN(4)
		g.procedure(fmt.Sprint("g", g.helpers))
		g.helpers++
	}
	for range 1 + g.IntN(2) {
		g.budget, g.uniform = 3+g.IntN(5), true
		g.procedure(fmt.Sprint("f", g.steps))
		g.steps++
	}
	g.line("end module")
	g.text.WriteString(fortranExternal)
	g.variables()
	g.line("integer :: x = 0\ntype(node), pointer :: s\ninteger, target :: a(0:15)\na = 3\ncounts = 2\n" +
		"s => s1\nsp => s0\ngp => a0\np => a1")
	g.line("call mpi_init(ierr)\ncall mpi_comm_rank(mpi_comm_world, rank, ierr)\n" +
		"call mpi_comm_size(mpi_comm_world, ranks, ierr)")
	g.line("allocate (heap(0:15), other(0:15))\nheap = rank\nother = 7\nca = rank + 1\ncn = 5\ncd = 0\n" +
		"ea = 1\neb = 2")
	g.line("s0%%p => a2\ns1%%p(0:) => s0%%v\nallocate (boxes(0)%%list(0:7), boxes(1)%%list(0:7))\n" +
		"boxes(0)%%list = 3\nboxes(1)%%list = rank\nlocal%%p => a1\nauto = 1")
	g.line("do i1 = 0, 15\na0(i1) = i1 * (rank + 1)\nd0(i1) = i1\nend do\ndo i1 = 0, 3\nnodes(i1)%%p => ca\nend do")
	g.budget, g.uniform, g.inMain = 8+g.IntN(10), true, true
	g.block()
	g.line("print *, l0 + r, gl + local%%n, d0(3) + d1(2)\ncall mpi_finalize(ierr)\ncontains")
	g.line("subroutine inner(k)\ninteger, intent(in) :: k\nif (k > 2) then\nr = iand(r + k, 4095)\nelse\n"+
		"l0 = iand(l1 + %s, 4095)\nend if\nend subroutine", g.local(1))
	g.line("end program")
	return g.text.String()
}

func (g *fortran) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

func (g *fortran) one(texts ...string) string { return texts[g.IntN(len(texts))] }

// variables declares those that each procedure has.
func (g *fortran) variables() {
	g.line("integer :: u0 = 1, u1 = 3, l0 = 2, l1 = 1, r = 0, m, at, to, from\n" +
		"integer :: i1, i2, i3, i4, i5, i6, w1, w2, w3, w4, w5, w6\n" +
		"integer :: status(mpi_status_size), requests(2), statuses(mpi_status_size, 2), counts(0:3), counts2(0:3)\n" +
		"integer :: offsets(0:3), offsets2(0:3), handle\ninteger, target :: auto(0:15)\n" +
		"integer, pointer :: p(:)\n" +
		"type(node), target :: local\ncharacter(len=12) :: text")
}

// procedure writes a subroutine. The argument x of a step is equal on all ranks.
func (g *fortran) procedure(name string) {
	g.line("subroutine %s(x, a, s, res)\ninteger, intent(in) :: x\ninteger, intent(inout), target :: a(0:)\n"+
		"type(node), intent(inout), target :: s\ninteger, intent(out) :: res", name)
	uniform := g.uniform
	g.variables()
	g.line("counts = 2\nu0 = 1\nu1 = 3\nl0 = x\nl1 = s%%n\nr = 0\np => a2\nlocal%%p => a1\nauto = l1\n" +
		"if (.not. associated(s%%p)) s%%p => a2")
	g.block()
	if g.IntN(2) == 0 && !uniform {
		g.line("if (%s) then\nres = %s\nreturn\nend if", g.condition(), g.local(1))
	}
	g.line("res = iand(r + %s, 4095)\nend subroutine", g.local(1))
	g.uniform = uniform
}

func (g *fortran) block() {
	for g.budget > 0 {
		g.budget--
		g.statement()
	}
}

// body writes some statements behind a line.
func (g *fortran) body(format string, args ...any) {
	g.line(format, args...)
	g.depth++
	for range 1 + g.IntN(3) {
		g.statement()
	}
	g.depth--
}

// common returns an expression that is equal on all ranks.
func (g *fortran) common(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.one(append([]string{"u0", "u1", "gu", "ranks", "x", fmt.Sprint(g.IntN(9))}, g.loops...)...)
	}
	return g.combined(g.common, depth)
}

func (g *fortran) combined(part func(int) string, depth int) string {
	a, b := part(depth-1), part(depth-1)
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf("abs(%s - %s)", a, b)
	case 1:
		return fmt.Sprintf("iand(%s * %s, 4095)", a, b)
	case 2:
		return fmt.Sprintf("mod(%s, ior(%s, 1))", a, b)
	case 3:
		return fmt.Sprintf("merge(%s, %s, %s > %s)", b, part(depth-1), a, b)
	case 4:
		return fmt.Sprintf("ieor(%s, ishft(%s, -1))", a, b)
	}
	return fmt.Sprintf("iand(%s + %s, 4095)", a, b)
}

// local returns an expression that may differ from rank to rank.
func (g *fortran) local(depth int) string {
	if depth == 0 || g.IntN(4) == 0 {
		terms := []string{"rank", "l0", "l1", "r", "gl", "x", "cn", g.element(), g.element(), g.element(), g.element(),
			g.one("s%n", "local%n", "sp%n", "nodes("+g.index(3)+")%n"), g.common(1), "int(" + g.double() + ")"}
		return g.one(append(terms, g.locals...)...)
	}
	return g.combined(g.local, depth)
}

// element returns an element of an array, which can be assigned to.
func (g *fortran) element() string {
	of := g.one("a0", "a1", "a2", "a", "s0%v", "s1%v", "local%v", "s%v", "p", "gp", "heap", "other", "local%p", "sp%p",
		"s%p", "ca", "ca", "ea", "eb", "auto", "boxes("+g.index(1)+")%list", "nodes("+g.index(3)+")%v",
		"nodes("+g.index(3)+")%p")
	if strings.HasSuffix(of, "%v") { // Flang 16 takes no components from 0 on
		return fmt.Sprintf("%s(1 + %s)", of, g.index(7))
	}
	return fmt.Sprintf("%s(%s)", of, g.index(7))
}

func (g *fortran) index(most int) string {
	if g.IntN(2) == 0 {
		return fmt.Sprint(g.IntN(most + 1))
	}
	return fmt.Sprintf("iand(%s, %d)", g.one(append(append([]string{"l0", "l1", "u0", "rank", "gl"}, g.loops...),
		g.locals...)...), most)
}

func (g *fortran) double() string {
	return g.one("d0("+g.index(7)+")", "d1("+g.index(7)+")", "s0%w", "local%w", "s%w", "sp%w")
}

func (g *fortran) condition() string {
	part := g.local
	if g.uniform && g.IntN(3) > 0 {
		part = g.common
	}
	return fmt.Sprintf("iand(%s, %d) %s %d", part(2), 1+g.IntN(7), g.one("<", ">", "==", "/="), g.IntN(4))
}

// target returns what can be assigned to, and may differ from rank to rank.
func (g *fortran) target() string {
	return g.one("l0", "l1", "r", "gl", "cn", g.element(), g.element(), g.element(), "s%n", "local%n", "sp%n", "s0%n")
}

// array returns 8 elements of an array.
func (g *fortran) array() string { return g.section("a0", "a1", "a2", "heap", "other", "auto") }

func (g *fortran) section(arrays ...string) string {
	return g.one(arrays...) + g.one("(0:7)", "(8:15)", "(0:15:2)", "(15:1:-2)")
}

func (g *fortran) assign() {
	switch k := g.IntN(10); {
	case g.uniform && k < 3:
		g.line("%s = %s", g.one("u0", "u1", "gu"), g.common(2))
	case k == 3: // sections
		g.line("%s = iand(%s + %s, 4095)", g.array(), g.array(), g.local(1))
	case k == 4:
		g.line("%s = %s", g.one("s%v", "local%v", "sp%p(0:7)", "ca", "boxes("+g.index(1)+")%list",
			"nodes("+g.index(3)+")%v"),
			g.one(g.array(), "s0%v", "ca", "eb", g.local(1)))
	default:
		g.line("%s = %s", g.target(), g.local(2))
	}
}

func (g *fortran) branch() {
	uniform, part := g.uniform, g.common
	if !uniform || g.IntN(3) == 0 {
		part, g.uniform = g.local, false
	}
	if g.IntN(3) == 0 {
		g.line("select case (mod(%s, 5))", part(2))
		g.body("case (0, 3)")
		g.body("case (1:2)")
		if g.IntN(2) == 0 {
			g.body("case default")
		}
		g.line("end select")
	} else {
		g.body("if (iand(%s, 3) > %d) then", part(2), g.IntN(3))
		if g.IntN(2) == 0 {
			g.body("else if (mod(%s, 3) == 1) then", part(1))
			if g.IntN(2) == 0 {
				g.body("else")
			}
		}
		g.line("end if")
	}
	g.uniform = uniform
}

func (g *fortran) loop() {
	uniform, list, part := g.uniform, &g.loops, g.common
	if !uniform || g.IntN(3) == 0 {
		list, part, g.uniform = &g.locals, g.local, false
	}
	i, w := fmt.Sprint("i", g.depth+1), fmt.Sprint("w", g.depth+1)
	bound := fmt.Sprintf("iand(%s, %s)", part(1), g.one("1", "1", "3"))
	steps := g.IntN(3) > 0
	if steps {
		g.line("do %s = %s", i, g.one("0, "+bound, bound+", 0, -1", "0, 2 * "+bound+", 2"))
	} else {
		g.line("%s = 0\n%s = 1 + %s\ndo while (%s < %s)", i, w, bound, i, w)
	}
	*list = append(*list, i)
	g.body("continue")
	switch g.IntN(4) {
	case 0:
		g.line("if (iand(%s, 7) == %d) exit", part(2), g.IntN(4))
	case 1:
		if steps {
			g.line("if (iand(%s, 3) == %d) cycle", part(2), g.IntN(4))
			g.depth++
			g.statement()
			g.depth--
		}
	}
	*list = (*list)[:len(*list)-1]
	if !steps {
		g.line("%s = %s + 1", i, i)
	}
	g.line("end do")
	g.uniform = uniform
}

func (g *fortran) statement() {
	if g.uniform && g.depth < 2 && g.IntN(5) == 0 {
		g.decide()
		return
	}
	if g.uniform && g.IntN(3) == 0 {
		g.communicate()
		return
	}
	switch k := g.IntN(26); {
	case k < 8 || g.depth >= 3:
		g.assign()
	case k < 11:
		g.branch()
	case k < 14:
		g.loop()
	case k == 14:
		g.line("%s = mod(%s * 0.5d0 + %s, 1000d0)", g.double(), g.double(), g.one(g.double(), g.local(1)))
	case k < 17:
		g.pointer()
	case k < 21:
		g.call()
	case k == 21:
		g.line("write (text, '(i5,a,i5)') %s, ' ', %s\nread (text, '(i5,1x,i5)') l1, r", g.local(1), g.local(1))
	case k == 22:
		g.line("%s = %s", g.one("s", "sp", "s0", "local", "nodes("+g.index(3)+")"), g.one("s1", "local", "nodes(2)"))
	case k == 23:
		g.line("%s = iand(%s, 4095)", g.target(), g.one("sum("+g.array()+")", "maxval("+g.array()+")",
			"minval("+g.array()+")", "count("+g.array()+" > 3)", "dot_product("+g.array()+", ca)"))
	case k == 24 && g.IntN(3) == 0:
		g.line("deallocate (other)\nallocate (other(0:15))\nother = %s", g.local(1))
	case k == 24:
		g.line("text = 'abcd'\ntext(2:2) = char(97 + iand(%s, 7))\n"+
			"if (text > 'ac') %s = index(text, 'c') + len_trim(text)",
			g.local(1), g.target())
	default:
		g.line("%s = %s", g.one("a0", "a1", "heap", "ca", "d0", "eb", "local%v"), g.one("0", "1", "4"))
	}
}

func (g *fortran) pointer() {
	where := g.one("a0", "a1", "a2", "s0%v", "heap", "ca", "nodes("+g.index(3)+")%v")
	switch g.IntN(4) {
	case 0:
		g.line("sp => %s", g.one("s0", "s1", "nodes("+g.index(3)+")"))
	case 1:
		g.line("%s(0:) => %s", g.one("sp%p", "local%p", "s0%p", "s1%p", "nodes("+g.index(3)+")%p"), where)
	case 2:
		g.line("%s => %s", g.one("p", "gp"), g.one("sp%p", "gp", "p"))
	default:
		g.line("%s(0:) => %s", g.one("p", "gp"), g.one(where, g.section("a0", "a1", "a2", "heap")))
	}
}

func (g *fortran) call() {
	where, s := g.one("a0", "a1", "gp", "heap", "p", "s0%v", "ca", "a"), g.one("s", "sp", "s0", "s1", "nodes(1)")
	switch k := g.IntN(8); {
	case k == 0:
		g.line("call deep(iand(%s, 7), %s, m)", g.local(1), where)
	case k == 1 && g.inMain:
		g.line("call mix(iand(%s, 63), m)", g.local(1))
	case k == 2 && g.inMain:
		g.line("call put(iand(%s, 63))\nm = l1", g.local(1))
	case k == 3 && g.inMain:
		g.line("call inner(iand(%s, 7))\nm = l0", g.local(1))
	case k < 6 && g.uniform && g.steps > 0 && g.depth < 2:
		g.line("call f%d(iand(%s, 7), %s, %s, m)", g.IntN(g.steps), g.common(1), where, s)
	case g.helpers > 0:
		g.line("call g%d(iand(%s, 63), %s, %s, m)", g.IntN(g.helpers), g.local(1), where, s)
	default:
		return
	}
	g.line("%s = m", g.target())
}

// decide writes that a value of all ranks, which comes from a message, decides what they communicate and how often.
func (g *fortran) decide() {
	i, w := fmt.Sprint("i", g.depth+1), fmt.Sprint("w", g.depth+1)
	g.depth++
	g.line("counts(iand(%s, 3)) = %s\nm = 1\n"+
		"call mpi_allreduce(counts(1), m, 1, mpi_integer, %s, mpi_comm_world, ierr)\n"+
		"%s = iand(m, 255)\n"+
		"do %s = 1, iand(ishft(%s, -1), 3)", g.local(1), g.local(2), g.one("mpi_sum", "mpi_max"), w, i, w)
	g.communicate()
	g.line("if (%s == %s) %s = %s\nif (mod(%s + %s, 3) == 2) exit\nend do\nif (mod(%s, 3) == 1) then",
		g.element(), g.local(1), g.target(), i, w, i, w)
	g.communicate()
	g.line("else")
	g.exchange(fmt.Sprintf("iand(%s, 3)", g.element()), fmt.Sprintf("20000 + iand(%s, 31)", w))
	g.line("end if")
	g.depth--
}

// exchange writes that each rank sends to the next.
func (g *fortran) exchange(length, tag string) {
	g.line("call mpi_sendrecv(send, %s, mpi_integer, mod(rank + 1, ranks), %s, &\n"+
		"receive, 8, mpi_integer, mod(rank + ranks - 1, ranks), %s, mpi_comm_world, status, ierr)", length, tag, tag)
}

// buffer returns a buffer of at least 8 elements, and its type.
func (g *fortran) buffer() (name, datatype string) {
	if g.IntN(4) == 0 {
		return g.one("d0", "d1", "cd"), "mpi_double_precision"
	}
	return g.one("a0", "a1", "a2", "s0%v", "s%v", "p", "gp", "heap", "ca", "eb", "nodes(2)%v", "boxes(1)%list",
		"a0(0:15:2)", "auto"), "mpi_integer"
}

// partners writes the ranks to send to and to receive from into the variables to and from.
func (g *fortran) partners() {
	switch g.IntN(4) {
	case 0:
		g.line("to = rank + 1\nif (to == ranks) to = mpi_proc_null\nfrom = rank - 1\n" +
			"if (from < 0) from = mpi_proc_null")
	case 1:
		g.line("to = ieor(rank, 1)\nif (to >= ranks) to = mpi_proc_null\nfrom = to")
	case 2:
		k := g.common(1)
		g.line("to = mod(rank + %s, ranks)\nfrom = mod(rank + ranks - mod(%s, ranks), ranks)", k, k)
	default:
		g.line("to = mod(rank + 1, ranks)\nfrom = mod(rank + ranks - 1, ranks)")
	}
}

// communicate writes a communication of all ranks.
func (g *fortran) communicate() {
	g.sites++
	buffer, datatype := g.buffer()
	tag := fmt.Sprint(8 * g.sites)
	if g.IntN(3) == 0 {
		tag = fmt.Sprintf("%d + iand(%s, 3)", 8*g.sites, g.common(1))
	}
	n := fmt.Sprintf("iand(%s, 7)", g.one(g.local(1), g.common(1), "l0", g.element()))
	same := fmt.Sprintf("iand(%s, 7)", g.common(1))
	g.line("at = %s", n)
	g.partners()
	switch g.IntN(20) {
	case 0, 1:
		g.line("call mpi_send(%s, at, %s, to, %s, mpi_comm_world, ierr)", buffer, datatype, tag)
		g.line("call mpi_recv(%s, 8, %s, from, %s, mpi_comm_world, status, ierr)", buffer, datatype, tag)
	case 2, 3:
		g.line("send(0:7) = %s\n"+
			"call mpi_irecv(receive, 8, mpi_integer, from, %s, mpi_comm_world, requests(1), ierr)",
			g.array(), tag)
		g.line("call mpi_isend(send, at, mpi_integer, to, %s, mpi_comm_world, requests(2), ierr)", tag)
		g.line("%s = %s", g.target(), g.local(1))
		g.line("%s\n%s = receive(0:7)", g.one("call mpi_waitall(2, requests, statuses, ierr)",
			"call mpi_wait(requests(2), status, ierr)\ncall mpi_wait(requests(1), status, ierr)",
			"do at = 1, 2\ncall mpi_wait(requests(at), mpi_status_ignore, ierr)\nend do"), g.array())
	case 4:
		g.exchange("at", tag)
		g.line("%s = receive(%d)", g.target(), g.IntN(8))
	case 5:
		g.line("call mpi_sendrecv_replace(%s, %s, %s, to, %s, from, %s, mpi_comm_world, status, ierr)", buffer, same,
			datatype, tag, tag)
		g.line("%s = abs(status(mpi_tag)) + abs(status(mpi_source))", g.target())
	case 6: // a length before what has it
		g.line("m = 0\ncall mpi_send(at, 1, mpi_integer, to, %s, mpi_comm_world, ierr)\n"+
			"call mpi_recv(m, 1, mpi_integer, from, %s, mpi_comm_world, status, ierr)", tag, tag)
		g.line("call mpi_send(%s, at, %s, to, 7, mpi_comm_world, ierr)\n"+
			"call mpi_recv(%s, m, %s, from, 7, mpi_comm_world, status, ierr)\n%s = m", buffer, datatype,
			map[string]string{"mpi_integer": "receive", "mpi_double_precision": "d1"}[datatype], datatype, g.target())
	case 7: // the first rank asks all others
		g.line("if (rank == 0) then\ndo m = 1, ranks - 1\ncall mpi_send(%s, at, %s, m, %s, mpi_comm_world, ierr)\n"+
			"call mpi_recv(receive, 8, mpi_integer, m, 3, mpi_comm_world, status, ierr)\n%s = receive(m)\n"+
			"end do\nelse",
			buffer, datatype, tag, g.target())
		g.line("call mpi_recv(%s, 8, %s, 0, %s, mpi_comm_world, status, ierr)\n"+
			"call mpi_send(%s, at, mpi_integer, 0, 3, mpi_comm_world, ierr)\nend if", buffer, datatype, tag,
			g.one("a0", "ca", "heap"))
	case 8:
		g.line("call mpi_bcast(%s, %s, %s, mod(%s, ranks), mpi_comm_world, ierr)", buffer, same, datatype, g.common(1))
	case 9:
		g.line("%s", g.one("call mpi_bcast(u0, 1, mpi_integer, 0, mpi_comm_world, ierr)",
			"u1 = 0\nif (rank == 0) u1 = l0\ncall mpi_bcast(u1, 1, mpi_integer, 0, mpi_comm_world, ierr)",
			"call mpi_allreduce(l0, gu, 1, mpi_integer, mpi_max, mpi_comm_world, ierr)"))
	case 10, 11:
		g.line("at = %s\ncall mpi_allreduce(at, m, 1, mpi_integer, %s, mpi_comm_world, ierr)\n%s = iand(m, 4095)",
			g.local(2), g.one("mpi_sum", "mpi_max"), g.one("u0", "u1", "gu", "l0", "r"))
	case 12:
		if datatype == "mpi_integer" {
			g.line("call mpi_reduce(%s, receive, %s, mpi_integer, mpi_max, mod(%s, ranks), mpi_comm_world, ierr)\n"+
				"%s = receive(0)", buffer, same, g.common(1), g.target())
		} else {
			g.line("call mpi_allreduce(mpi_in_place, %s, %s, mpi_double_precision, mpi_max, mpi_comm_world, ierr)",
				buffer, same)
		}
	case 13:
		g.line("at = %s\ncall mpi_allgather(at, 1, mpi_integer, receive, 1, mpi_integer, mpi_comm_world, ierr)\n"+
			"do at = 0, ranks - 1\n%s(at) = receive(at)\nend do", g.element(), g.one("a0", "sp%p", "gp", "ca"))
	case 14: // lengths from each to each
		g.line("do at = 0, ranks - 1\ncounts(at) = mod(%s + at, 4)\nend do\n"+
			"call mpi_alltoall(counts, 1, mpi_integer, "+
			"counts2, 1, mpi_integer, mpi_comm_world, ierr)\noffsets = 0\noffsets2 = 0\ndo at = 1, ranks - 1\n"+
			"offsets(at) = offsets(at - 1) + counts(at - 1)\n"+
			"offsets2(at) = offsets2(at - 1) + counts2(at - 1)\nend do\n"+
			"send(0:15) = %s\n"+
			"call mpi_alltoallv(send, counts, offsets, mpi_integer, receive, counts2, offsets2, mpi_integer, "+
			"mpi_comm_world, ierr)\n%s = receive(1)", g.local(1), g.local(1), g.target())
	case 15:
		g.line("call mpi_gather(%s, 2, mpi_integer, receive, 2, mpi_integer, 0, mpi_comm_world, ierr)",
			g.one("a0", "ca", "heap"))
		g.line("call mpi_scatter(receive, 1, mpi_integer, %s, 1, mpi_integer, 0, mpi_comm_world, ierr)",
			g.one("a1", "cn", "s0%v"))
	case 16:
		g.line("call mpi_comm_split(mpi_comm_world, iand(%s, 1), 0, handle, ierr)\n"+
			"call mpi_comm_size(handle, m, ierr)\n"+
			"call mpi_allreduce(a1, receive, m, mpi_integer, mpi_max, handle, ierr)\n%s = receive(0)\n"+
			"call mpi_comm_free(handle, ierr)", g.local(1), g.target())
	case 17:
		g.line("call mpi_type_vector(1 + iand(%s, 3), 1, 2, mpi_integer, handle, ierr)\n"+
			"call mpi_type_commit(handle, ierr)\n"+
			"send(0:15) = a0\n"+
			"call mpi_sendrecv(send, 1, handle, to, 5, receive, 1, handle, from, 5, mpi_comm_world, status, "+
			"ierr)\ncall mpi_type_free(handle, ierr)\n%s = receive(2)", g.common(1), g.target())
	case 18:
		g.line("%s", g.one("call mpi_barrier(mpi_comm_world, ierr)",
			fmt.Sprintf("if (iand(%s, 7) == 9) call mpi_abort(mpi_comm_world, 1, ierr)", g.local(1)),
			fmt.Sprintf("if (iand(%s, 7) == 9) stop 3", g.local(1)),
			fmt.Sprintf("call mpi_scan(%s, receive, %s, mpi_integer, mpi_max, mpi_comm_world, ierr)\n"+
				"gl = receive(0)",
				g.one("a0", "ca"), same)))
	case 19:
		if g.IntN(3) > 0 {
			g.exchange("at", tag)
			break
		}
		// the sum does not depend on which message comes first
		g.line("if (rank == 0) then\nm = 0\ndo at = 1, ranks - 1\n"+
			"call mpi_recv(receive, 8, mpi_integer, mpi_any_source, %s, "+
			"mpi_comm_world, status, ierr)\nm = iand(m + receive(1) + status(mpi_source), 4095)\nend do\n"+
			"receive = 0\nr = m\n"+
			"else\ncall mpi_send(%s, 2, mpi_integer, 0, %s, mpi_comm_world, ierr)\nend if\n"+
			"call mpi_bcast(send, iand(r, 7), mpi_integer, 0, mpi_comm_self, ierr)\n"+
			"call mpi_barrier(mpi_comm_world, ierr)",
			tag, g.one("a0", "ca", "heap"), tag)
	}
}

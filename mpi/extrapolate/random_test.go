package extrapolate_test

import (
	"flag"
	"math/bits"
	"slices"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// TestRandom draws programs whose numbers and conditions are expressions of the rank, its place, the number
// of ranks and iterations, of which some are none that extrapolate has: what is not refused is what the
// program calls.
//
// Nothing drawn changes beyond what the traces show: a program that does something else from 100 ranks on is
// like others on 4 to 64. So is one that divides what has a remainder on the number of ranks that is made, and on
// none of the traces: it is left out.
//
// Each draw takes long. Without flags it draws the same few programs each time; -rapid.seed and -rapid.checks
// draw others.
func TestRandom(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	drawFew(t, "20")
	var drawn outcome
	rapid.Check(t, drawn.test)
	t.Logf("%d programs drawn, %d extrapolated, %d refused", drawn.programs, drawn.accepted,
		drawn.programs-drawn.accepted)
}

// drawFew has so many programs drawn, always the same, unless flags say it.
func drawFew(t *testing.T, checks string) {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": checks} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
		}
	}
}

// An outcome counts what became of programs.
type outcome struct{ programs, accepted int }

func (o *outcome) test(t *rapid.T) {
	numbers := rapid.SampledFrom(runs).Draw(t, "numbers")
	place := drawGrid(t, numbers)
	d := &drawing{}
	body, sites := d.body(t, 0), rapid.Bool().Draw(t, "sites")
	program := func(p *process) {
		place(p)
		if sites {
			p.site = 1
		}
		body(p, 0, 0)
		p.site = min(p.site, 1)
	}
	last := len(numbers) - 1
	var traces []*trace.Trace
	for _, n := range numbers[:last] {
		traces = append(traces, run(t, n, program))
	}
	shown := d.remainder
	want := run(t, numbers[last], program)
	if d.remainder && !shown {
		return
	}
	got, r, err := extrapolated(t, traces, numbers[last])
	o.programs++
	if err != nil {
		return
	}
	o.accepted++
	if diff := difference(t, got, want); diff != "" {
		t.Fatal(diff, r.Grid, r.Fits, d.text)
	}
}

// runs has the numbers of ranks of traces; the last is extrapolated from the others.
var runs = [][]int{
	{4, 25, 49}, {4, 64, 16}, {8, 64, 27}, {4, 64, 36}, {2, 16, 64}, {4, 16, 64},
	{9, 16, 25, 36}, {4, 16, 64, 9}, {2, 4, 16, 8}, {8, 16, 64, 32}, {4, 8, 32, 64}, {2, 4, 16, 64},
	{8, 16, 32, 64}, {4, 16, 36, 49},
	{4, 8, 16, 32, 64}, {4, 9, 16, 25, 36}, {4, 8, 32, 64, 16}, {4, 16, 36, 64, 25}, {6, 12, 20, 24, 48},
	{2, 6, 12, 36, 24},
}

// drawGrid returns what puts a process in a grid: as programs do, MPI_Dims_create, and command lines.
func drawGrid(t *rapid.T, numbers []int) func(p *process) {
	by := rapid.IntRange(0, 5).Draw(t, "grid")
	fixed := rapid.IntRange(2, 4).Draw(t, "columns")
	if by == 2 && slices.ContainsFunc(numbers, func(n int) bool { return n%fixed > 0 }) {
		by = 0
	}
	if slices.ContainsFunc(numbers, func(n int) bool { return n&(n-1) != 0 && square(n)*square(n) != n }) {
		by %= 4
	}
	return func(p *process) {
		p.grid()
		switch by {
		case 4: // of powers of two, or squares
			p.rows, p.columns = p.columns, p.rows
		case 0, 1: // most square
			p.rows = 1
			for r := 1; r*r <= p.n; r++ {
				if p.n%r == 0 {
					p.rows = r
				}
			}
			p.columns = p.n / p.rows
			if by == 1 {
				p.rows, p.columns = p.columns, p.rows
			}
		case 2: // that the command line says
			p.columns = fixed
			p.rows = p.n / p.columns
		case 3: // three dimensions, of which the row is one
			e := balanced(p.n)
			p.columns, p.rows = e[0], e[1]
			p.row, p.column = p.rank/p.columns%p.rows, p.rank%p.columns
			p.call("MPI_Cart_create", "cgc", cst.Handle(0), ints(3, func(i int) int { return e[i] }), cst.Handle(2))
			return
		}
		p.row, p.column = p.rank/p.columns, p.rank%p.columns
	}
}

// balanced returns the three factors of n that MPI_Dims_create gives.
func balanced(n int) (best [3]int) {
	best[0] = n + 1
	for a := 1; a <= n; a++ {
		for b := 1; b <= a && n%a == 0; b++ {
			if e := [3]int{a, b, n / a / b}; n/a%b == 0 && e[2] <= b && slices.Compare(e[:], best[:]) < 0 {
				best = e
			}
		}
	}
	return best
}

// A drawing draws a program.
type drawing struct {
	text      []string // what was drawn
	sites     int64
	remainder bool // something that was divided has one
}

// share divides what programs divide.
func (d *drawing) share(whole, by int) int {
	d.remainder = d.remainder || whole%by != 0
	return whole / by
}

// A number of a program, of a rank, of the number of ranks, and of the iterations around.
type number func(p *process, i, j int) int

// wholes are what is divided: without a remainder by all extents and numbers of ranks but 49, and with one by
// some.
var wholes = []int{64 * 9 * 25, 5040, 4096, 1000}

func log2(n int) int { return bits.Len(uint(n)) - 1 }

func (d *drawing) one(t *rapid.T, label string, list []string) int {
	at := rapid.IntRange(0, len(list)-1).Draw(t, label)
	d.text = append(d.text, label+" "+list[at])
	return at
}

var numbersDrawn = []string{
	"a", "a", "a", "a",
	"a*n", "a*c/n", "a*rank+b", "a*columns+b", "a*rows+b", "a*i+b", "a*(i+1)*n", "a*row+b*column", "a*n+b",
	"a*n+b*rank", "a*rank%(b+2)",
	"a*n/(b+1)", "a*c/columns", "a*c/rows+b", "a*n*n", "a*log2(n)+b", "block of 1000a", "block along columns",
	"block along rows", "a*c/n/n",
	"a*c/n+b", "halo", "a*(n-rank)", "a<<i", "a*j+b", "a*max(columns,rows)", "a*sqrt(n)", "a*trailing zeros",
	"share of 2D", "a+rank/2", "a*(columns+rows)", "a/n",
}

func block(all, parts, at int) int {
	if at < all%parts {
		return all/parts + 1
	}
	return all / parts
}

func (d *drawing) number(t *rapid.T, label string) number {
	a, b := rapid.IntRange(1, 40).Draw(t, label+" a"), rapid.IntRange(0, 9).Draw(t, label+" b")
	what := numbersDrawn[d.one(t, label, numbersDrawn)]
	whole := rapid.SampledFrom(wholes).Draw(t, label+" c")
	return func(p *process, i, j int) int {
		switch what {
		case "a*n":
			return a * p.n
		case "a*c/n":
			return d.share(a*whole, p.n)
		case "a*rank+b":
			return a*p.rank + b
		case "a*columns+b":
			return a*p.columns + b
		case "a*rows+b":
			return a*p.rows + b
		case "a*i+b":
			return a*i + b
		case "a*j+b":
			return a*j + b
		case "a*(i+1)*n":
			return a * (i + 1) * p.n
		case "a*row+b*column":
			return a*p.row + b*p.column
		case "a*n+b":
			return a*p.n + b
		case "a*n+b*rank":
			return a*p.n + b*p.rank
		case "a*rank%(b+2)":
			return a * p.rank % (b + 2)
		case "a*n/(b+1)":
			return a * p.n / (b + 1)
		case "a*c/columns":
			return d.share(a*whole, p.columns)
		case "a*c/rows+b":
			return d.share(a*whole, p.rows) + b
		case "a*n*n":
			return a * p.n * p.n
		case "a*log2(n)+b":
			return a*log2(p.n) + b
		case "block of 1000a":
			return block(1000*a, p.n, p.rank)
		case "block along columns":
			return block(100*a, p.columns, p.column)
		case "block along rows":
			return block(100*a, p.rows, p.row)
		case "a*c/n/n":
			return d.share(d.share(a*whole*whole, p.n), p.n)
		case "a*c/n+b":
			return d.share(a*whole, p.n) + b
		case "halo":
			return d.share(50400*a, p.columns) * d.share(50400, p.rows)
		case "a*(n-rank)":
			return a * (p.n - p.rank)
		case "a<<i":
			return a << i
		case "a*max(columns,rows)":
			return a * max(p.columns, p.rows)
		case "a*sqrt(n)":
			return a * square(p.n)
		case "a*trailing zeros":
			return a * bits.TrailingZeros(uint(p.rank|1<<20))
		case "share of 2D":
			return a * d.share(whole, p.columns) * d.share(whole, p.rows)
		case "a+rank/2":
			return a + p.rank/2
		case "a*(columns+rows)":
			return a * (p.columns + p.rows)
		case "a/n":
			return a / p.n
		}
		return a
	}
}

var peersDrawn = []string{
	"0", "(rank+a)%n", "right", "up", "diagonal", "rank^a", "(rank+i+1)%n", "n-1-rank", "n-1",
	"rank+a or none", "a*rank%n", "rank/2", "transposed",
	"rank^1<<i", "row's first", "column's first", "(rank+n/2)%n", "left or none", "below or none",
	"parent in a binomial tree", "i", "i in the row", "i in the column", "n/2",
	"rank^n/2", "2*rank+1 or none", "(rank+columns)%n", "rank+-1 by parity", "at a",
}

func (d *drawing) peer(t *rapid.T, label string) number {
	a := rapid.IntRange(1, 3).Draw(t, label+" a")
	what := peersDrawn[d.one(t, label, peersDrawn)]
	return func(p *process, i, j int) int {
		some := func(inside bool, peer int) int {
			if inside {
				return peer
			}
			return -1
		}
		switch what {
		case "(rank+a)%n":
			return (p.rank + a) % p.n
		case "right":
			return p.near(1, 0)
		case "up":
			return p.near(0, -1)
		case "diagonal":
			return p.near(1, 1)
		case "rank^a":
			return p.rank ^ a
		case "(rank+i+1)%n":
			return (p.rank + i + 1) % p.n
		case "n-1-rank":
			return p.n - 1 - p.rank
		case "n-1":
			return p.n - 1
		case "rank+a or none":
			return some(p.rank+a < p.n, p.rank+a)
		case "a*rank%n":
			return a * p.rank % p.n
		case "rank/2":
			return p.rank / 2
		case "transposed":
			return p.column*p.columns + p.row
		case "rank^1<<i":
			return some(p.rank^1<<i < p.n, p.rank^1<<i)
		case "row's first":
			return p.rank - p.column
		case "column's first":
			return p.column
		case "(rank+n/2)%n":
			return (p.rank + p.n/2) % p.n
		case "left or none":
			return some(p.column > 0, p.rank-1)
		case "below or none":
			return some(p.row < p.rows-1, p.rank+p.columns)
		case "parent in a binomial tree":
			return p.rank & (p.rank - 1)
		case "i":
			return i
		case "i in the row":
			return p.row*p.columns + i%p.columns
		case "i in the column":
			return i%p.rows*p.columns + p.column
		case "n/2":
			return p.n / 2
		case "rank^n/2":
			return p.rank ^ p.n/2
		case "2*rank+1 or none":
			return some(2*p.rank+1 < p.n, 2*p.rank+1)
		case "(rank+columns)%n":
			return (p.rank + p.columns) % p.n
		case "rank+-1 by parity":
			return p.rank + 1 - 2*(p.rank%2)
		case "at a":
			return a
		}
		return 0
	}
}

var tagsDrawn = []string{"a", "a", "a", "a", "a", "a", "i", "rank", "row", "n-1", "10*i+j"}

func (d *drawing) tag(t *rapid.T) number {
	a := rapid.IntRange(0, 2).Draw(t, "tag a")
	what := tagsDrawn[d.one(t, "tag", tagsDrawn)]
	return func(p *process, i, j int) int {
		switch what {
		case "i":
			return i
		case "rank":
			return p.rank
		case "row":
			return p.row
		case "n-1":
			return p.n - 1
		case "10*i+j":
			return 10*i + j
		}
		return a
	}
}

var tripsDrawn = []string{"a", "a", "n-1", "log2(n)", "columns", "rows", "columns-1", "log2(columns)", "rank",
	"n-1-rank", "column", "rows-1-row", "trailing zeros", "a if rank==0", "n/2", "n/3", "i+1", "log2(n)+1", "a*columns"}

func (d *drawing) trips(t *rapid.T) number {
	a := rapid.IntRange(1, 9).Draw(t, "trips a")
	what := tripsDrawn[d.one(t, "trips", tripsDrawn)]
	return func(p *process, i, j int) int {
		switch what {
		case "n-1":
			return p.n - 1
		case "log2(n)":
			return log2(p.n)
		case "columns":
			return p.columns
		case "rows":
			return p.rows
		case "columns-1":
			return p.columns - 1
		case "log2(columns)":
			return log2(p.columns)
		case "rank":
			return p.rank
		case "n-1-rank":
			return p.n - 1 - p.rank
		case "column":
			return p.column
		case "rows-1-row":
			return p.rows - 1 - p.row
		case "trailing zeros":
			return bits.TrailingZeros(uint(p.rank | p.n))
		case "a if rank==0":
			if p.rank > 0 {
				return 0
			}
		case "n/2":
			return p.n / 2
		case "n/3":
			return p.n / 3
		case "i+1":
			return i + 1
		case "log2(n)+1":
			return log2(p.n) + 1
		case "a*columns":
			return a * p.columns
		}
		return a
	}
}

var conditions = []string{"rank==0", "column>0", "row<rows-1", "rank even", "rank>3", "rank==n/2",
	"column==row", "rank<n/2", "rank is last", "column even", "row>1", "rank%3==0", "corner", "edge",
	"column==a", "row==0 and column>0"}

func (d *drawing) condition(t *rapid.T) func(p *process) bool {
	a := rapid.IntRange(0, 2).Draw(t, "where a")
	what := conditions[d.one(t, "where", conditions)]
	return func(p *process) bool {
		switch what {
		case "rank==0":
			return p.rank == 0
		case "column>0":
			return p.column > 0
		case "row<rows-1":
			return p.row < p.rows-1
		case "rank even":
			return p.rank%2 == 0
		case "rank>3":
			return p.rank > 3
		case "rank==n/2":
			return p.rank == p.n/2
		case "column==row":
			return p.column == p.row
		case "rank<n/2":
			return p.rank < p.n/2
		case "rank is last":
			return p.rank == p.n-1
		case "column even":
			return p.column%2 == 0
		case "row>1":
			return p.row > 1
		case "rank%3==0":
			return p.rank%3 == 0
		case "corner":
			return (p.row == 0 || p.row == p.rows-1) && (p.column == 0 || p.column == p.columns-1)
		case "edge":
			return p.row == 0 || p.row == p.rows-1 || p.column == 0 || p.column == p.columns-1
		case "column==a":
			return p.column == a
		}
		return p.row == 0 && p.column > 0
	}
}

var steps = []string{"send", "send", "send", "send", "loop", "loop", "if", "halo exchange",
	"row communicator", "alltoallv", "allreduce"}

func (d *drawing) body(t *rapid.T, depth int) func(p *process, i, j int) {
	var list []func(p *process, i, j int)
	d.text = append(d.text, "{")
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 2, 3}).Draw(t, "steps") {
		step := steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")]
		switch {
		case step == "loop" && depth < 2:
			trips, body := d.trips(t), d.body(t, depth+1)
			list = append(list, func(p *process, i, j int) {
				for k := range trips(p, i, j) {
					body(p, k, i)
				}
			})
		case step == "if" && depth < 2:
			where, body := d.condition(t), d.body(t, depth+1)
			list = append(list, func(p *process, i, j int) {
				if where(p) {
					body(p, i, j)
				}
			})
		case step == "halo exchange":
			d.text = append(d.text, step)
			count, wrapped := d.number(t, "count"), rapid.Bool().Draw(t, "wrapped")
			list = append(list, func(p *process, i, j int) {
				peers := []int{p.near(-1, 0), p.near(1, 0), p.near(0, -1), p.near(0, 1)}
				if !wrapped {
					for k, off := range []bool{p.column == 0, p.column == p.columns-1, p.row == 0, p.row == p.rows-1} {
						if off {
							peers[k] = -1
						}
					}
				}
				for k, peer := range peers {
					p.irecv(count(p, i, j), peer, k^1)
					p.isend(count(p, i, j), peer, k)
				}
				p.waitall()
			})
		case step == "row communicator":
			d.text = append(d.text, step)
			count, root := d.number(t, "count"), rapid.IntRange(0, 1).Draw(t, "root")
			list = append(list, func(p *process, i, j int) {
				p.recorder.SetGroup("comm", 1, merge.Group{Rank: p.column, Size: p.columns})
				p.call("MPI_Bcast", "npc", cst.Int(int64(count(p, i, j))),
					cst.Rank(int64([]int{0, p.columns - 1}[root])), cst.Handle(1))
			})
		case step == "alltoallv":
			d.text = append(d.text, step)
			count := d.number(t, "counts")
			list = append(list, func(p *process, i, j int) {
				p.alltoallv(func(peer int) int { return count(p, peer, i) })
			})
		case step == "allreduce":
			d.text = append(d.text, step)
			count := d.number(t, "count")
			list = append(list, func(p *process, i, j int) { p.allreduce(count(p, i, j)) })
		default:
			count, peer, tag := d.number(t, "count"), d.peer(t, "peer"), d.tag(t)
			list = append(list, func(p *process, i, j int) { p.send(count(p, i, j), peer(p, i, j), tag(p, i, j)) })
		}
	}
	d.text = append(d.text, "}")
	first := d.sites + 2
	d.sites += int64(len(list))
	return func(p *process, i, j int) {
		for k, step := range list {
			if p.site > 0 {
				p.site = first + int64(k)
			}
			step(p, i, j)
		}
	}
}

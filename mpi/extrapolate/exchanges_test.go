package extrapolate_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/trace"
)

// at says where in the program the next calls are made.
func (p *process) at(site int64) *process {
	p.site = site
	return p
}

// TestNumbered takes strings apart, and makes them of their numbers again.
func TestNumbered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`([a-z./]|0?0?[1-9][0-9]?|0){0,8}`).Draw(t, "text")
		if again, ok := extrapolate.Numbered(s); !ok || again != s {
			t.Fatalf("%q is made %q, %v", s, again, ok)
		}
	})
	if _, ok := extrapolate.Numbered("run1234567890123456"); ok {
		t.Error("a number of 16 digits is taken for one")
	}
}

// oddEven sorts by exchanges with neighbours: in turn on one side and on the other.
func oddEven(p *process) {
	defer p.at(0)
	for phase := range p.n {
		peer := p.rank - 1
		if (phase+p.rank)%2 == 0 {
			peer = p.rank + 1
		}
		if peer >= 0 && peer < p.n {
			p.at(1).send(64, peer, phase)
			p.at(2).recv(64, peer, phase)
		}
	}
}

// doubling sums by recursive doubling, after ranks that are more than a power of two have given theirs to others.
func doubling(p *process) {
	defer p.at(0)
	power := 1 << log2(p.n)
	rest, number := p.n-power, p.rank
	switch {
	case p.rank < 2*rest && p.rank%2 == 0:
		p.at(1).send(100, p.rank+1, 0)
		p.at(2).recv(100, p.rank+1, 0)
		return
	case p.rank < 2*rest:
		p.at(3).recv(100, p.rank-1, 0)
		number = p.rank / 2
	default:
		number -= rest
	}
	for bit := 1; bit < power; bit *= 2 {
		peer := number ^ bit
		if peer < rest {
			peer = 2*peer + 1
		} else {
			peer += rest
		}
		p.at(4).send(100, peer, 0)
		p.at(5).recv(100, peer, 0)
	}
	if p.rank < 2*rest {
		p.at(6).send(100, p.rank-1, 0)
	}
}

// scan sums what ranks before have, over distances that double: towards both ends, ranks have a partner on one side.
func scan(p *process) {
	defer p.at(0)
	for by := 1; by < p.n; by *= 2 {
		if p.rank+by < p.n {
			p.at(1).isend(3, p.rank+by, by)
		}
		if p.rank >= by {
			p.at(2).recv(3, p.rank-by, by)
		}
		if p.rank+by < p.n {
			p.at(3).waitall()
		}
	}
}

// fromOne broadcasts along a binomial tree from rank 1.
func fromOne(p *process) {
	defer p.at(0)
	const root = 1
	v, bit := (p.rank-root+p.n)%p.n, 1
	for ; bit < p.n; bit *= 2 {
		if v&bit != 0 {
			p.at(1).recv(50, (v-bit+root)%p.n, 7)
			break
		}
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if v+bit < p.n {
			p.at(2).send(50, (v+bit+root)%p.n, 7)
		}
	}
}

// triangle has rows of a triangle for ranks.
func triangle(p *process) {
	p.alltoallv(func(peer int) int { return 4 * (peer + 1) })
	p.allreduce(2 * p.n * (p.n + 1))
}

// names has a file for each rank.
func names(p *process) {
	p.call("MPI_File_open", "fc", cst.String(fmt.Sprintf("out/step1.%03d.dat", p.rank)), cst.Handle(1))
}

// offsets writes parts of steps to one file.
func offsets(p *process) {
	for i := range 5 {
		p.call("MPI_File_write_at_all", "ad", cst.Int(int64(8*(i*3600+p.rank*(3600/p.n)))), cst.Int(int64(3600/p.n)))
	}
}

// chunks has 240 tasks for all ranks but one.
func chunks(p *process) {
	defer p.at(0)
	tasks := func(worker int) int { return block(240, p.n-1, worker-1) }
	if p.rank > 0 {
		p.at(1).recv(10*tasks(p.rank), 0, 1)
		return
	}
	for worker := 1; worker < p.n; worker++ {
		p.at(2).send(10*tasks(worker), worker, 1)
	}
}

// dissemination sends to ranks 1, 2, 4 … away.
func dissemination(p *process) {
	defer p.at(0)
	for bit := 1; bit < p.n; bit *= 2 {
		p.at(1).send(0, (p.rank+bit)%p.n, 3)
		p.at(2).recv(0, (p.rank-bit+p.n)%p.n, 3)
	}
}

// remainders sends parts of 1,000 numbers to rank 0: of which some are larger on some numbers of ranks only.
func remainders(p *process) {
	defer p.at(0)
	for peer := 1; peer < p.n && p.rank == 0; peer++ {
		p.at(1).recv(block(1000, p.n, peer), peer, 9)
	}
	if p.rank > 0 {
		p.at(2).send(block(1000, p.n, p.rank), 0, 9)
	}
}

// box has a grid of three dimensions of MPI_Dims_create, with the last as that which varies fastest.
func box(p *process) {
	e := balanced(p.n)
	slices.Reverse(e[:])
	p.call("MPI_Cart_create", "cgc", cst.Handle(0), ints(3, func(i int) int { return e[2-i] }), cst.Handle(2))
	stride := 1
	for _, extent := range e {
		x := p.rank / stride % extent
		p.send(100, p.rank+((x+1)%extent-x)*stride, 0)
		p.recv(100, p.rank+((x+extent-1)%extent-x)*stride, 0)
		stride *= extent
	}
}

// transposition transposes a matrix whose 100 rows and columns are divided with a remainder.
func transposition(p *process) {
	p.alltoallv(func(peer int) int { return block(100, p.n, p.rank) * block(100, p.n, peer) })
}

// distances sends more to ranks that are further away.
func distances(p *process) {
	p.alltoallv(func(peer int) int { return max(peer-p.rank, p.rank-peer) + 1 })
}

// bruck exchanges all with all in steps: in each, what has a bit in its number.
func bruck(p *process) {
	defer p.at(0)
	for bit := 1; bit < p.n; bit *= 2 {
		some := 0
		for i := range p.n {
			some += min(1, i&bit)
		}
		p.at(1).send(8*some, (p.rank+bit)%p.n, 1)
		p.at(2).recv(8*some, (p.rank-bit+p.n)%p.n, 1)
	}
}

// checkpoint writes parts of a file after a header, and reads that of the next rank.
func checkpoint(p *process) {
	part := 7200 / p.n * 8
	for step := range 4 {
		p.at(1).call("MPI_File_write_at", "a", cst.Int(int64(64+step*57600+p.rank*part)))
	}
	p.at(2).call("MPI_File_read_at", "a", cst.Int(int64((p.rank+1)%p.n*part)))
	p.at(0)
}

// halves sends from the lower half of the ranks to the other.
func halves(p *process) {
	defer p.at(0)
	for i := range 5 {
		if p.rank < p.n/2 {
			p.at(1).send(30, p.rank+p.n/2, i)
		} else {
			p.at(2).recv(30, p.rank-p.n/2, i)
		}
	}
}

// fan sums in a tree whose ranks have four children.
func fan(p *process) {
	defer p.at(0)
	for child := 4*p.rank + 1; child <= 4*p.rank+4 && child < p.n; child++ {
		p.at(1).recv(9, child, 0)
	}
	if p.rank > 0 {
		p.at(2).send(9, (p.rank-1)/4, 0)
	}
}

// colors has a ring in each communicator of the ranks of one color.
func colors(color, rank, size func(p *process) int) func(p *process) {
	return func(p *process) {
		own, n := rank(p), max(1, size(p))
		p.call("MPI_Comm_split", "xnc", cst.Int(int64(color(p))), cst.Int(int64(p.rank)), cst.Handle(3))
		p.call("MPI_Comm_rank", "pc", cst.Rank(int64(own)), cst.Handle(3))
		p.call("MPI_Comm_size", "nc", cst.Int(int64(n)), cst.Handle(3))
		for range 4 {
			p.call("MPI_Send", "nptc", cst.Int(1), cst.Rank(int64((own+1)%n)), cst.Tag(0), cst.Handle(3))
			p.call("MPI_Recv", "nptc", cst.Int(1), cst.Rank(int64((own+n-1)%n)), cst.Tag(0), cst.Handle(3))
		}
	}
}

// remainderColors has the ranks of one remainder in a communicator, and quotientColors those of one quotient.
func remainderColors(by int) func(p *process) {
	return colors(func(p *process) int { return p.rank % by }, func(p *process) int { return p.rank / by },
		func(p *process) int { return p.n / by })
}

func quotientColors(by int) func(p *process) {
	return colors(func(p *process) int { return p.rank / by }, func(p *process) int { return p.rank % by },
		func(*process) int { return by })
}

// offDiagonal exchanges with the rank at the transposed place, but on the diagonal.
func offDiagonal(p *process) {
	defer p.at(0)
	side := square(p.n)
	if peer := p.rank%side*side + p.rank/side; peer != p.rank {
		p.at(1).send(40, peer, 0)
		p.at(2).recv(40, peer, 0)
	}
	p.at(3).allreduce(1)
}

// line gives what it has to both neighbours in two lines of the program, and its part of 1,000 to rank 0.
func line(p *process) {
	defer p.at(0)
	for range 10 {
		if p.rank > 0 {
			p.at(1).recv(1, p.rank-1, 0)
			p.at(2).send(1, p.rank-1, 0)
		}
		if p.rank < p.n-1 {
			p.at(3).recv(1, p.rank+1, 0)
			p.at(4).send(1, p.rank+1, 0)
		}
	}
	remainders(p)
}

// dealt has 48 rows, which are dealt to all ranks in turn, and sent to rank 0.
func dealt(p *process) {
	defer p.at(0)
	for row := range 48 {
		switch owner := row % p.n; {
		case owner == 0:
		case owner == p.rank:
			p.at(1).send(64, 0, row)
		case p.rank == 0:
			p.at(2).recv(64, owner, row)
		}
	}
}

// strided has columns of a part of a plane: as many numbers apart as it is wide, and two.
func strided(p *process) {
	side := [...]int{4: 2, 8: 2, 16: 4, 32: 4}[p.n]
	p.call("MPI_Cart_create", "cgc", cst.Handle(0), ints(2, func(i int) int { return []int{p.n / side, side}[i] }),
		cst.Handle(2))
	p.call("MPI_Type_vector", "n", cst.Int(int64(240/side+2)))
}

// layers shifts along rows and columns of two squares, in the communicator of each.
func layers(p *process) {
	side := square(p.n / 2)
	own, layer := p.rank%(side*side), p.rank/(side*side)
	row, column := own/side, own%side
	p.call("MPI_Comm_split", "xnc", cst.Int(int64(layer)), cst.Int(int64(own)), cst.Handle(3))
	for range side / 2 {
		for _, peer := range []int{row*side + (column+1)%side, (row+1)%side*side + column} {
			p.call("MPI_Send", "nptc", cst.Int(int64(240/side)), cst.Rank(int64(peer)), cst.Tag(0), cst.Handle(3))
		}
		for _, peer := range []int{row*side + (column+side-1)%side, (row+side-1)%side*side + column} {
			p.call("MPI_Recv", "nptc", cst.Int(int64(240/side)), cst.Rank(int64(peer)), cst.Tag(0), cst.Handle(3))
		}
	}
}

// TestExchanges extrapolates exchanges that programs write by hand.
func TestExchanges(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(p *process)
		numbers []int
	}{
		{"odd-even sort", oddEven, []int{4, 6, 8, 16}},
		{"odd-even sort", oddEven, []int{3, 4, 7, 8, 16}},
		{"recursive doubling", doubling, []int{3, 5, 6, 7, 12}},
		{"recursive doubling", doubling, []int{4, 6, 8, 12, 16}},
		{"binomial tree from rank 1", fromOne, []int{4, 8, 16, 32}},
		{"binomial tree from rank 1", fromOne, []int{3, 5, 6, 8, 12}},
		{"scan", scan, []int{4, 8, 16, 32}},
		{"scan", scan, []int{6, 8, 10, 12}},
		{"scan", scan, []int{4, 6, 7, 10, 12, 16}},
		{"triangle", triangle, []int{3, 4, 6, 8}},
		{"names of files", names, []int{2, 4, 5, 8}},
		{"offsets in a file", offsets, []int{2, 3, 4, 6}},
		{"chunks", chunks, []int{3, 4, 6, 8, 11}},
		{"dissemination", dissemination, []int{3, 4, 6, 8, 12}},
		{"remainders", remainders, []int{3, 4, 6, 8, 12}},
		{"box", box, []int{12, 27, 36, 48}},
		{"transposition", transposition, []int{4, 8, 16, 32}},
		{"transposition", transposition, []int{6, 8, 10, 12}},
		{"distances", distances, []int{3, 4, 6, 8}},
		{"Bruck's exchange", bruck, []int{3, 5, 6, 8, 12}},
		{"checkpoint", checkpoint, []int{4, 8, 16, 32}},
		{"checkpoint", checkpoint, []int{6, 8, 10, 12}},
		{"halves", halves, []int{2, 4, 6, 8}},
		{"tree of four", fan, []int{4, 6, 9, 12}},
		{"color is rank by 2", remainderColors(2), []int{6, 8, 10, 12}},
		{"color is rank by 4", remainderColors(4), []int{4, 8, 16, 32}},
		{"color is a half of rank", quotientColors(2), []int{6, 8, 10, 12}},
		{"color is a quarter of rank", quotientColors(4), []int{4, 8, 16, 32}},
		{"off the diagonal", offDiagonal, []int{4, 9, 16, 25}},
		{"line", line, []int{4, 6, 8, 12}},
		{"layers of squares", layers, []int{8, 32, 72, 128}},
		{"dealt in turn", dealt, []int{6, 8, 10, 12}},
		{"stride of columns", strided, []int{4, 8, 16, 32}},
	} {
		t.Run(fmt.Sprint(tt.name, tt.numbers), func(t *testing.T) {
			t.Parallel()
			var traces []*trace.Trace
			last := len(tt.numbers) - 1
			for _, n := range tt.numbers[:last] {
				traces = append(traces, run(t, n, tt.program))
			}
			got, _, err := extrapolated(t, traces, tt.numbers[last])
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(t, got, run(t, tt.numbers[last], tt.program)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOneException has numbers at very many points, of which one is unlike the others: no rule holds.
func TestOneException(t *testing.T) {
	program := func(exception int) func(p *process) {
		return func(p *process) {
			p.alltoallv(func(peer int) int {
				if p.n > 64 && p.rank == 5 && peer == 8 {
					return exception
				}
				return peer + 1
			})
		}
	}
	for _, exception := range []int{9, 1} {
		traces := []*trace.Trace{run(t, 24, program(exception)), run(t, 40, program(exception)),
			run(t, 85, program(exception))}
		got, _, err := extrapolated(t, traces, 88)
		if exception == 9 && err != nil {
			t.Error(err)
		}
		if err != nil {
			continue
		}
		if diff := difference(t, got, run(t, 88, program(exception))); diff != "" {
			t.Error(exception, diff)
		}
	}
}

// TestOneRank extrapolates from a run on one rank, and communicators of one: no rule divides by none.
func TestOneRank(t *testing.T) {
	for _, program := range []func(p *process){chunksOfOne, remainderColors(4)} {
		var traces []*trace.Trace
		for _, n := range []int{1, 4, 8} {
			traces = append(traces, run(t, n, program))
		}
		if got, _, err := extrapolated(t, traces, 12); err == nil {
			if diff := difference(t, got, run(t, 12, program)); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// chunksOfOne has iterations with parts of what ranks but one divide, also where there are no others.
func chunksOfOne(p *process) {
	for i := range p.n {
		p.send(block(240, max(1, p.n-1), i)+p.rank%3, (p.rank+i)%p.n, 0)
	}
}

// TestNotDetermined has what random programs showed: what was made, and was wrong. It may be refused.
func TestNotDetermined(t *testing.T) {
	fixed := func(n int) int { return n/2 + 2 } // columns and rows, if two columns are an argument
	for _, tt := range []struct {
		name    string
		program func(p *process)
		numbers []int
	}{
		{"rank and half of all", func(p *process) { p.send(1, (p.rank+p.n/2)%p.n, 1) }, []int{9, 16, 25, 36}},
		{"columns and rows of two columns", func(p *process) { p.allreduce(9 * fixed(p.n)) }, []int{8, 16, 32, 64}},
		{"columns and rows of a plane", func(p *process) {
			e := [...]int{2: 3, 6: 5, 12: 7, 36: 12, 24: 10}
			p.allreduce(e[p.n])
		}, []int{2, 6, 12, 36, 24}},
		{"product of parts", func(p *process) {
			side := square(p.n)
			p.allreduce(2 * (1000 / side) * (1000 / side))
		}, []int{4, 16, 64, 36}},
		{"rows like a logarithm", func(p *process) { p.allreduce([...]int{2: 1, 4: 2, 16: 4, 8: 2}[p.n]) },
			[]int{2, 4, 16, 8}},
		{"logarithm like rows", func(p *process) {
			p.allreduce(12*log2(p.n) + 6)
			columns := [...]int{6: 3, 12: 4, 20: 5, 24: 6, 48: 8}[p.n]
			p.send(1, (p.rank+p.n-columns)%p.n, 2)
		}, []int{6, 12, 20, 24, 48}},
		{"root like rows", func(p *process) {
			p.send(1, [...]int{8: 1, 16: 3, 64: 7, 32: 3}[p.n], 0)
		}, []int{8, 16, 64, 32}},
		{"logarithm like a root", func(p *process) { p.allreduce(12*log2(p.n) + 6) }, []int{6, 12, 20, 24, 48}},
		{"line of a logarithm like one of rows", func(p *process) {
			p.allreduce(12*log2(p.n) + 2)
			p.grid()
			p.send(1, p.near(0, -1), 2)
		}, []int{8, 16, 64, 32}},
		{"calls of one run alone", func(p *process) {
			if p.rank > 3 {
				p.at(1).send(1, p.rank-square(p.n), 0)
			}
			p.at(0)
		}, []int{4, 25, 49}},
		{"columns that are four in all traces", func(p *process) {
			p.send(22, p.rank%[...]int{16: 4, 8: 4, 64: 8}[p.n], 0)
		}, []int{8, 16, 64}},
		{"columns that are four or as many as ranks", func(p *process) {
			p.send(22, p.rank%[...]int{2: 2, 16: 4, 64: 8}[p.n], 0)
		}, []int{2, 16, 64}},
		{"even columns", func(p *process) {
			if p.rank%square(p.n)%2 == 0 {
				p.at(1).send(1, 0, 0)
			}
			p.at(0)
		}, []int{4, 16, 36, 64, 25}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var traces []*trace.Trace
			last := len(tt.numbers) - 1
			for _, n := range tt.numbers[:last] {
				traces = append(traces, run(t, n, tt.program))
			}
			got, r, err := extrapolated(t, traces, tt.numbers[last])
			if err != nil {
				t.Log(err)
				return
			}
			if diff := difference(t, got, run(t, tt.numbers[last], tt.program)); diff != "" {
				t.Error(diff, r.Fits)
			}
		})
	}
}

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

// TestExchanges extrapolates exchanges that programs write by hand.
func TestExchanges(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(p *process)
		numbers []int
	}{
		{"odd-even sort", oddEven, []int{4, 6, 8, 16}},
		{"recursive doubling", doubling, []int{3, 5, 6, 7, 12}},
		{"recursive doubling", doubling, []int{4, 6, 8, 12, 16}},
		{"binomial tree from rank 1", fromOne, []int{4, 8, 16, 32}},
		{"binomial tree from rank 1", fromOne, []int{3, 5, 6, 8, 12}},
		{"triangle", triangle, []int{3, 4, 6, 8}},
		{"names of files", names, []int{2, 4, 5, 8}},
		{"offsets in a file", offsets, []int{2, 3, 4, 6}},
		{"chunks", chunks, []int{3, 4, 6, 8, 11}},
		{"dissemination", dissemination, []int{3, 4, 6, 8, 12}},
		{"remainders", remainders, []int{3, 4, 6, 8, 12}},
		{"box", box, []int{12, 27, 36, 48}},
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

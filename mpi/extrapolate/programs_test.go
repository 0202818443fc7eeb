package extrapolate_test

import (
	"math/bits"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A process is a rank of a program that runs.
type process struct {
	recorder tracer.Recorder
	rank, n  int
	requests int64
	fns      map[string]int
	site     int64 // where in the program a call is made, 0 if nothing says it

	columns, rows, column, row int // of a grid
}

func (p *process) call(name string, params string, args ...cst.Value) {
	if p.site > 0 {
		params, args = params+"s", append(args, cst.Handle(p.site))
	}
	fn, ok := p.fns[name]
	if !ok {
		f := cst.Function{Name: name}
		for i, a := range args {
			t := cst.Type{Kind: a.Kind()}
			switch a.Kind() {
			case cst.KindArray:
				t = cst.ArrayOf(cst.Type{Kind: cst.KindInt})
				if params[i] == 'q' {
					t = cst.ArrayOf(cst.HandleOf("request"))
				}
			case cst.KindHandle:
				t = cst.HandleOf(map[byte]string{'c': "comm", 'q': "request", 's': "site"}[params[i]])
			}
			f.Params = append(f.Params,
				cst.Param{Name: map[byte]string{'n': "count", 'p': "peer", 't': "tag", 'c': "comm",
					'q': "request", 'a': "counts", 'd': "displs", 'x': "color", 'g': "dims",
					's': "site", 'f': "filename"}[params[i]], Type: t})
		}
		fn = p.recorder.Declare(f)
		p.fns[name] = fn
	}
	p.recorder.Call(fn, args...)
}

func (p *process) send(count, peer, tag int) {
	p.call("MPI_Send", "nptc", cst.Int(int64(count)), cst.Rank(int64(peer)), cst.Tag(int64(tag)), cst.Handle(0))
}

func (p *process) recv(count, peer, tag int) {
	p.call("MPI_Recv", "nptc", cst.Int(int64(count)), cst.Rank(int64(peer)), cst.Tag(int64(tag)), cst.Handle(0))
}

func (p *process) isend(count, peer, tag int) {
	p.call("MPI_Isend", "nptcq", cst.Int(int64(count)), cst.Rank(int64(peer)), cst.Tag(int64(tag)),
		cst.Handle(0), cst.Handle(p.requests))
	p.requests++
}

func (p *process) irecv(count, peer, tag int) {
	p.call("MPI_Irecv", "nptcq", cst.Int(int64(count)), cst.Rank(int64(peer)), cst.Tag(int64(tag)),
		cst.Handle(0), cst.Handle(p.requests))
	p.requests++
}

func (p *process) waitall() {
	var list []cst.Value
	for i := range p.requests {
		list = append(list, cst.Handle(i))
	}
	p.call("MPI_Waitall", "nq", cst.Int(p.requests), cst.Array(list...))
	p.requests = 0
}

func (p *process) allreduce(count int) {
	p.call("MPI_Allreduce", "nc", cst.Int(int64(count)), cst.Handle(0))
}

func ints(n int, of func(i int) int) cst.Value {
	list := make([]cst.Value, n)
	for i := range list {
		list[i] = cst.Int(int64(of(i)))
	}
	return cst.Array(list...)
}

func (p *process) alltoallv(count func(peer int) int) {
	at := 0
	p.call("MPI_Alltoallv", "adc", ints(p.n, count), ints(p.n, func(i int) int {
		at += count(i)
		return at - count(i)
	}), cst.Handle(0))
}

// run returns the trace of a program on n ranks.
func run(t interface{ Fatal(...any) }, n int, program func(p *process)) *trace.Trace {
	var parts []merge.Part
	for rank := range n {
		p := process{rank: rank, n: n, fns: make(map[string]int)}
		p.call("MPI_Comm_size", "nc", cst.Int(int64(n)), cst.Handle(0))
		p.call("MPI_Comm_rank", "pc", cst.Rank(int64(rank)), cst.Handle(0))
		program(&p)
		p.call("MPI_Finalize", "")
		if err := p.recorder.Err(); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p.recorder.Finish(rank))
	}
	return open(t, merge.Run{Ranks: n, Source: "test"}, parts)
}

// grid sets the place of a process in a grid whose columns are as many as rows or twice as many.
func (p *process) grid() {
	p.rows = 1 << (bits.Len(uint(p.n-1)) / 2)
	if r := square(p.n); r*r == p.n {
		p.rows = r
	}
	p.columns = p.n / p.rows
	p.row, p.column = p.rank/p.columns, p.rank%p.columns
}

func (p *process) near(dx, dy int) int {
	x, y := (p.column+dx+p.columns)%p.columns, (p.row+dy+p.rows)%p.rows
	return p.rank - p.rank%(p.columns*p.rows) + y*p.columns + x
}

// lu is the pipeline of the NAS benchmark LU: wavefronts from two corners of the grid.
func lu(p *process) {
	p.grid()
	const points, planes = 1024, 30
	sweep := func(dx, dy int, tag int) {
		for range planes {
			if x := p.column - dx; x >= 0 && x < p.columns {
				p.recv(5*points/p.rows, p.near(-dx, 0), tag)
			}
			if y := p.row - dy; y >= 0 && y < p.rows {
				p.recv(5*points/p.columns, p.near(0, -dy), tag+1)
			}
			if x := p.column + dx; x >= 0 && x < p.columns {
				p.send(5*points/p.rows, p.near(dx, 0), tag)
			}
			if y := p.row + dy; y >= 0 && y < p.rows {
				p.send(5*points/p.columns, p.near(0, dy), tag+1)
			}
		}
	}
	for range 20 {
		sweep(1, 1, 10)
		sweep(-1, -1, 20)
		p.allreduce(5)
	}
}

// cg sums along rows in butterflies, and exchanges with the transposed process, as the NAS benchmark CG does.
func cg(p *process) {
	p.grid()
	for range 4 {
		for range 5 {
			for i := 1; i < p.columns; i *= 2 {
				peer := p.row*p.columns + (p.column ^ i)
				p.irecv(4096/p.rows, peer, 1)
				p.send(4096/p.rows, peer, 1)
				p.waitall()
			}
			peer := p.column*p.columns + p.row
			p.irecv(4096/p.rows, peer, 2)
			p.send(4096/p.rows, peer, 2)
			p.waitall()
			for i := p.columns / 2; i > 0; i /= 2 {
				peer := p.row*p.columns + (p.column ^ i)
				p.irecv(1, peer, 3)
				p.send(1, peer, 3)
				p.waitall()
			}
		}
		p.allreduce(1)
	}
}

// bt is a multipartition: sweeps over cells along three dimensions.
func bt(p *process) {
	p.grid()
	next := [3]int{p.near(1, 0), p.near(0, 1), p.near(-1, -1)}
	last := [3]int{p.near(-1, 0), p.near(0, -1), p.near(1, 1)}
	for range 50 {
		for d := range 3 {
			for cell := range p.columns {
				if cell > 0 {
					p.irecv(25*4096/p.columns, last[d], d)
					p.waitall()
				}
				if cell < p.columns-1 {
					p.isend(25*4096/p.columns, next[d], d)
					p.waitall()
				}
			}
		}
		p.allreduce(5)
	}
}

// torus exchanges halos in two dimensions that wrap around.
func torus(p *process) {
	p.grid()
	for range 100 {
		for d, peer := range []int{p.near(-1, 0), p.near(1, 0), p.near(0, -1), p.near(0, 1)} {
			p.irecv(100, peer, d^1)
		}
		for d, peer := range []int{p.near(-1, 0), p.near(1, 0), p.near(0, -1), p.near(0, 1)} {
			p.isend(100, peer, d)
		}
		p.waitall()
	}
}

// sameTag exchanges halos with one tag, and nobody at the edges.
func sameTag(p *process) {
	p.grid()
	peers := []int{-1, -1, -1, -1}
	if p.column > 0 {
		peers[0] = p.near(-1, 0)
	}
	if p.column < p.columns-1 {
		peers[1] = p.near(1, 0)
	}
	if p.row > 0 {
		peers[2] = p.near(0, -1)
	}
	if p.row < p.rows-1 {
		peers[3] = p.near(0, 1)
	}
	for range 100 {
		for _, peer := range peers {
			p.irecv(1<<20/p.n, peer, 0)
		}
		for _, peer := range peers {
			p.isend(1<<20/p.n, peer, 0)
		}
		p.waitall()
	}
}

// ring shifts around, and along a line.
func ring(p *process) {
	for range 10 {
		p.irecv(7, (p.rank+p.n-1)%p.n, 0)
		p.isend(7, (p.rank+1)%p.n, 0)
		p.waitall()
	}
	if p.rank > 0 {
		p.recv(1000+2*p.rank, p.rank-1, 1)
	}
	if p.rank < p.n-1 {
		p.send(1002+2*p.rank, p.rank+1, 1)
	}
}

// sort exchanges parts of equal size between all.
func sort(p *process) {
	for range 10 {
		p.allreduce(1024)
		p.alltoallv(func(int) int { return 1 << 16 / p.n / p.n })
	}
}

// remainder has parts that are not all of one size, of 1,003 rows.
func remainder(p *process) {
	mine := 1003 / p.n
	if p.rank < 1003%p.n {
		mine++
	}
	for range 10 {
		p.isend(mine, (p.rank+1)%p.n, 0)
		p.irecv(1003/p.n+1, (p.rank+p.n-1)%p.n, 0)
		p.waitall()
	}
}

// master is a rank 0 that talks to all others.
func master(p *process) {
	for range 5 {
		if p.rank > 0 {
			p.recv(100, 0, 1)
			p.send(p.rank, 0, 2)
			continue
		}
		for peer := 1; peer < p.n; peer++ {
			p.send(100, peer, 1)
		}
		for peer := 1; peer < p.n; peer++ {
			p.recv(peer, peer, 2)
		}
	}
}

// pairwise exchanges between all, one partner after the other.
func pairwise(p *process) {
	for range 3 {
		for i := 1; i < p.n; i++ {
			p.irecv(8, (p.rank-i+p.n)%p.n, i)
			p.isend(8, (p.rank+i)%p.n, i)
			p.waitall()
		}
	}
	for peer := range p.n {
		if peer != p.rank {
			p.send(3, peer, 0)
		}
	}
	for i := 1; i < p.n; i *= 2 {
		p.send(i, p.rank^i, 4)
	}
}

// split splits rows off, and sums in them.
func split(p *process) {
	p.grid()
	p.call("MPI_Comm_split", "xpc", cst.Int(int64(p.row)), cst.Rank(int64(p.column)), cst.Handle(1))
	p.recorder.SetGroup("comm", 0, merge.Group{Rank: p.rank, Size: p.n})
	p.recorder.SetGroup("comm", 1, merge.Group{Rank: p.column, Size: p.columns})
	for range 10 {
		p.call("MPI_Bcast", "npc", cst.Int(1<<16/int64(p.n)), cst.Rank(0), cst.Handle(1))
		p.call("MPI_Sendrecv", "nptc", cst.Int(9), cst.Rank(int64((p.column+1)%p.columns)), cst.Tag(1), cst.Handle(1))
	}
}

// cart makes a grid, and exchanges with neighbours in it.
func cart(p *process) {
	p.grid()
	p.call("MPI_Cart_create", "cgc", cst.Handle(0), ints(2, func(i int) int {
		return []int{p.rows, p.columns}[i]
	}), cst.Handle(1))
	for range 10 {
		for i, peer := range []int{p.near(-1, 0), p.near(1, 0), p.near(0, -1), p.near(0, 1)} {
			p.irecv(100, peer, i^1)
			p.isend(100, peer, i)
		}
		p.waitall()
	}
}

// rims exchanges the rims of a plane of 256 by 256 points: with no process where the plane ends.
func rims(p *process) {
	p.grid()
	p.site = 4
	p.call("MPI_Cart_coords", "pg", cst.Rank(int64(p.rank)), ints(2, func(i int) int {
		return []int{p.row, p.column}[i]
	}))
	peers := []int{-1, -1, -1, -1}
	if p.column > 0 {
		peers[0] = p.near(-1, 0)
	}
	if p.column < p.columns-1 {
		peers[1] = p.near(1, 0)
	}
	if p.row > 0 {
		peers[2] = p.near(0, -1)
	}
	if p.row < p.rows-1 {
		peers[3] = p.near(0, 1)
	}
	count := []int{256 / p.rows, 256 / p.rows, 256 / p.columns, 256 / p.columns}
	for range 5 {
		p.site = 1
		for i, peer := range peers {
			p.irecv(count[i], peer, i^1)
		}
		p.site = 2
		for i, peer := range peers {
			p.isend(count[i], peer, i)
		}
		p.site = 3
		p.waitall()
	}
}

// parts is the pipeline of LU through parts of 102 rows and columns, which are not all of one size.
func parts(p *process) {
	p.grid()
	for i := range 10 {
		if p.column > 0 {
			p.site = 1
			p.recv(5*block(102, p.rows, p.row), p.near(-1, 0), 1)
		}
		if p.row > 0 {
			p.site = 2
			p.recv(5*block(102, p.columns, p.column), p.near(0, -1), 2)
		}
		if p.column < p.columns-1 {
			p.site = 3
			p.send(5*block(102, p.rows, p.row), p.near(1, 0), 1)
		}
		if p.row < p.rows-1 {
			p.site = 4
			p.send(5*block(102, p.columns, p.column), p.near(0, 1), 2)
		}
		if i%5 == 4 {
			p.site = 5
			p.allreduce(5)
		}
	}
}

// shared has requests of one number where the neighbours on both sides are one process, and sweeps forth and
// back.
func shared(p *process) {
	p.grid()
	for range 4 {
		for back := range 2 {
			to, from, request := p.near(1-2*back, 0), p.near(2*back-1, 0), int64(back)
			if to == from {
				request = 0
			}
			for range p.columns - 1 {
				count := 1 << 16 / p.columns >> back
				p.site = 1
				p.call("MPI_Isend", "nptcq", cst.Int(int64(count)), cst.Rank(int64(to)), cst.Tag(0),
					cst.Handle(0), cst.Handle(request))
				p.site = 2
				p.recv(count, from, 0)
				p.site = 3
				p.call("MPI_Wait", "q", cst.Handle(request))
			}
		}
	}
}

var all = []struct {
	name    string
	program func(p *process)
	numbers []int // the last is extrapolated from the others
}{
	{"lu", lu, []int{4, 8, 16, 32, 64, 256}},
	{"cg", cg, []int{4, 16, 64, 256}},
	{"bt", bt, []int{4, 16, 64, 256}},
	{"torus", torus, []int{4, 16, 64, 256}},
	{"sameTag", sameTag, []int{8, 16, 32, 64, 256}},
	{"ring", ring, []int{4, 8, 16, 32, 64, 256}},
	{"sort", sort, []int{4, 8, 16, 32, 64, 256}},
	{"remainder", remainder, []int{4, 8, 16, 32, 64, 256}},
	{"master", master, []int{4, 16, 64, 256}},
	{"pairwise", pairwise, []int{4, 8, 16, 32, 64}},
	{"split", split, []int{4, 8, 16, 32, 64, 256}},
	{"cart", cart, []int{9, 64, 36}},
	{"rims", rims, []int{4, 16, 64, 256}},
	{"parts", parts, []int{4, 16, 64, 256}},
	{"shared", shared, []int{4, 16, 64, 256}},
	{"lu on 128", lu, []int{8, 16, 32, 64, 128}},
	{"torus on 128", torus, []int{8, 16, 32, 64, 128}},
}

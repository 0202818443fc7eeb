package semantics_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// A layout is the topology of a communicator: the extents of a grid with the coordinates of each rank, or a
// graph. Of each rank of the run it has the neighbours that it sends to and those that it receives from, as
// ranks of the run; −1 is nobody.
type layout struct {
	dims, periods []int
	part          []int   // by rank of the run: the number of the part of a grid that it is in
	at            [][]int // by rank of the run: its coordinates in that
	in, out       [][]int
}

// grid sets the neighbours in a grid.
func (l *layout) grid() *layout {
	l.in = make([][]int, len(l.at))
	for rank, at := range l.at {
		for i, n := range l.dims {
			for _, step := range []int{-1, 1} {
				to := at[i] + step
				if l.periods[i] != 0 {
					to = (to + n) % n
				}
				l.in[rank] = append(l.in[rank], l.find(rank, i, to))
			}
		}
	}
	l.out = l.in
	return l
}

// find returns the rank in the part of another that has its coordinates but for one.
func (l *layout) find(rank, i, to int) int {
	for other, at := range l.at {
		same := l.part[other] == l.part[rank]
		for k := range at {
			want := l.at[rank][k]
			if k == i {
				want = to
			}
			same = same && at[k] == want
		}
		if same {
			return other
		}
	}
	return -1
}

// neighbouring makes random programs of operations with neighbours, whose communicators are made, copied,
// cut, freed and their numbers used again, and knows what each call exchanges.
type neighbouring struct {
	*rapid.T
	ranks int
	calls []func(rank int, r *recording)
	alive map[int]*layout // by the id of the communicator; nil for one without neighbours
	want  [][]string      // by rank
}

func (n *neighbouring) draw(what string, least, most int) int {
	return rapid.IntRange(least, most).Draw(n.T, what)
}

// all makes a call that means nothing to be compared.
func (n *neighbouring) all(call func(rank int, r *recording)) {
	n.calls = append(n.calls, call)
	for rank := range n.want {
		n.want[rank] = append(n.want[rank], "")
	}
}

func anys(list []int) (all []any) {
	all = []any{}
	for _, v := range list {
		if v < 0 {
			all = append(all, "MPI_PROC_NULL")
		} else {
			all = append(all, v)
		}
	}
	return all
}

// list draws neighbours, some of them several times, the rank itself and nobody among them.
func (n *neighbouring) list() []int {
	return rapid.SliceOfN(rapid.IntRange(-1, n.ranks-1), 0, 4).Draw(n.T, "neighbours")
}

// create makes a communicator of an id.
func (n *neighbouring) create(id int) {
	kind := rapid.SampledFrom([]string{"plain", "grid", "graph", "adjacent", "reordered", "edges"}).Draw(n.T, "kind")
	l := &layout{in: make([][]int, n.ranks), out: make([][]int, n.ranks)}
	switch kind {
	case "plain":
		n.all(func(rank int, r *recording) { r.call("MPI_Comm_dup", "comm", world, "newcomm", id) })
		n.alive[id] = nil
		return
	case "grid":
		n.alive[id] = n.createGrid(id)
		return
	case "graph":
		var index, edges []int
		for rank := range n.ranks {
			list := rapid.SliceOfN(rapid.IntRange(0, n.ranks-1), 0, 3).Draw(n.T, "edges")
			l.in[rank], l.out[rank] = list, list
			edges = append(edges, list...)
			index = append(index, len(edges))
		}
		n.all(func(rank int, r *recording) {
			r.call("MPI_Graph_create", "comm_old", world, "nnodes", n.ranks, "index", anys(index), "edges",
				anys(edges), "reorder", 0, "comm_graph", id)
		})
	default:
		for rank := range n.ranks {
			l.in[rank], l.out[rank] = n.list(), n.list()
		}
		n.all(func(rank int, r *recording) {
			in, out := anys(l.in[rank]), anys(l.out[rank])
			others := []any{"newsources", in, "newdestinations", out}
			switch kind {
			case "edges": // which processes name, is another matter
				r.call("MPI_Dist_graph_create", append(
					[]any{"comm_old", world, "n", 1, "sources", []any{0}, "degrees", []any{1}, "destinations", []any{0},
						"reorder", 0, "comm_dist_graph", id}, others...)...)
			case "reordered":
				r.call("MPI_Dist_graph_create_adjacent",
					append([]any{"comm_old", world, "indegree", 0, "sources", []any{}, "outdegree", 1,
						"destinations", []any{0},
						"reorder", 1, "comm_dist_graph", id, "newrank", rank}, others...)...)
			default:
				r.call("MPI_Dist_graph_create_adjacent", "comm_old", world, "indegree", len(in), "sources",
					in, "outdegree", len(out), "destinations", out,
					"reorder", 0, "comm_dist_graph", id)
			}
		})
	}
	n.alive[id] = l
}

// createGrid makes a grid of all ranks, one of whose dimensions may have extent 1 or 2 and be periodic.
func (n *neighbouring) createGrid(id int) *layout {
	width := n.draw("width", 1, n.ranks)
	for n.ranks%width != 0 {
		width--
	}
	l := &layout{dims: []int{n.ranks / width, width}, periods: []int{n.draw("periodic", 0, 1),
		n.draw("periodic", 0, 1)}}
	for rank := range n.ranks {
		l.part, l.at = append(l.part, 0), append(l.at, []int{rank / width, rank % width})
	}
	n.all(func(rank int, r *recording) {
		r.call("MPI_Cart_create", "comm_old", world, "ndims", 2, "dims", anys(l.dims), "periods",
			anys(l.periods), "reorder", 0, "comm_cart", id)
	})
	return l.grid()
}

// cut makes a communicator of the parts of a grid.
func (n *neighbouring) cut(of, id int) {
	l, keep := n.alive[of], []int{}
	part := &layout{part: make([]int, n.ranks), at: make([][]int, n.ranks)}
	for i := range l.dims {
		keep = append(keep, n.draw("keep", 0, 1))
		if keep[i] != 0 {
			part.dims, part.periods = append(part.dims, l.dims[i]), append(part.periods, l.periods[i])
		}
	}
	for rank, at := range l.at {
		part.part[rank] = l.part[rank]
		for i, v := range at {
			if keep[i] != 0 {
				part.at[rank] = append(part.at[rank], v)
			} else {
				part.part[rank] = part.part[rank]*100 + v
			}
		}
	}
	n.all(func(rank int, r *recording) {
		r.call("MPI_Cart_sub", "comm", of, "remain_dims", anys(keep), "newcomm", id)
	})
	n.alive[id] = part.grid()
}

// exchange makes an operation on a communicator.
func (n *neighbouring) exchange(id int) {
	l := n.alive[id]
	form := rapid.SampledFrom([]string{"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"}).Draw(
		n.T, "operation")
	once := n.draw("count", 0, 3)
	var sends, gets [][]int
	for rank := range n.ranks {
		sends, gets = append(sends, make([]int, len(l.out[rank]))), append(gets, make([]int, len(l.in[rank])))
		for i := range sends[rank] {
			if sends[rank][i] = once; form[len(form)-1] != 'l' && form[:4] == "allt" {
				sends[rank][i] = n.draw("count", 0, 3)
			}
		}
		for i := range gets[rank] {
			if gets[rank][i] = once; form[len(form)-1] == 'v' || form[len(form)-1] == 'w' {
				gets[rank][i] = n.draw("count", 0, 3)
			}
		}
	}
	n.calls = append(n.calls, func(rank int, r *recording) {
		args := []any{"sendcount", once, "sendtype", "MPI_INT"}
		switch form {
		case "alltoallv":
			args = []any{"sendcounts", anys(sends[rank]), "sendtype", "MPI_INT"}
		case "alltoallw":
			args = []any{"sendcounts", anys(sends[rank]), "sendtypes", repeat("MPI_INT", len(sends[rank]))}
		}
		switch form {
		case "allgatherv", "alltoallv":
			args = append(args, "recvcounts", anys(gets[rank]), "recvtype", "MPI_INT")
		case "alltoallw":
			args = append(args, "recvcounts", anys(gets[rank]), "recvtypes", repeat("MPI_INT", len(gets[rank])))
		default:
			args = append(args, "recvcount", once, "recvtype", "MPI_INT")
		}
		r.call("MPI_Neighbor_"+form, append(args, "comm", id)...)
	})
	for rank := range n.ranks {
		given, sent, received := make([]int, n.ranks), 0, 0
		for i, peer := range l.out[rank] {
			if peer >= 0 {
				sent += 4 * sends[rank][i]
				given[peer] += 4 * sends[rank][i]
			}
		}
		if form[:4] == "allg" {
			sent = 4 * once
		}
		for i, peer := range l.in[rank] {
			if peer >= 0 {
				received += 4 * gets[rank][i]
			}
		}
		given[rank] = 0
		n.want[rank] = append(n.want[rank], fmt.Sprintf("gives %d, %d sent and %d received", given, sent, received))
	}
}

func repeat(v any, n int) []any {
	list := []any{}
	for range n {
		list = append(list, v)
	}
	return list
}

// step makes a call.
func (n *neighbouring) step() {
	id := n.draw("communicator", 0, 2)
	l, alive := n.alive[id]
	switch other := n.draw("other", 0, 2); {
	case !alive:
		n.create(id)
	case n.draw("free", 0, 3) == 0:
		n.all(func(rank int, r *recording) { r.call("MPI_Comm_free", "comm", id) })
		delete(n.alive, id)
	case l == nil:
	case n.draw("copy", 0, 3) == 0:
		if _, taken := n.alive[other]; taken {
			return
		}
		if l.dims != nil && n.draw("cut", 0, 1) == 0 {
			n.cut(id, other)
			return
		}
		n.all(func(rank int, r *recording) { r.call("MPI_Comm_dup", "comm", id, "newcomm", other) })
		n.alive[other] = l
	default:
		n.exchange(id)
	}
}

// TestNeighbourhoods compares what calls exchange with neighbours, and the bytes that they give and get, with
// what programs know.
func TestNeighbourhoods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &neighbouring{T: t, ranks: rapid.IntRange(1, 6).Draw(t, "ranks"), alive: make(map[int]*layout)}
		n.want = make([][]string, n.ranks)
		for range rapid.IntRange(1, 25).Draw(t, "calls") {
			n.step()
		}
		m := mpiModel(t, n.ranks, func(rank int, r *recording) {
			for _, call := range n.calls {
				call(rank, r)
			}
		})
		for rank := range n.ranks {
			r, err := m.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			each(t, m, rank, func(position uint64, c trace.Call, o *semantics.Operation) {
				if want := n.want[rank][position]; want != "" && given(n.ranks, r.Exchange(o), o) != want {
					t.Errorf("rank %d, call %d, %s: %s, want %s", rank, position, c.Function.Name,
						given(n.ranks, r.Exchange(o), o), want)
				}
			})
		}
	})
}

// given returns what a call gives, as texts to be compared.
func given(ranks int, x semantics.Exchange, o *semantics.Operation) string {
	if x.With == semantics.SomeUnknown {
		return "gives to unknown ranks"
	}
	given := make([]int, ranks)
	for i, peer := range x.Peers {
		if given[peer] += int(x.Bytes); x.Blocks != nil {
			given[peer] += int(x.Blocks[i])
		}
	}
	return fmt.Sprintf("gives %d, %d sent and %d received", given, o.Sent, o.Received)
}

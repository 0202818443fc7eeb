package semantics

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// nobody stands for a neighbour behind the rim of a grid.
const nobody = -1

// maxProcesses is a number of processes that no run has.
const maxProcesses = 1 << 40

// A neighbourhood is the neighbours of a rank in a topology, as ranks in the communicator, in their order:
// those that it receives from and those that it sends to.
type neighbourhood struct {
	in, out []int64
	// the ranks are those of the communicator; else it is only known how many there are, and which are nobody
	placed bool
}

// A topology is that of a communicator: a grid, if it has dimensions, or the graph that a call made.
type topology struct {
	dims, periods []int64
	graph         arguments
	reordered     bool // the ranks in the communicator are not those that the call names
}

// maxTopologyCalls is through how many calls a topology is followed that is a copy or a part of another.
const maxTopologyCalls = 64

// neighbours returns those of the rank of a scope in the communicator that has an id at the position, and
// false if they are not known.
func (e *evaluation) neighbours(id int64, s scope) (n neighbourhood, ok bool) {
	t, ok := e.topology(id, maxTopologyCalls)
	if !ok || s.communicator == nil {
		return n, false
	}
	if t.dims != nil {
		list, ok := t.gridNeighbours(s)
		return neighbourhood{list, list, true}, ok
	}
	if list, ok := t.graphNeighbours(s); ok {
		return e.somebody(list, list, true), true
	}
	in, ok := t.graph.numbers("newsources")
	if out, also := t.graph.numbers("newdestinations"); ok && also {
		return e.somebody(in, out, true), true
	}
	in, ok = t.graph.numbers("sources")
	out, also := t.graph.numbers("destinations")
	if _, adjacent := t.graph.find("indegree", cst.KindInt); !adjacent || !ok || !also {
		return n, false // others name the neighbours, too
	}
	return e.somebody(in, out, !t.reordered), true
}

// somebody returns neighbours with nobody in place of MPI_PROC_NULL.
func (e *evaluation) somebody(in, out []int64, placed bool) neighbourhood {
	for _, list := range [][]int64{in, out} {
		for i, rank := range list {
			if rank == e.constants.procNull {
				list[i] = nobody
			}
		}
	}
	return neighbourhood{in, out, placed}
}

// topology returns that of the communicator that has an id at the position, followed through so many calls.
func (e *evaluation) topology(id int64, calls int) (t topology, ok bool) {
	if e.blind || calls == 0 {
		return t, false
	}
	if makers := e.requests().topologies[id]; len(makers) == 1 {
		made := evaluation{mpiRank: e.mpiRank, position: e.position, extent: everywhere}
		if t, ok = made.topologyOf(id, makers[0], calls); made.extent == everywhere {
			return t, ok
		}
	}
	position, terminal, from, until, ok := e.requests().made(object{commClass, id}, e.position)
	if e.within(from, until); !ok {
		return t, false
	}
	made := evaluation{mpiRank: e.mpiRank, position: position, extent: everywhere}
	return made.topologyOf(id, terminal, calls)
}

// topologyOf returns the topology that the call with a terminal gives the communicator that it makes, at the
// position.
func (e *evaluation) topologyOf(id int64, terminal uint32, calls int) (t topology, ok bool) {
	args, p := e.arguments(terminal), e.role(terminal)
	switch {
	case p == nil:
		return t, false
	case p.Makes == spec.Duplicate:
		return e.topology(args.number("comm", cst.KindHandle), calls-1)
	case spec.Base(args.function.Name) == "Cart_sub":
		t, ok = e.topology(args.number("comm", cst.KindHandle), calls-1)
		remain, told := args.numbers("remain_dims")
		if !ok || !told || len(remain) != len(t.dims) {
			return t, false
		}
		return t.part(remain), true
	case p.Makes != spec.Topology:
		return t, false
	}
	if dims, grid := args.numbers("dims"); grid {
		periods, ok := args.numbers("periods")
		return topology{dims: dims, periods: periods}, ok && len(dims) == len(periods)
	}
	if v, ok := args.find("reorder", cst.KindInt); ok && v.Int() == 0 {
		return topology{graph: args}, true
	}
	after := evaluation{mpiRank: e.mpiRank, position: e.position + 1, extent: everywhere}
	c := after.scope(commClass, id).communicator
	e.within(after.from, after.until)
	return topology{graph: args, reordered: c == nil || c.reordered}, true
}

// part returns the grid of the dimensions that remain.
func (t topology) part(remain []int64) topology {
	part := topology{dims: []int64{}}
	for i, keep := range remain {
		if keep != 0 {
			part.dims, part.periods = append(part.dims, t.dims[i]), append(part.periods, t.periods[i])
		}
	}
	return part
}

// graphNeighbours returns the neighbours of the rank of a scope in a graph of which all members name all
// edges: it both receives from them and sends to them.
func (t topology) graphNeighbours(s scope) (list []int64, ok bool) {
	index, ok := t.graph.numbers("index")
	edges, also := t.graph.numbers("edges")
	if !ok || !also || s.self >= len(index) {
		return nil, false
	}
	first := int64(0)
	if s.self > 0 {
		first = index[s.self-1]
	}
	last := index[s.self]
	if first < 0 || last < first || last > int64(len(edges)) {
		return nil, false
	}
	return edges[first:last], true
}

// gridNeighbours returns the neighbours of the rank of a scope in a grid:
// in each dimension the one before and the one behind, but for the rim of what is not
// periodic, where there is nobody.
func (t topology) gridNeighbours(s scope) (list []int64, ok bool) {
	dims, periods := t.dims, t.periods
	list = make([]int64, 2*len(dims))
	rank, stride := int64(s.self), int64(1) // the last dimension varies fastest
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] <= 0 || dims[i] > maxProcesses/stride {
			return nil, false
		}
		at := rank / stride % dims[i]
		before, behind := at-1, at+1
		if periods[i] != 0 {
			before, behind = (at+dims[i]-1)%dims[i], behind%dims[i]
		}
		for k, to := range []int64{before, behind} {
			if list[2*i+k] = nobody; to >= 0 && to < dims[i] {
				list[2*i+k] = rank + (to-at)*stride
			}
		}
		stride *= dims[i]
	}
	return list, true
}

package semantics

import "github.com/reprise-trace/reprise/cst"

// nobody stands for a neighbour behind the rim of a grid.
const nobody = -1

// maxProcesses is a number of processes that no run has.
const maxProcesses = 1 << 40

// degrees are how many neighbours there are that a rank receives from and sends to in a
// communicator, −1 if that is not known.
type degrees struct{ in, out int }

var noDegrees = degrees{-1, -1}

// degrees returns those in the communicator that has an id at the position, which is a scope.
func (e *evaluation) degrees(id int64, s scope) degrees {
	args, ok := e.topology(id)
	if !ok {
		return noDegrees
	}
	if list, ok := sharedNeighbours(args, s); ok {
		n := 0
		for _, rank := range list {
			if rank != nobody {
				n++
			}
		}
		return degrees{n, n}
	}
	return degrees{int(args.number("indegree", cst.KindInt)), int(args.number("outdegree", cst.KindInt))}
}

// neighbours returns the ranks in the communicator that has an id at the position of those
// that the rank of a scope sends to, in their order, and false if they are not known.
func (e *evaluation) neighbours(id int64, s scope) (list []int64, ok bool) {
	args, ok := e.topology(id)
	if !ok || s.communicator == nil {
		return nil, false
	}
	if list, ok := sharedNeighbours(args, s); ok {
		return list, true
	}
	if s.communicator.reordered { // the ranks are not those that the call named
		return nil, false
	}
	return args.numbers("destinations")
}

// topology returns the arguments of the call that made the communicator that has an id at the
// position.
func (e *evaluation) topology(id int64) (args arguments, ok bool) {
	q := e.requests()
	if makers := q.topologies[id]; len(makers) == 1 {
		return e.arguments(makers[0]), true
	}
	_, terminal, from, until, ok := q.made(object{commClass, id}, e.position)
	if e.within(from, until); !ok {
		return arguments{}, false
	}
	return e.arguments(terminal), true
}

// sharedNeighbours returns the neighbours of the rank of a scope, which it both receives from
// and sends to, in the grid or graph that a call of all members makes.
func sharedNeighbours(args arguments, s scope) (list []int64, ok bool) {
	if _, grid := args.find("dims", cst.KindArray); grid {
		return gridNeighbours(args, s)
	}
	index, ok := args.numbers("index")
	edges, also := args.numbers("edges")
	if !ok || !also || s.communicator == nil || s.self >= len(index) {
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

// gridNeighbours returns the neighbours of the rank of a scope in the grid that a call makes:
// in each dimension the one before and the one behind, but for the rim of what is not
// periodic, where there is nobody.
func gridNeighbours(args arguments, s scope) (list []int64, ok bool) {
	dims, _ := args.numbers("dims")
	periods, _ := args.numbers("periods")
	if len(dims) == 0 || len(dims) != len(periods) {
		return nil, false
	}
	list = make([]int64, 2*len(dims))
	rank, stride := int64(s.self), int64(1) // the last dimension varies fastest
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] <= 0 || dims[i] > maxProcesses/stride || periods[i] == 0 && s.communicator == nil {
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

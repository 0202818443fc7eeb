package semantics

import (
	"sort"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxRequestCalls is the largest number of calls of a rank that are gone through because
// what persistent requests are, or where receives come from, differs from one to another.
const maxRequestCalls = 1 << 24

// requests says which calls of a rank make persistent requests and communicators with
// neighbours.
type requests struct {
	rank       *mpiRank
	persistent map[int64][]uint32 // terminals by the id of the request
	topologies map[int64][]uint32 // terminals that make a communicator, by its id

	creations map[object][]creation // in the order of positions; made when they are asked for
}

// An object is what has an id of a class.
type object struct {
	class string
	id    int64
}

// A creation is a call that makes a request or a communicator.
type creation struct {
	position uint64
	terminal uint32
}

func newRequests(r *mpiRank) *requests {
	q := &requests{rank: r, persistent: make(map[int64][]uint32), topologies: r.makers(commClass)}
	for id, makers := range r.makers(requestClass) {
		for _, terminal := range makers {
			if p := r.plan(terminal); p != nil && p.persistent {
				q.persistent[id] = append(q.persistent[id], terminal)
			}
		}
	}
	return q
}

// made returns the call that made the persistent request, or the communicator, that has an id
// at a position, and from which position on up to which it is that.
func (q *requests) made(o object, position uint64) (at uint64, terminal uint32, from, until uint64, ok bool) {
	r := q.rank
	r.mutex.Lock()
	if q.creations == nil {
		q.creations = make(map[object][]creation)
	}
	list, known := q.creations[o]
	r.mutex.Unlock()
	if !known {
		list = q.findCreations(o)
		r.mutex.Lock()
		q.creations[o] = list
		r.mutex.Unlock()
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].position >= position })
	until = forever
	if i < len(list) {
		until = list[i].position + 1
	}
	if i == 0 {
		return 0, 0, 0, until, false
	}
	return list[i-1].position, list[i-1].terminal, list[i-1].position + 1, until, true
}

func (q *requests) findCreations(o object) []creation {
	terminals := q.persistent[o.id]
	if o.class == commClass {
		terminals = q.topologies[o.id]
	}
	makers := make(map[sequitur.Symbol]bool)
	for _, terminal := range terminals {
		makers[terminal] = true
	}
	if q.rank.count(func(s sequitur.Symbol) bool { return makers[s] }) > maxRequestCalls {
		return nil
	}
	var list []creation
	for position, terminal := range q.rank.read.Find(0, func(s sequitur.Symbol) bool { return makers[s] }) {
		list = append(list, creation{position, terminal})
	}
	return list
}

// count returns how many calls have one of some terminals.
func (r *mpiRank) count(keep func(s sequitur.Symbol) bool) uint64 {
	sum := uint64(0)
	for s, n := range r.read.Occurrences() {
		if keep(s) {
			sum += n
		}
	}
	return sum
}

// degrees are how many neighbours there are that a rank receives from and sends to in a
// communicator, −1 if that is not known.
type degrees struct{ in, out int }

var noDegrees = degrees{-1, -1}

// degrees returns those in the communicator that has an id at the position, which is a scope.
func (e *evaluation) degrees(id int64, s scope) degrees {
	q := e.requests()
	if makers := q.topologies[id]; len(makers) == 1 {
		return e.degreesOf(makers[0], s)
	}
	_, terminal, from, until, ok := q.made(object{commClass, id}, e.position)
	if e.within(from, until); !ok {
		return noDegrees
	}
	return e.degreesOf(terminal, s)
}

// degreesOf returns those in a communicator that a call makes.
func (e *evaluation) degreesOf(terminal uint32, s scope) degrees {
	args := e.arguments(terminal)
	switch mpiName(args.function.Name) {
	case "Cart_create":
		n := gridNeighbours(args, s)
		return degrees{n, n}
	case "Dist_graph_create_adjacent":
		return degrees{int(args.number("indegree", cst.KindInt)), int(args.number("outdegree", cst.KindInt))}
	}
	return noDegrees
}

// gridNeighbours returns how many neighbours the rank of a scope has in the grid that a call
// makes: two in each dimension, but for the rim of what is not periodic, where there is nobody.
func gridNeighbours(args arguments, s scope) int {
	dims, _ := args.numbers("dims")
	periods, _ := args.numbers("periods")
	if len(dims) == 0 || len(dims) != len(periods) {
		return -1
	}
	n, rank := 0, int64(s.self) // the last dimension varies fastest
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] <= 0 {
			return -1
		}
		at := rank % dims[i]
		rank /= dims[i]
		switch {
		case periods[i] != 0:
			n += 2
		case s.communicator == nil:
			return -1
		default:
			if at > 0 {
				n++
			}
			if at < dims[i]-1 {
				n++
			}
		}
	}
	return n
}

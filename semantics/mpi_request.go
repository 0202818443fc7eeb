package semantics

import (
	"sort"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxRequestCalls is the largest number of calls of a rank that are gone through because
// what persistent requests are, or where receives come from, differs from one to another.
const maxRequestCalls = 1 << 24

// requests says which calls of a rank make persistent requests, find messages and make
// communicators with neighbours.
type requests struct {
	rank       *mpiRank
	persistent map[int64][]uint32 // terminals by the id of the request
	probes     map[int64][]uint32 // terminals by the id of the message
	topologies map[int64][]uint32 // terminals that make a communicator, by its id

	creations map[int64][]creation // of requests, in the order of positions; made when they are asked for
}

// A creation is a call that makes a request.
type creation struct {
	position uint64
	terminal uint32
}

func newRequests(r *mpiRank) *requests {
	q := &requests{rank: r, persistent: make(map[int64][]uint32), topologies: r.makers(commClass), probes: r.makers(messageClass)}
	for id, makers := range r.makers(requestClass) {
		for _, terminal := range makers {
			if p := r.plan(terminal); p != nil && p.persistent {
				q.persistent[id] = append(q.persistent[id], terminal)
			}
		}
	}
	return q
}

// made returns the call that made the request that has an id at a position, and from which
// position on up to which it is that.
func (q *requests) made(id int64, position uint64) (at uint64, terminal uint32, from, until uint64, ok bool) {
	r := q.rank
	r.mutex.Lock()
	if q.creations == nil {
		q.creations = make(map[int64][]creation)
	}
	list, known := q.creations[id]
	r.mutex.Unlock()
	if !known {
		list = q.findCreations(id)
		r.mutex.Lock()
		q.creations[id] = list
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

func (q *requests) findCreations(id int64) []creation {
	makers := make(map[sequitur.Symbol]bool)
	for _, terminal := range q.persistent[id] {
		makers[sequitur.Symbol(terminal)] = true
	}
	if q.rank.count(func(s sequitur.Symbol) bool { return makers[s] }) > maxRequestCalls {
		return nil
	}
	var list []creation
	for position, terminal := range q.rank.read.Find(0, func(s sequitur.Symbol) bool { return makers[s] }) {
		list = append(list, creation{position, uint32(terminal)})
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

// degrees returns how many neighbours there are that a rank receives from and sends to in
// a communicator, −1 if that is not known. All calls that make one of that id must agree.
func (q *requests) degrees(id int64) (in, out int) {
	in, out = -1, -1
	for i, terminal := range q.topologies[id] {
		a, b := -1, -1
		args := q.rank.arguments(terminal)
		switch mpiName(args.function.Name) {
		case "Cart_create":
			if n := args.number("ndims", cst.KindInt); n >= 0 && n < 1<<20 {
				a, b = 2*int(n), 2*int(n)
			}
		case "Dist_graph_create_adjacent":
			a, b = int(args.number("indegree", cst.KindInt)), int(args.number("outdegree", cst.KindInt))
		}
		if i > 0 && (a != in || b != out) {
			return -1, -1
		}
		in, out = a, b
	}
	return in, out
}

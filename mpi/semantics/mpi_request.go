package semantics

import (
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/mpi/spec"
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
	groups     map[int64][]uint32 // the same a group of processes

	creations map[object]timeline[uint32] // terminals that make them; found when they are asked for

	mutex   sync.Mutex
	acts    map[sequitur.Symbol][]act // made by all
	counted *sums.Measure             // calls that have acts
	single  map[int64]*sums.Measure   // calls that have acts on a request
}

// An object is what has an id of a class.
type object struct {
	class string
	id    int64
}

func newRequests(r *mpiRank) *requests {
	q := &requests{rank: r, persistent: make(map[int64][]uint32), topologies: r.makers(commClass),
		groups: r.makers(groupClass), single: make(map[int64]*sums.Measure)}
	for id, makers := range r.makers(requestClass) {
		for _, terminal := range makers {
			if p := r.role(terminal); p != nil && p.Persistent {
				q.persistent[id] = append(q.persistent[id], terminal)
			}
		}
	}
	return q
}

// made returns the call that made the persistent request, the communicator or the group that has an id
// at a position, and from which position on up to which it is that.
func (q *requests) made(o object, position uint64) (at uint64, terminal uint32, from, until uint64, ok bool) {
	r := q.rank
	r.mutex.Lock()
	if q.creations == nil {
		q.creations = make(map[object]timeline[uint32])
	}
	list, known := q.creations[o]
	r.mutex.Unlock()
	if !known {
		list = q.findCreations(o)
		r.mutex.Lock()
		q.creations[o] = list
		r.mutex.Unlock()
	}
	terminal, from, until, ok = list.at(position)
	return from - 1, terminal, from, until, ok
}

func (q *requests) findCreations(o object) timeline[uint32] {
	terminals := q.persistent[o.id]
	switch o.class {
	case commClass:
		terminals = q.topologies[o.id]
	case groupClass:
		terminals = q.groups[o.id]
	}
	makers := make(map[sequitur.Symbol]bool)
	for _, terminal := range terminals {
		makers[terminal] = true
	}
	if q.rank.count(func(s sequitur.Symbol) bool { return makers[s] }) > maxRequestCalls {
		return nil
	}
	var list timeline[uint32]
	for position, terminal := range q.rank.read.Find(0, func(s sequitur.Symbol) bool { return makers[s] }) {
		list = append(list, since[uint32]{position + 1, terminal})
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

// An act is what a call does to a request.
type act struct {
	request int64
	kind    actKind
	source  source // of a completion
}

type actKind uint8

const (
	begins actKind = iota
	cancels
	completes
	frees
)

// acts returns what a call does to requests.
func (r *mpiRank) acts(terminal uint32) (list []act) {
	p, args := r.ownRole(terminal), r.arguments(terminal)
	add := func(kind actKind, ids []int64) {
		for _, id := range ids {
			list = append(list, act{id, kind, unresolved})
		}
	}
	switch {
	case p == nil:
	case p.Requests == spec.Starts:
		add(begins, requestsOf(args))
	case p.Requests == spec.Cancels:
		add(cancels, requestsOf(args))
	case p.Requests == spec.Releases:
		add(frees, requestsOf(args))
	case p.Requests == spec.Waits || p.Requests == spec.Tests:
		r.eachCompleted(p, args, func(id int64, s source) { list = append(list, act{id, completes, s}) })
	case p.Nonblocking:
		if v, ok := args.find("request", cst.KindHandle); ok {
			add(begins, []int64{v.Int()})
		}
	}
	return list
}

// completed returns the requests that a call completes.
func (d *mpiDialect) completed(p *spec.Role, args arguments) (ids []int64) {
	d.eachCompleted(p, args, func(id int64, _ source) { ids = append(ids, id) })
	return ids
}

// eachCompleted calls f with the requests that a call completes, and what it says of them. If
// the call failed, those are complete whose status has no error or one of the operation; those
// with MPI_ERR_PENDING have neither failed nor completed (MPI-4.1, §3.7.5).
func (d *mpiDialect) eachCompleted(p *spec.Role, args arguments, f func(id int64, s source)) {
	requests := requestsOf(args)
	statuses, many := args.told("array_of_statuses", cst.KindArray)
	complete := func(i int64, k int) {
		s := statusOf(args)
		if many && k < statuses.Len() && statuses.Index(k).Kind() == cst.KindStatus {
			told := statuses.Index(k).Status()
			if s = (source{rank: told.Source, tag: told.Tag}); told.Error != 0 && told.Error == d.constants.pending {
				return
			}
		}
		if i >= 0 && i < int64(len(requests)) && requests[i] >= 0 {
			f(requests[i], s)
		}
	}
	if v, ok := args.find("flag", cst.KindInt); ok && v.Int() == 0 {
		return
	}
	indices, some := args.numbers("array_of_indices")
	index, one := args.find("index", cst.KindInt)
	switch {
	case some:
		for k, i := range indices[:min(len(indices), max(0, int(args.number("outcount", cst.KindInt))))] {
			complete(i, k)
		}
	case one:
		complete(index.Int(), 0)
	default:
		for k := range requests {
			complete(int64(k), k)
		}
	}
}

// maxSteps is how many acts on other requests are looked at to find that on a request.
const maxSteps = 64

// begun returns the position of the call that began the operation of a request that is active
// at a position, and whether a call cancelled it since.
func (q *requests) begun(request int64, position uint64) (began uint64, cancelled, ok bool) {
	began, cancelled, ok, decided := q.search(q.all(), request, position, maxSteps)
	if !decided {
		began, cancelled, ok, _ = q.search(q.of(request), request, position, math.MaxInt)
	}
	return began, cancelled, ok
}

// search goes back from a position through the calls with acts that a measure counts, some
// steps at most, and reports whether these were enough.
func (q *requests) search(m *sums.Measure, request int64, position uint64, steps int) (began uint64,
	cancelled, ok, decided bool) {
	for left := m.Before(position).Weight; left > 0; left-- {
		if steps--; steps < 0 {
			return 0, false, false, false
		}
		at, _, _ := m.Find(left - 1)
		for _, a := range slices.Backward(q.acts[q.rank.read.Grammar().At(at)]) {
			switch {
			case a.request != request:
			case a.kind == cancels:
				cancelled = true
			default:
				return at, cancelled, a.kind == begins, true
			}
		}
	}
	return 0, false, false, true
}

// all returns the measure that counts the calls with acts.
func (q *requests) all() *sums.Measure {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.counted == nil {
		q.acts = make(map[sequitur.Symbol][]act)
		for terminal := range uint32(q.rank.read.Terminals()) {
			if list := q.rank.acts(terminal); len(list) > 0 {
				q.acts[terminal] = list
			}
		}
		q.counted = q.count(func(act) bool { return true })
	}
	return q.counted
}

// of returns the measure that counts the calls with acts on a request. Only the last few are
// kept.
func (q *requests) of(request int64) *sums.Measure {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	m := q.single[request]
	if m == nil {
		if len(q.single) >= maxSteps {
			clear(q.single)
		}
		m = q.count(func(a act) bool { return a.request == request })
		q.single[request] = m
	}
	return m
}

func (q *requests) count(keep func(act) bool) *sums.Measure {
	return q.rank.counting(func(s sequitur.Symbol) bool { return slices.ContainsFunc(q.acts[s], keep) })
}

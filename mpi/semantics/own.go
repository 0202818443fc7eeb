package semantics

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
)

// OpenWith returns what the calls of a trace mean by semantics of the caller, whatever its functions are
// called. It fails if two groups have one name, or one has a rank twice, or one that the run does not have.
// What an operation has that cannot be counts as not known: a group that is not there, or that the rank is
// not of, and other numbers than those of package meaning.
func OpenWith(t *trace.Trace, s meaning.Semantics) (*Model, error) {
	need.That(t != nil, "semantics: no trace")
	need.That(s != nil, "semantics: no semantics of the caller")
	m := newModel(t)
	d := &ownDialect{model: m, semantics: s, groups: map[string]*ownGroup{"": {communicator: m.world}}}
	for _, g := range s.Groups() {
		switch {
		case g.Name == "" || g.Name == m.world.Name:
			return nil, fmt.Errorf("semantics: a group is called %q, as that of all ranks", g.Name)
		case d.groups[g.Name] != nil:
			return nil, fmt.Errorf("semantics: two groups are called %q", g.Name)
		}
		c := &Communicator{Name: g.Name, size: len(g.Ranks), members: append([]int{}, g.Ranks...)}
		index := make(map[int]int, len(g.Ranks))
		for i, rank := range g.Ranks {
			if rank < 0 || rank >= t.Ranks() {
				return nil, fmt.Errorf("semantics: group %q: the run has no rank %d", g.Name, rank)
			}
			if index[rank] = i; len(index) <= i {
				return nil, fmt.Errorf("semantics: group %q: rank %d is there twice", g.Name, rank)
			}
		}
		d.groups[g.Name] = &ownGroup{c, index}
	}
	m.dialect = d
	return m, nil
}

// An ownDialect has the semantics of a caller say what calls mean.
type ownDialect struct {
	model     *Model
	semantics meaning.Semantics
	groups    map[string]*ownGroup // by name
}

// An ownGroup is a communicator, and where its members are in it, which is nil for all ranks.
type ownGroup struct {
	communicator *Communicator
	index        map[int]int
}

// member returns the rank in a group of a rank of the run, and whether it is of the group.
func (g *ownGroup) member(rank int) (int, bool) {
	switch {
	case g == nil:
		return 0, false
	case g.index == nil:
		return rank, rank >= 0 && rank < g.communicator.size
	}
	i, ok := g.index[rank]
	return i, ok
}

func (d *ownDialect) counts(int, int) bool { return true }

func (d *ownDialect) rank(read *trace.Rank, number int) (meanings, error) {
	return &ownRank{d, read, number, make([]atomic.Pointer[ownCall], read.Terminals())}, nil
}

// An ownRank says what the calls of a rank mean.
type ownRank struct {
	*ownDialect
	read   *trace.Rank
	number int
	known  []atomic.Pointer[ownCall] // by terminal
}

// An ownCall is what the calls of a terminal mean.
type ownCall struct {
	operation *Operation // nil for nothing
	exchanges []Exchange // of its collective operations
	computes  time.Duration
}

func (r *ownRank) call(terminal uint32) *ownCall {
	c := r.known[terminal].Load()
	if c == nil {
		call := r.read.Call(terminal)
		r.known[terminal].CompareAndSwap(nil, r.newCall(r.semantics.Of(r.number, &call), terminal))
		c = r.known[terminal].Load()
	}
	return c
}

func (r *ownRank) at(_ uint64, terminal uint32) *Operation { return r.call(terminal).operation }

func (r *ownRank) same(terminal uint32) (*Operation, bool) { return r.call(terminal).operation, true }

func (r *ownRank) all(terminal uint32, count uint64, yield func(Occurrence) bool) bool {
	o := r.call(terminal).operation
	return o == nil || yield(Occurrence{terminal, o, count})
}

func (r *ownRank) exchange(d *dataCall) Exchange { return r.call(d.terminal).exchanges[d.number] }

// newCall returns what the calls of a terminal mean, of which the caller says m. Collective
// operations after messages, or after another one, are those that the call starts besides.
func (r *ownRank) newCall(m meaning.Operation, terminal uint32) *ownCall {
	c := &ownCall{computes: max(m.Computes, 0)}
	collectives := m.More
	if m.Collective != nil {
		collectives = append([]*meaning.Collective{m.Collective}, m.More...)
	}
	var list []*Operation
	for i, of := range collectives {
		o, exchange := r.collective(of)
		o.data = &dataCall{terminal: terminal, fixed: true, number: i}
		list, c.exchanges = append(list, o), append(c.exchanges, exchange)
	}
	switch {
	case len(m.Sends) > 0 && len(m.Receives) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Sendrecv"))
	case len(m.Sends) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Send"))
	case len(m.Receives) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Recv"))
	case len(list) > 0:
		c.operation, list = list[0], list[1:]
	case len(m.Completes) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Waitall"))
	case len(m.Puts) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Put"))
	case len(m.Gets) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Get"))
	case len(m.Posts) > 0:
		c.operation = newOperation(spec.RoleOf("MPI_Irecv"))
	default:
		return c
	}
	c.operation.More = list
	for _, of := range collectives {
		c.operation.begin(of.Request)
	}
	for i := range m.Sends {
		r.message(c.operation, Send, &m.Sends[i])
	}
	for i := range m.Receives {
		r.message(c.operation, Receive, &m.Receives[i])
	}
	for i := range m.Puts {
		r.message(c.operation, Put, &m.Puts[i])
	}
	for i := range m.Gets {
		r.message(c.operation, Get, &m.Gets[i])
	}
	c.operation.Posts = m.Posts
	c.operation.Completes = slices.DeleteFunc(slices.Clone(m.Completes), func(id int64) bool { return id <= 0 })
	return c
}

// begin adds a request to those that a call begins, if it is one.
func (o *Operation) begin(id int64) {
	if id > 0 && !slices.Contains(o.Begins, id) {
		o.Begins = append(o.Begins, id)
	}
}

// message adds a message to an operation.
func (r *ownRank) message(o *Operation, d Direction, of *meaning.Message) {
	m := Message{
		Direction: d, Blocking: of.Request <= 0, Peer: of.Peer, Tag: of.Tag,
		Elements: Unknown, Bytes: max(of.Bytes, Unknown),
	}
	if d == Receive {
		m.Posted = max(of.Posted, 0)
	}
	if d == Send && of.Waits {
		m.Mode = "synchronous"
	}
	group := r.groups[of.Group]
	if _, ok := group.member(r.number); ok {
		m.Communicator = group.communicator
	}
	if _, ok := group.member(of.Peer); !ok && (d == Send || of.Peer != meaning.AnyRank) {
		m.Peer = NoPeer
	}
	if of.Tag < 0 && (d == Send || of.Tag != meaning.AnyTag) {
		m.Tag = NoTag
	}
	request := int64(noRequest)
	if of.Request > 0 {
		request = of.Request
	}
	o.begin(of.Request)
	o.Messages = append(o.Messages, m)
	o.requests = append(o.requests, request)
}

// ownRoles are what the kinds of collective operations are in MPI.
var ownRoles = map[meaning.Kind]*spec.Role{
	meaning.Together: spec.RoleOf("MPI_Allgather"),
	meaning.FromRoot: spec.RoleOf("MPI_Bcast"),
	meaning.ToRoot:   spec.RoleOf("MPI_Gather"),
}

// collective returns a collective operation, and what the rank exchanges in it.
func (r *ownRank) collective(of *meaning.Collective) (*Operation, Exchange) {
	role, known := ownRoles[of.Kind]
	if !known { // who waits for whom is not known then
		role = ownRoles[meaning.Together]
	}
	rooted, bytes := known && of.Kind != meaning.Together, max(of.Bytes, Unknown)
	if !rooted && bytes == 0 {
		role = spec.RoleOf("MPI_Barrier")
	}
	o := newOperation(role)
	if of.Request > 0 {
		o.completion = of.Request
	}
	group := r.groups[of.Group]
	self, ok := group.member(r.number)
	if ok = ok && known; ok {
		o.Communicator = group.communicator
	}
	if _, is := group.member(of.Root); is && rooted {
		o.Root = of.Root
	}
	if ok = ok && (!rooted || o.Root >= 0); !ok {
		o.Sent, o.Received = bytes, bytes
		if bytes != 0 {
			o.Sent, o.Received = Unknown, Unknown
			return o, Exchange{With: SomeUnknown}
		}
		return o, Exchange{}
	}
	if of.Totals != nil && bytes < 0 {
		o.Sent, o.Received = max(of.Totals.Sent, Unknown), max(of.Totals.Received, Unknown)
		return o, Exchange{With: SomeUnknown}
	}
	gives, gets := true, true
	switch isRoot := of.Root == r.number; of.Kind {
	case meaning.FromRoot:
		gives, gets = isRoot, !isRoot
	case meaning.ToRoot:
		gets = isRoot
	}
	if gives {
		o.Sent = bytes
	}
	switch {
	case gets && of.Kind == meaning.FromRoot:
		o.Received = bytes
	case gets: // its own among them
		o.Received = product(bytes, int64(o.Communicator.size))
	}
	if of.Totals != nil {
		o.Sent, o.Received = max(of.Totals.Sent, Unknown), max(of.Totals.Received, Unknown)
	}
	x := Exchange{With: EachOther, Rank: self, Bytes: bytes}
	if of.Kind == meaning.ToRoot {
		x.With, x.Peers, gives = Listed, []int{of.Root}, of.Root != r.number
	}
	if !gives || bytes == 0 || o.Communicator.size == 1 {
		return o, Exchange{}
	}
	return o, x
}

// Computes returns how long the calls of a terminal compute by what semantics of the caller say, 0 if they do
// not say it: see [OpenWith].
func (r *Rank) Computes(terminal uint32) time.Duration {
	own, ok := r.meanings.(*ownRank)
	if !ok {
		return 0
	}
	need.That(uint(terminal) < uint(r.Terminals()), "semantics: terminal out of range")
	return own.call(terminal).computes
}

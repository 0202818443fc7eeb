package semantics

import (
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// forever is the position behind all calls.
const forever = math.MaxUint64

// An mpiRank says what the calls of a rank mean. What a communicator, a datatype or a
// request is depends on the position of the call: an id is used again when its object is
// gone. So a terminal has an operation for each stretch of positions between which
// nothing changes that it names.
type mpiRank struct {
	*mpiDialect
	read   *trace.Rank
	number int
	misfit bool // MPI_COMM_WORLD is not that of the run

	always memo // by terminal, if it is the same at all positions

	mutex     sync.Mutex
	stretches map[uint32][]stretch // by terminal, of others; in order
	counts    map[uint64][]uint64  // by position: how often each terminal occurs before
	made      map[made][]*Operation

	index     func() *sums.Index // of the grammar
	datatypes func() *datatypes
	requests  func() *requests
	probes    func() *probes
	wildcards func() *wildcards
	cancelled func() map[int64]bool // requests that a call cancels
}

// A stretch is the positions from from up to until, not included, at which a call is an
// operation.
type stretch struct {
	from, until uint64
	operation   *Operation
}

// An extent is the positions from from up to until, not included.
type extent struct{ from, until uint64 }

// within returns what is in both.
func (e extent) within(from, until uint64) extent {
	return extent{max(e.from, from), min(e.until, until)}
}

// everywhere is all positions.
var everywhere = extent{0, forever}

// A timeline is what is so from one position on up to the next, in ascending order.
type timeline[T any] []since[T]

type since[T any] struct {
	from  uint64
	value T
}

// at returns what is so at a position, and from which position on up to which; false if
// nothing is yet.
func (l timeline[T]) at(position uint64) (value T, from, until uint64, ok bool) {
	i := sort.Search(len(l), func(i int) bool { return l[i].from > position })
	until = forever
	if i < len(l) {
		until = l[i].from
	}
	if i == 0 {
		return value, 0, until, false
	}
	return l[i-1].value, l[i-1].from, until, true
}

func newMPIRank(d *mpiDialect, read *trace.Rank, number int) *mpiRank {
	r := &mpiRank{
		mpiDialect: d, read: read, number: number,
		always: make(memo, read.Terminals()), stretches: make(map[uint32][]stretch), made: make(map[made][]*Operation),
	}
	r.misfit = r.inOtherWorld()
	r.index = sync.OnceValue(func() *sums.Index { return sums.Of(r.read.Grammar()) })
	r.datatypes = sync.OnceValue(func() *datatypes { return newDatatypes(r, r.makers(datatypeClass)) })
	r.requests = sync.OnceValue(func() *requests { return newRequests(r) })
	r.probes = sync.OnceValue(func() *probes { return newProbes(r) })
	r.wildcards = sync.OnceValue(func() *wildcards { return newWildcards(r) })
	r.cancelled = sync.OnceValue(r.findCancelled)
	return r
}

// arguments returns those of a terminal.
func (r *mpiRank) arguments(terminal uint32) arguments {
	c := r.read.Call(terminal)
	return arguments{c.Function, c.Args}
}

// role returns that of a terminal, nil if it means nothing to other processes.
func (r *mpiRank) role(terminal uint32) *spec.Role {
	if p := r.ownRole(terminal); p != nil && p.Class != spec.Local {
		return p
	}
	return nil
}

// ownRole returns the role of a terminal, even if it means nothing to other processes, as that
// of a call that begins a request of the program's own; nil if the call failed, or completes
// what it has not returned from.
func (r *mpiRank) ownRole(terminal uint32) *spec.Role {
	f := r.function(terminal)
	if p := r.roles[f]; r.outcomes[f] == spec.Succeeded ||
		happened(p, r.outcomes[f], r.arguments(terminal), r.constants.truncate) {
		return p
	}
	return nil
}

// function returns the number of the function of a terminal.
func (r *mpiRank) function(terminal uint32) int {
	return r.model.trace.FunctionOf(r.read.Signature(terminal))
}

// inOtherWorld reports whether the rank says that its MPI_COMM_WORLD is not the one that the
// trace says, as in one of several programs that were merged.
func (r *mpiRank) inOtherWorld() bool {
	for terminal := range uint32(r.read.Terminals()) {
		if !r.roles[r.function(terminal)].TellsPlace {
			continue
		}
		args := r.arguments(terminal)
		if v, ok := args.find("comm", cst.KindHandle); !ok || v.Int() != r.constants.world {
			continue
		}
		_, first, size := r.run.WorldOf(r.number)
		if v, ok := args.find("size", cst.KindInt); ok && v.Int() != int64(size) {
			return true
		}
		if v, ok := args.find("rank", cst.KindRank); ok && v.Int() != int64(r.number-first) {
			return true
		}
	}
	return false
}

// switches reports whether the rank has calls that switch recording off or on.
func (r *mpiRank) switches() bool {
	for terminal := range uint32(r.read.Terminals()) {
		if !r.roles[r.function(terminal)].Switches {
			continue
		}
		if args := r.arguments(terminal); spec.SwitchesRecording(args.function, args.values) {
			return true
		}
	}
	return false
}

// makers returns the terminals that make an object of a class, by its id.
func (r *mpiRank) makers(class string) map[int64][]uint32 {
	makers := make(map[int64][]uint32)
	for terminal := range uint32(r.read.Terminals()) {
		params := r.makes[r.function(terminal)]
		if len(params) == 0 {
			continue
		}
		args := r.arguments(terminal)
		for _, k := range params {
			if element(args.function.Params[k].Type).Class != class {
				continue
			}
			eachNumber(args.values[k], func(id int64) {
				if list := makers[id]; id >= 0 && (len(list) == 0 || list[len(list)-1] != terminal) {
					makers[id] = append(list, terminal)
				}
			})
		}
	}
	return makers
}

// eachNumber calls f with a number, or with each of an array.
func eachNumber(v cst.Value, f func(int64)) {
	if v.Kind() != cst.KindArray {
		f(v.Int())
		return
	}
	for i := range v.Len() {
		if e := v.Index(i); e.Kind() != cst.KindArray {
			f(e.Int())
		}
	}
}

// at returns the operation of a call.
func (r *mpiRank) at(position uint64, terminal uint32) *Operation {
	o := r.base(position, terminal).operation
	if o == nil {
		return nil
	}
	return r.resolve(o, position)
}

// same returns what all calls of a terminal mean, false if that depends on the position.
func (r *mpiRank) same(terminal uint32) (*Operation, bool) {
	s := r.base(0, terminal)
	if s.from > 0 || s.until < forever || s.operation != nil && r.varies(s.operation) {
		return nil, false
	}
	if s.operation == nil {
		return nil, true
	}
	return r.resolve(s.operation, 0), true
}

// resolve returns an operation with what other calls say about the messages that a call at a
// position receives.
func (r *mpiRank) resolve(o *Operation, position uint64) *Operation {
	if o.taken != nil {
		o = r.probes().resolve(o, position)
	}
	if r.hasWildcards(o) {
		o = r.wildcards().resolve(o, position)
	}
	return o
}

// varies reports whether it depends on the position what resolve returns.
func (r *mpiRank) varies(o *Operation) bool {
	if o.taken != nil && len(r.probes().walked()[o.taken.message]) > 0 {
		return true
	}
	return r.hasWildcards(o) && slices.ContainsFunc(o.requests, func(id int64) bool {
		return len(r.wildcards().varied[id]) > 0
	})
}

// base returns the operation of a call without what calls at some positions say about what
// it receives, and at which positions it is that.
func (r *mpiRank) base(position uint64, terminal uint32) stretch {
	if o, ok := r.always.get(terminal); ok {
		return stretch{0, forever, o}
	}
	r.mutex.Lock()
	s, ok := find(r.stretches[terminal], position)
	r.mutex.Unlock()
	if ok {
		return s
	}
	s = r.evaluate(position, terminal)
	if s.from == 0 && s.until == forever {
		s.operation = r.always.put(terminal, s.operation)
		return s
	}
	return r.keep(terminal, s)
}

// find returns the stretch in a list that has a position.
func find(list []stretch, position uint64) (stretch, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].until > position })
	if i < len(list) && list[i].from <= position {
		return list[i], true
	}
	return stretch{}, false
}

// keep adds a stretch of a terminal, unless another goroutine did. It returns the one
// that is there.
func (r *mpiRank) keep(terminal uint32, s stretch) stretch {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	list := r.stretches[terminal]
	i := sort.Search(len(list), func(i int) bool { return list[i].until > s.from })
	if i < len(list) && list[i].from <= s.from {
		return list[i]
	}
	list = append(list, stretch{})
	copy(list[i+1:], list[i:])
	list[i] = s
	r.stretches[terminal] = list
	return s
}

// Up to maxCuts positions, it is kept how often each terminal occurs before them: most often
// there are few at which something changes, and many terminals for which it does. No more
// than maxCounts numbers are kept for that.
const (
	maxCuts   = 64
	maxCounts = 1 << 20
)

// before returns how often a terminal occurs before a position.
func (r *mpiRank) before(position uint64, terminal uint32) uint64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	counts := r.counts[position]
	if counts == nil {
		counts = make([]uint64, r.read.Terminals())
		for s, n := range r.read.Grammar().OccurrencesBefore(position) {
			counts[s] = n
		}
		if (len(r.counts)+1)*len(counts) > maxCounts || r.counts == nil {
			r.counts = make(map[uint64][]uint64)
		}
		r.counts[position] = counts
	}
	return counts[terminal]
}

// A tally counts the calls of a terminal by their operations.
type tally struct {
	order  []*Operation
	counts map[*Operation]uint64
}

func (t *tally) add(o *Operation, count uint64) {
	if o == nil {
		return
	}
	if _, ok := t.counts[o]; !ok {
		t.order = append(t.order, o)
	}
	t.counts[o] = wire.AddSat(t.counts[o], count)
}

func (t *tally) each(terminal uint32, yield func(Occurrence) bool) bool {
	for _, o := range t.order {
		if !yield(Occurrence{terminal, o, t.counts[o]}) {
			return false
		}
	}
	return true
}

// all yields the operations of a terminal.
func (r *mpiRank) all(terminal uint32, count uint64, yield func(Occurrence) bool) bool {
	if first := r.base(0, terminal); first.until == forever {
		return r.allOf(first.operation, terminal, everywhere, count, yield)
	}
	t := tally{counts: make(map[*Operation]uint64)}
	add := func(o Occurrence) bool {
		t.add(o.Operation, o.Count)
		return true
	}
	before := func(position uint64) uint64 { return r.before(position, terminal) }
	is := func(s sequitur.Symbol) bool { return s == terminal }
	var m *sums.Measure // from when on so many steps have been made
	for position, steps := uint64(0), 0; position < r.read.Len(); steps++ {
		if steps == maxCuts {
			m = r.counting(is)
			before = func(position uint64) uint64 { return m.Before(position).Weight }
		}
		if m != nil {
			if position, _, _ = m.Find(before(position)); position >= r.read.Len() {
				break
			}
		}
		s := r.base(position, terminal)
		part := extent{position, min(s.until, r.read.Len())}
		if n := before(part.until) - before(position); n > 0 {
			r.allOf(s.operation, terminal, part, n, add)
		}
		position = part.until
	}
	return t.each(terminal, yield)
}

// counting returns the sum that counts the calls with some terminals.
func (r *mpiRank) counting(keep func(s sequitur.Symbol) bool) *sums.Measure {
	return r.index().Measure(func(s sequitur.Symbol) uint64 {
		if keep(s) {
			return 1
		}
		return 0
	})
}

// allOf yields the operations of calls at some positions, of which there are count.
func (r *mpiRank) allOf(o *Operation, terminal uint32, at extent, count uint64, yield func(Occurrence) bool) bool {
	if o == nil {
		return true
	}
	if !r.varies(o) {
		return yield(Occurrence{terminal, r.resolve(o, at.from), count})
	}
	t := tally{counts: make(map[*Operation]uint64)}
	for position := range r.read.Find(at.from, func(s sequitur.Symbol) bool { return s == terminal }) {
		if position >= at.until {
			break
		}
		t.add(r.resolve(o, position), 1)
	}
	return t.each(terminal, yield)
}

// made is what operations have in common that may be equal.
type made struct {
	terminal     uint32
	communicator *Communicator
}

// one returns one operation for all of a terminal that are equal.
func (r *mpiRank) one(terminal uint32, o *Operation) *Operation {
	if o == nil {
		return nil
	}
	k := made{terminal, o.Communicator}
	for seen := 0; ; { // what sameData asks takes the mutex
		r.mutex.Lock()
		list := r.made[k]
		if len(list) == seen {
			r.made[k] = append(list, o)
			r.mutex.Unlock()
			return o
		}
		r.mutex.Unlock()
		for _, known := range list[seen:] {
			if known.equal(o) && r.sameData(known, o) {
				return known
			}
		}
		seen = len(list)
	}
}

// equal reports whether two operations are the same.
func (o *Operation) equal(p *Operation) bool {
	return o.Class == p.Class && o.Role == p.Role && o.Communicator == p.Communicator && o.Root == p.Root &&
		o.Sent == p.Sent && o.Received == p.Received &&
		slices.Equal(o.Messages, p.Messages) && slices.Equal(o.requests, p.requests) &&
		slices.Equal(o.Completes, p.Completes) && slices.Equal(o.Frees, p.Frees) && slices.Equal(o.Begins, p.Begins) &&
		(o.Probed == p.Probed || o.Probed != nil && p.Probed != nil && *o.Probed == *p.Probed) &&
		slices.Equal(o.Group, p.Group) && (o.Group == nil) == (p.Group == nil) && o.Found == p.Found &&
		o.Takes == p.Takes && o.completion == p.completion && o.taken.equal(p.taken) &&
		slices.EqualFunc(o.More, p.More, (*Operation).equal)
}

// evaluate finds out what a call means.
func (r *mpiRank) evaluate(position uint64, terminal uint32) stretch {
	e := evaluation{mpiRank: r, position: position, extent: everywhere}
	o := r.one(terminal, e.operation(terminal))
	return stretch{e.from, e.until, o}
}

// An evaluation finds out what a call at a position means, and where it does.
type evaluation struct {
	*mpiRank
	position uint64
	extent
	blind bool // nothing is known that depends on the position
}

// within narrows the positions.
func (e *evaluation) within(from, until uint64) { e.extent = e.extent.within(from, until) }

// A scope is what a handle of a communicator, window or file means to the rank.
type scope struct {
	communicator *Communicator // nil if it is not known
	self         int           // the rank in its group
	group        int           // the number of that of peers in the communicator
	// ranks in the run of those that ranks in the arguments mean; nil for all of the run, if known
	peers []int
	null  bool // there is nobody
}

// scope returns what a handle means at the position.
func (e *evaluation) scope(class string, id int64) scope {
	switch {
	case class == commClass && id == e.constants.world:
		if e.misfit {
			return scope{}
		}
		n, first, _ := e.run.WorldOf(e.number)
		c := e.worlds[n]
		return scope{communicator: c, self: e.number - first, peers: c.members}
	case class == commClass && id == e.constants.self:
		c := e.selfOf(e.number)
		return scope{communicator: c, peers: c.members}
	case id < 0 || e.groups == nil || e.blind:
		return scope{null: class == commClass && id == e.constants.null}
	}
	m, ok, first, last := e.groups.Span(e.number, resolve.Local{Class: class, ID: id}, e.position)
	if last < forever {
		last++
	}
	if e.within(first, last); !ok {
		return scope{}
	}
	s := scope{communicator: e.communicator(m.Group), self: m.Rank, peers: m.Peers()}
	if s.communicator.IsInter() && !m.Remote {
		s.group = 1
	}
	return s
}

// size returns how many ranks the arguments can mean, −1 if that is not known.
func (s scope) size() int {
	switch {
	case s.peers != nil:
		return len(s.peers)
	case s.communicator != nil:
		return s.communicator.size
	}
	return -1
}

// groupSize returns how many members the group of the caller has, −1 if that is not known.
func (s scope) groupSize() int {
	if s.communicator != nil && s.communicator.IsInter() {
		return s.communicator.Size() - len(s.peers)
	}
	return s.size()
}

// world returns the rank in the run of a rank in the scope, [NoPeer] if it is not known.
func (s scope) world(rank int64) int {
	switch n := int64(s.size()); {
	case rank < 0 || rank >= n:
		return NoPeer
	case s.peers != nil:
		return s.peers[rank]
	}
	return int(rank)
}

// size returns the size of a datatype at the position in bytes, or Unknown.
func (e *evaluation) size(id int64) int64 {
	if size, ok := e.constants.sizes[id]; ok {
		return size
	}
	if id < 0 || e.blind {
		return Unknown
	}
	size, from, until := e.datatypes().size(id, e.position)
	e.within(from, until)
	return size
}

// DatatypeSize returns the size in bytes of the datatype that a handle is in the call at a
// position, or [Unknown].
func (r *Rank) DatatypeSize(position uint64, id int64) int64 {
	switch m := r.meanings.(type) {
	case *mpiRank:
		e := evaluation{mpiRank: m, position: position, extent: everywhere}
		return e.size(id)
	case *tiRank:
		return tiSize(id)
	}
	return Unknown
}

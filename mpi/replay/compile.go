package replay

import (
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// An op is an operation as it is executed. Those of the calls with one terminal are one, unless
// it depends on the position what they mean.
type op struct {
	kind   opKind
	varies bool // it depends on the position: this one stands for no call
	any    bool // one of completes is enough
	thread int32

	begins, completes, frees []int32 // slots
	posts                    []int64 // requests of receives that the calls tell that complete them
	messages                 []message
	collectives              []collective

	unknown uint64 // messages and collective operations of which it is not known who takes part

	lockCall  lockCall
	exclusive bool
	lock      *lock                   // of the call; nil of all targets
	locked    *semantics.Communicator // the window

	epoch  epoch
	window int64     // of the epoch
	given  []message // tokens of the epoch that the call opens
	taken  []message
	sync   bool     // it waits for the accesses of the rank to the memory of others
	probed *message // that has to be there
	found  int32    // the slot of the message that a probe takes out of its channel, or −1
	waits  tiWait

	turns          []*turns // at what threads take turns
	looked, turned bool     // it is known whether there are any, and they are set
}

type opKind uint8

const (
	opLocal opKind = iota // it does nothing to others
	opSimple
	opSpecial // there is something besides messages, collective operations and what it completes
)

// A message is one end of a message, or an access to the memory of another rank.
type message struct {
	Message
	kind    messageKind
	token   bool // it is no message of the program
	mode    sendMode
	slot    int32    // the request that it is a part of; −1 if it is one of the call itself
	taken   int32    // the slot of the message that a probe took, or −1
	posted  int64    // the request of a receive that was posted before, 0 for none
	channel *channel // nil if it takes messages of several
	lock    *lock    // that an access may need; nil for none
}

type messageKind uint8

const (
	sends messageKind = iota
	receives
	accesses
)

type sendMode uint8

const (
	standard sendMode = iota
	buffered
	synchronous
)

// A rank describes one of them.
type rank struct {
	engine  *engine
	number  int
	index   int // among the ranks of the engine
	calls   *semantics.Rank
	strands []*strand
	threads []int              // by terminal, nil if there is one
	turns   map[turnKey]*turns // nil if there are none
	told    []uint64           // positions of the calls that ended is called with, if these are some
	sum     *Time              // that the machine adds up, or nil

	ops    []*op // by terminal; nil until it is needed
	varied map[variant]*op
	flight map[uint32]*semantics.InFlight // by terminal
	ti     *tiRequests                    // nil for MPI

	counts map[*comm]*uint64 // collective operations that it has entered

	drawn map[*message]*message // those of calls in stretches

	slots  []slot
	slotOf map[slotKey]int32
	queues bool // a slot may stand for several requests at once

	taken []*sendEnd // messages that probes took, by their slots

	late   []lateWait // calls that waited for messages, in a recording, by when these were sent
	broken bool       // in a recording: it is not known which messages it has received

	inbound  []*channel
	epochs   map[epochKey]*op // that are open, by the calls that opened them
	posts    map[int64]post   // receives of a recording that calls tell which complete them, by request
	posted   []posted         // receives, while one of them may take a message of several channels
	lookers  []*strand        // that look for any message
	accessed Time             // when all accesses to the memory of others are done

	claims    map[*lock]*claim // that have no end
	lockedAll map[*semantics.Communicator]bool
	deferred  int // accesses with requests that wait for locks
}

// A slotKey is what a slot of a rank is known by.
type slotKey struct {
	kind slotKind
	id   int64
	ti   tiKey
}

type slotKind uint8

const (
	requestSlot slotKind = iota
	messageSlot
	tiSlot
	tiCollectiveSlot
)

// A variant is an operation of a terminal that has several.
type variant struct {
	terminal  uint32
	operation *semantics.Operation
}

func newRank(e *engine, number int, calls *semantics.Rank) *rank {
	r := &rank{
		engine: e, number: number, calls: calls, ops: make([]*op, calls.Terminals()),
		varied: make(map[variant]*op), slotOf: make(map[slotKey]int32), counts: make(map[*comm]*uint64),
	}
	for _, c := range calls.InFlight() {
		if r.flight == nil {
			r.flight = make(map[uint32]*semantics.InFlight)
		}
		r.flight[c.Terminal] = &c
	}
	if r.queues = !e.model.IsMPI(); e.model.IsSimGrid() {
		r.ti = newTIRequests(r)
	}
	r.newStrands()
	return r
}

// newStrands makes a strand of each thread.
func (r *rank) newStrands() {
	threads := 1
	for terminal := range uint32(r.calls.Terminals()) {
		threads = max(threads, r.threadOf(terminal)+1)
	}
	if threads == 1 {
		r.addStrand(0, 0, r.calls.Len())
		return
	}
	r.queues = true
	of := make([]int, r.calls.Terminals())
	for terminal := range of {
		of[terminal] = r.threadOf(uint32(terminal))
	}
	r.threads = of
	calls := make([]uint64, threads)
	for terminal, n := range r.calls.Occurrences() {
		calls[r.threadOf(terminal)] += n
	}
	for thread, n := range calls {
		for first := range r.calls.Find(0, func(s uint32) bool { return r.threadOf(s) == thread }) {
			r.addStrand(thread, first, n)
			break
		}
	}
}

// maxThreads is how many threads of a rank are told apart: further ones are the last.
const maxThreads = 1 << 12

func (r *rank) threadOf(terminal uint32) int {
	if r.threads != nil {
		return r.threads[terminal]
	}
	return max(0, min(r.calls.Call(terminal).Thread(), maxThreads-1))
}

func (r *rank) addStrand(thread int, from, calls uint64) {
	s := &strand{rank: r, thread: thread, position: from, left: calls, walk: r.calls.Walk(from),
		stretches: r.stretchesFrom(from)}
	s.nextStretch()
	r.engine.drawn = r.engine.drawn || len(s.stretches) > 0
	s.at = Call{Rank: r.calls, Thread: thread}
	r.strands = append(r.strands, s)
}

// findForeign finds the requests that another thread completes than begins them.
func (r *rank) findForeign() {
	began := make(map[int32]map[int]bool)
	for o := range r.calls.All() {
		for _, slot := range r.requestSlots(o.Operation.Begins) {
			if began[slot] == nil {
				began[slot] = make(map[int]bool)
			}
			began[slot][r.threadOf(o.Terminal)] = true
		}
	}
	for o := range r.calls.All() {
		for _, slot := range r.requestSlots(o.Operation.Completes) {
			by := began[slot]
			if len(by) > 1 || len(by) == 1 && !by[r.threadOf(o.Terminal)] {
				r.slots[slot].foreign = true
			}
		}
	}
}

// handsOver reports whether threads of the rank complete requests that others begin.
func (r *rank) handsOver() bool {
	for i := range r.slots {
		if r.slots[i].foreign {
			return true
		}
	}
	return false
}

// slot returns the number of a slot.
func (r *rank) slot(k slotKey) int32 {
	n, ok := r.slotOf[k]
	if !ok {
		n = int32(len(r.slots))
		r.slotOf[k] = n
		r.slots = append(r.slots, slot{})
		r.taken = append(r.taken, nil)
	}
	return n
}

func (r *rank) requestSlots(ids []int64) (list []int32) {
	for _, id := range ids {
		list = append(list, r.slot(slotKey{kind: requestSlot, id: id}))
	}
	return list
}

// operation returns that of a call at a position.
func (r *rank) operation(position uint64, terminal uint32) *op {
	if o := r.ops[terminal]; o != nil && !o.varies {
		return o
	} else if o == nil {
		meaning, same := r.calls.Same(terminal)
		if same || r.flight[terminal] != nil {
			r.ops[terminal] = r.compile(meaning, terminal)
			return r.ops[terminal]
		}
		r.ops[terminal] = &op{varies: true, thread: int32(r.threadOf(terminal))}
	}
	meaning := r.calls.At(position, terminal)
	k := variant{terminal, meaning}
	o := r.varied[k]
	if o == nil {
		o = r.compile(meaning, terminal)
		r.varied[k] = o
	}
	return o
}

// compile makes an op of an operation, which may be nil.
func (r *rank) compile(meaning *semantics.Operation, terminal uint32) *op {
	o := &op{thread: int32(r.threadOf(terminal)), found: -1}
	if f := r.flight[terminal]; f != nil {
		o.completes, o.any = r.requestSlots(f.Requests), f.Any
		if meaning = f.Operation; f.Probed != nil {
			o.probed = r.probe(f.Probed)
		}
	}
	if meaning != nil {
		r.compileOperation(o, meaning, terminal)
	}
	switch {
	case o.probed != nil || o.waits != tiNothing || len(o.frees) > 0 || o.sync || o.unknown > 0:
		o.kind = opSpecial
	case len(o.posts)+len(o.begins)+len(o.completes)+len(o.messages)+len(o.collectives) > 0:
		o.kind = opSimple
	}
	r.setTurns(o)
	return o
}

func (r *rank) compileOperation(o *op, meaning *semantics.Operation, terminal uint32) {
	if o.sync = meaning.Class == spec.Synchronization; o.sync {
		r.compileEpoch(o, meaning, terminal)
		r.compileLock(o, meaning, r.calls.Call(terminal))
	}
	o.begins, o.frees = r.requestSlots(meaning.Begins), r.requestSlots(meaning.Frees)
	o.completes = append(o.completes, r.requestSlots(meaning.Completes)...)
	o.posts = meaning.Posts
	for i := range meaning.Messages {
		if !isKnown(&meaning.Messages[i]) {
			o.unknown++
			continue
		}
		if meaning.Messages[i].Cancelled {
			continue
		}
		m := r.message(&meaning.Messages[i])
		if id, ok := meaning.Request(i); ok && !meaning.Messages[i].Blocking {
			m.slot = r.slot(slotKey{kind: requestSlot, id: id})
		} else if m.kind == accesses && len(o.begins) == 1 {
			m.slot = o.begins[0]
		}
		if meaning.Takes >= 0 {
			m.taken = r.slot(slotKey{kind: messageSlot, id: meaning.Takes})
		}
		o.messages = append(o.messages, m)
	}
	for _, c := range append([]*semantics.Operation{meaning}, meaning.More...) {
		if !c.IsCollective() {
			continue
		}
		if made, ok := r.collective(c); ok {
			o.collectives = append(o.collectives, made)
		} else {
			o.unknown++
		}
	}
	if meaning.Probed != nil {
		o.probed = r.probe(meaning.Probed)
		if o.probed != nil && meaning.Found >= 0 {
			o.found = r.slot(slotKey{kind: messageSlot, id: meaning.Found})
		}
	}
	if r.ti != nil {
		r.ti.compile(o, meaning, terminal)
	}
}

// isKnown reports whether it is known who takes part in a message.
func isKnown(m *semantics.Message) bool { return m.Communicator != nil && m.Peer != semantics.NoPeer }

// message returns a message as it is executed.
func (r *rank) message(m *semantics.Message) message {
	made := message{slot: -1, taken: -1, posted: m.Posted, Message: Message{Direction: m.Direction, From: r.number, To: m.Peer,
		Tag: m.Tag, Bytes: m.Bytes, Communicator: m.Communicator}}
	switch m.Direction {
	case semantics.Send:
		switch m.Mode {
		case "buffered":
			made.mode = buffered
		case "synchronous":
			made.mode = synchronous
		}
		made.channel = r.engine.channel(channelKey{r.number, m.Peer, m.Communicator, m.Tag, m.Partitioned})
	case semantics.Receive:
		made.kind, made.From, made.To = receives, m.Peer, r.number
		if m.Peer != semantics.AnySource && m.Tag != semantics.AnyTag {
			made.channel = r.engine.channel(channelKey{m.Peer, r.number, m.Communicator, m.Tag, m.Partitioned})
		}
	default:
		made.kind, made.lock = accesses, r.engine.locks[lockKey{m.Communicator, m.Peer}]
	}
	return made
}

// probe returns the message that a call looks for, nil if it is not known which.
func (r *rank) probe(m *semantics.Message) *message {
	if !isKnown(m) {
		return nil
	}
	made := r.message(m)
	if made.channel == nil && len(r.flight) == 0 {
		return nil
	}
	return &made
}

// choosesMessages reports whether a receive of the rank takes messages from any source or
// with any tag, and the trace does not say which.
func (r *rank) choosesMessages() bool {
	for o := range r.calls.All() {
		for _, m := range o.Operation.Messages {
			if m.Direction == semantics.Receive && !m.Cancelled &&
				(m.Peer == semantics.AnySource || m.Tag == semantics.AnyTag) && m.Communicator != nil {
				return true
			}
		}
	}
	return false
}

package replay

import "context"

// A turn is as many calls as a strand makes before another has its turn, and patience as
// many messages as it may be ahead of their receiver before all others had theirs. Without
// both, a rank that only sends would be replayed to its end first, and all of its messages kept.
const (
	turn     = 512
	patience = 1024
)

// run replays the trace to its end. Strands are executed in dependency order: each goes on until it waits.
// What comes of it does not depend on whose turn it is, as the ends of each channel match in their order;
// where it would, because a receive takes a message from any source, threads of one rank share channels, or
// locks exclude each other, strands go on in the order of their clocks. So they do for events.
func (e *engine) run(emit func(*Event) bool) error {
	e.emit = emit
	e.ordered = e.ordered || emit != nil
	if e.isSteady() {
		e.rounds = &rounds{engine: e, iterations: 1}
	}
	for _, s := range e.strands {
		if e.rounds == nil {
			s.gate = never
		}
		e.wake(s)
	}
	for e.err == nil {
		if e.ordered {
			e.inOrder()
		} else {
			e.inTurns()
		}
		if e.err == nil && e.done() {
			return nil
		}
		if e.err == nil && !e.release() && !e.releaseRecorded() && e.err == nil {
			return e.deadlock()
		}
	}
	return e.err
}

// done reports whether all strands are at their end.
func (e *engine) done() bool {
	for _, s := range e.strands {
		if s.state != ended {
			return false
		}
	}
	return true
}

// wake has a strand go on from its clock.
func (e *engine) wake(s *strand) {
	s.state = between
	if e.ordered {
		e.later.push(moment{at: s.clock, strand: s})
		return
	}
	e.ready.push(s)
}

// inTurns executes strands, in turns, until all wait or are at their end.
func (e *engine) inTurns() {
	for e.err == nil {
		s := e.ready.pop()
		if s == nil {
			if len(e.parked) == 0 {
				if e.rounds != nil && e.rounds.next() {
					continue
				}
				return
			}
			for _, p := range e.parked {
				e.ready.push(p)
			}
			e.parked = e.parked[:0]
			continue
		}
		if !e.goesOn() {
			return
		}
		e.takeTurn(s)
	}
}

// progressEvery is after how many calls progress is told.
const progressEvery = 1 << 16

// goesOn tells the progress, and reports whether the replay goes on: its context is not done.
func (e *engine) goesOn() bool {
	if e.ctx.Err() != nil {
		e.fail(context.Cause(e.ctx))
		return false
	}
	if e.progress != nil && e.calls >= e.tellAt {
		e.progress(e.calls)
		e.tellAt = e.calls + progressEvery
	}
	return true
}

// takeTurn executes calls of a strand until it waits, or others have their turn.
func (e *engine) takeTurn(s *strand) {
	for range turn {
		if s.position >= s.gate {
			s.held = true
			return
		}
		o := s.next()
		if o == nil {
			return
		}
		s.prepare()
		if s.execute(o); s.state == blocked {
			return
		}
		s.finish()
		if s.ahead {
			s.ahead = false
			e.parked = append(e.parked, s)
			return
		}
	}
	e.ready.push(s)
}

// inOrder does what happens in the order of time, until all strands wait or are at their end.
func (e *engine) inOrder() {
	for n := 0; e.err == nil; n++ {
		if n%turn == 0 && !e.goesOn() {
			return
		}
		m, ok := e.later.pop()
		if !ok {
			return
		}
		e.now = m.at
		switch {
		case m.rank != nil:
			m.rank.resolve(m.at)
		case m.lock != nil:
			m.lock.resolve(m.at)
		case m.strand == nil:
			e.tell(m.arrival)
			e.events = append(e.events, m.arrival)
		default:
			for e.step(m.strand) {
			}
		}
	}
}

// step starts the call of a strand, or ends it and finds out when the next one starts. It
// reports whether that is to be done at once, as nothing else happens before.
func (e *engine) step(s *strand) bool {
	var at Time
	switch s.state {
	case starting:
		if !s.hasTurn(s.op) {
			return false
		}
		s.takeTurns(s.op)
		if s.execute(s.op); s.state == blocked {
			return false
		}
		if s.state, at = ending, s.end; e.recording != nil {
			at = s.recordedEnd
		}
	case ending:
		s.finish()
		if e.emit != nil {
			e.event = Event{At: s.clock, Start: s.start, Call: s.at}
			e.tell(&e.event)
		}
		s.state = between
		fallthrough
	default:
		if s.op = s.next(); s.op == nil {
			return false
		}
		s.prepare()
		s.state, at = starting, s.start
	}
	e.steps++
	if e.err == nil && e.steps%turn > 0 && (len(e.later.heap) == 0 || at < e.later.heap[0].at) {
		e.now = at
		return true
	}
	e.later.push(moment{at: at, strand: s})
	return false
}

// tell emits an event.
func (e *engine) tell(event *Event) {
	if e.err == nil && !e.emit(event) {
		e.fail(errStopped)
	}
}

// A queue is the strands that can go on: first in, first out.
type queue struct {
	list []*strand
	head int
}

func (q *queue) push(s *strand) { q.list = append(q.list, s) }

func (q *queue) pop() *strand {
	if q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
		return nil
	}
	s := q.list[q.head]
	if q.head++; q.head > 64 && q.head > len(q.list)/2 {
		q.list = q.list[:copy(q.list, q.list[q.head:])]
		q.head = 0
	}
	return s
}

// A moment is something that happens: a strand goes on, a rank may choose a message for a
// receive from any source, a lock is asked for or free, or a message arrives.
type moment struct {
	at      Time
	order   uint64
	strand  *strand
	rank    *rank
	lock    *lock
	arrival *Event
}

// A timeQueue is moments, a heap with the earliest on top; of one time, those that were
// pushed first.
type timeQueue struct {
	heap   []moment
	pushed uint64
}

func (q *timeQueue) before(i, j int) bool {
	a, b := &q.heap[i], &q.heap[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *timeQueue) push(m moment) {
	m.order = q.pushed
	q.pushed++
	q.heap = append(q.heap, m)
	for i := len(q.heap) - 1; i > 0; {
		above := (i - 1) / 2
		if !q.before(i, above) {
			break
		}
		q.heap[i], q.heap[above] = q.heap[above], q.heap[i]
		i = above
	}
}

func (q *timeQueue) pop() (moment, bool) {
	if len(q.heap) == 0 {
		return moment{}, false
	}
	top, last := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[last]
	q.heap[last] = moment{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		least := i
		for below := 2*i + 1; below <= 2*i+2 && below < last; below++ {
			if q.before(below, least) {
				least = below
			}
		}
		if least == i {
			return top, true
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

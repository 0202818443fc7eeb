package replay

import (
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/sequitur"
)

// A state is where a strand is.
type state uint8

const (
	between  state = iota // of two calls
	starting              // ordered: its next call starts at a moment that is in the queue
	blocked               // in a call that waits
	queued                // ordered: its next call starts when it is its turn
	ending                // ordered: its call ends at a moment that is in the queue
	ended
)

// A strand is one thread of a rank: it makes its calls in their order.
type strand struct {
	rank   *rank
	index  int32 // of engine.strands
	thread int
	state  state
	ahead  bool // it has sent more than its receiver takes

	walk     *sequitur.Walker
	run      sequitur.Run // what is left of it
	left     uint64       // calls that it has not begun
	position uint64       // of the next call
	gate     uint64       // the position that it comes to in this round
	held     bool         // it has come to it
	varied   uint64       // position after the last call that means something of its own
	loop     loop         // that it is in

	stretches []format.Stretch // that it has not come to
	stretchAt uint64           // where the next one begins
	stretch   *stretch         // that it is in

	at Call // the call that was begun last

	op      *op  // that waits, or starts next
	clock   Time // when the last call ended
	start   Time // of the call
	busy    Time // until when the strand is busy in the call
	end     Time // of the call, if it waits for nothing
	missing int  // how many requests the call waits for
	own     request

	recordedEnd Time      // of the call, in a recording
	latest      Time      // likewise, if times are not exact
	soft        *softSend // messages that the call may have to wait for, in a recording
	firstSent   Time      // of the messages that the call has received, in a recording; 0 for none
	receives    int       // how many requests of receives the call has completed, in a recording

	previous   int32    // site of the call, in a recording; before the first, −1
	leg        int32    // of the call, in a recording
	path, here *pathEnd // if there are paths: at its clock, and at its busy time in the call
	cause      cause    // what the end of the call depends on, nil if it is the strand itself

	calls                       uint64
	computing, sending, waiting Time
	sent                        Time // of sending, in the call
}

// next returns the operation of the next call, and moves on; nil at the end.
func (s *strand) next() *op {
	if s.left == 0 {
		s.state = ended
		return nil
	}
	for {
		if s.stretch != nil && s.stretch.calls.left == 0 {
			s.stretch = nil
		}
		if s.position >= s.stretchAt && s.stretch == nil {
			s.enterStretch()
		}
		var symbol sequitur.Symbol
		if s.stretch != nil {
			s.at.Position, symbol = s.stretch.calls.next()
		} else {
			if s.run.Count == 0 {
				s.run = s.walk.Next()
			}
			if s.rank.threads != nil && s.stretchAt > s.position+s.run.Count &&
				s.rank.threads[s.run.Symbol] != s.thread {
				s.position += s.run.Count
				s.run.Count = 0
				continue
			}
			s.run.Count--
			symbol, s.at.Position = s.run.Symbol, s.position
			s.position++
		}
		s.at.Terminal = symbol
		o := s.rank.ops[symbol]
		if o == nil || o.varies {
			o = s.rank.operation(s.at.Position, symbol)
			s.varied = s.position
		}
		if int(o.thread) == s.thread {
			s.left--
			s.at.Local = o.kind == opLocal
			return o
		}
	}
}

// prepare finds out when the call starts that next has returned, and how long it is busy.
func (s *strand) prepare() {
	e := s.rank.engine
	if e.recording != nil {
		s.prepareRecorded()
		return
	}
	before, within := e.machine.Compute(&s.at)
	s.calls++
	e.calls++
	s.start = add(s.clock, before)
	s.busy = add(s.start, within)
	s.computing = add(s.computing, s.busy-s.clock)
}

// last returns a copy of the call that was begun last.
func (s *strand) last() *Call {
	c := s.at
	return &c
}

// execute begins the operation of a call, and sets the state to blocked if it has to wait.
func (s *strand) execute(o *op) {
	if s.stretch != nil {
		s.executeDrawn(o)
		return
	}
	s.sent, s.missing, s.end, s.own.done, s.cause = 0, 0, s.busy, 0, cause{}
	if o.kind == opLocal {
		return
	}
	s.op = o
	for _, slot := range o.begins {
		s.rank.begin(slot, s.busy)
	}
	if len(o.posts) > 0 && s.rank.engine.recording != nil {
		s.postLater(o.posts)
	}
	for i := range o.messages {
		s.message(&o.messages[i])
	}
	for i := range o.collectives {
		s.enter(&o.collectives[i])
	}
	if o.kind != opSimple {
		s.special(o)
	}
	for _, slot := range o.completes {
		s.complete(slot)
	}
	if len(s.rank.strands) > 1 {
		s.rank.handOver(o.begins)
	}
	if s.rank.deferred > 0 {
		s.rank.needRequested(s)
	}
	s.until(s.busy, cause{})
	s.until(s.own.done, s.own.cause)
	if s.own.left > 0 {
		s.own.waiter = s
		s.missing++
	}
	if o.any { // one is enough
		if s.missing < len(o.completes) {
			s.missing = 0
		}
		s.missing = min(s.missing, 1)
	}
	if s.missing > 0 {
		s.state = blocked
	}
}

// postLater takes note of when receives are posted that later calls tell.
func (s *strand) postLater(requests []int64) {
	if s.rank.posts == nil {
		s.rank.posts = make(map[int64]post)
	}
	for _, id := range requests {
		s.rank.posts[id] = post{s.busy, s.pathTo()}
	}
}

// message begins a message of the call.
func (s *strand) message(m *message) {
	r := &s.own
	if m.slot >= 0 {
		if r = s.rank.slots[m.slot].last; r == nil {
			return
		}
	}
	s.messageAs(m, r)
}

// messageAs begins a message of the call as a part of a request.
func (s *strand) messageAs(m *message, r *request) {
	e := s.rank.engine
	switch m.kind {
	case sends:
		cost := e.machine.Message(&m.Message)
		s.busyFor(cost.Send)
		e.send(s, m, r, &cost)
	case receives:
		s.rank.post(s, m, r)
	case accesses:
		cost := e.machine.Message(&m.Message)
		if s.busyFor(cost.Send); m.lock != nil && e.recording == nil && s.access(m, r, &cost) {
			return
		}
		done := add(add(s.busy, cost.Transfer), cost.Receive)
		s.rank.accessed = max(s.rank.accessed, done)
		if m.slot >= 0 {
			r.until(done, s.pathTo())
		}
	}
}

// busyFor has the strand be busy with sending.
func (s *strand) busyFor(d Time) {
	before := s.busy
	s.busy = add(s.busy, d)
	s.sent = add(s.sent, s.busy-before)
}

// complete has the call wait for a request.
func (s *strand) complete(slot int32) {
	r, ok := s.rank.take(slot)
	switch {
	case !ok: // another thread has yet to begin it
		s.missing++
		s.rank.slots[slot].expected = append(s.rank.slots[slot].expected, s)
	case r != nil:
		s.waitFor(r)
	}
}

// waitFor has the call wait for a request that is in no slot.
func (s *strand) waitFor(r *request) {
	if r.left == 0 {
		s.until(r.done, r.cause)
		s.completes(r)
		s.rank.engine.recycle(r)
		return
	}
	r.waiter, r.gone = s, true
	s.missing++
}

// proceed has the strand go on when its call waits for one thing less, which was done at a time.
func (s *strand) proceed(done Time, cause cause) {
	s.until(done, cause)
	if s.missing--; s.missing != 0 || s.state != blocked {
		return
	}
	e := s.rank.engine
	if e.recording != nil {
		s.state = ending
		e.later.push(moment{at: s.recordedEnd, strand: s})
		return
	}
	if e.ordered {
		s.state, s.end = ending, max(s.end, e.now)
		e.later.push(moment{at: s.end, strand: s})
		return
	}
	s.finish()
	e.wake(s)
}

// until has the call end no earlier than something that it waits for.
func (s *strand) until(done Time, cause cause) {
	if done > s.end {
		s.end, s.cause = done, cause
	}
}

// finish ends the call.
func (s *strand) finish() {
	e, waited := s.rank.engine, s.end-s.busy
	if e.recording != nil {
		s.finishRecorded()
		return
	}
	if e.paths {
		s.follow()
	}
	s.waiting = add(s.waiting, waited)
	s.sending = add(s.sending, s.sent)
	if s.clock = s.end; s.clock == endOfTime {
		e.fail(ErrTooLong)
	}
	if e.ended != nil && (!e.some || s.rank.tells(s.at.Position)) {
		e.ended(&s.at, s.start, s.end)
	}
}

// A request is an operation that is not complete: that of a call that waits, or one that another
// call completes.
type request struct {
	done Time  // as far as it is known
	left int32 // messages and collective operations that are not complete
	gone bool  // no slot has it: it is of no use once it is complete

	survey, number uint64 // the last that has seen it, and its number there

	waiter *strand
	cause  cause // of done

	soft *softSend // in a recording: messages that are sent, and may wait for their receives
	sent Time      // the same, when the first message that is received was sent; 0 for none
}

// until has the request be done no earlier than a part of it.
func (r *request) until(done Time, cause cause) {
	if done > r.done {
		r.done, r.cause = done, cause
	}
}

// part takes note that a part of a request is done.
func (e *engine) part(r *request, done Time, cause cause) {
	r.until(done, cause)
	if r.left--; r.left > 0 {
		return
	}
	w := r.waiter
	done, cause = r.done, r.cause
	r.waiter = nil
	if w != nil {
		w.completes(r)
	}
	if r.gone {
		e.recycle(r)
	}
	if w != nil {
		w.proceed(done, cause)
	}
}

// request returns a new request.
func (e *engine) request() *request {
	if e.opened(); len(e.spare) == 0 {
		return new(request)
	}
	last := len(e.spare) - 1
	r := e.spare[last]
	e.spare = e.spare[:last]
	*r = request{}
	return r
}

func (e *engine) recycle(r *request) {
	e.open--
	e.spare = append(e.spare, r)
}

// opened counts what is open.
func (e *engine) opened() {
	if e.open++; e.open > e.most {
		e.fail(ErrTooMany)
	}
}

// A slot is the id of a request of a rank, and what it stands for.
type slot struct {
	last  *request
	older fifo[*request] // begun before, and not completed: where an id stands for several

	foreign  bool      // other threads begin what one completes
	expected []*strand // that wait for a request to be begun
}

// begin begins the operation of a slot.
func (r *rank) begin(number int32, at Time) {
	s := &r.slots[number]
	switch {
	case s.last == nil:
	case r.queues:
		s.older.push(s.last)
	default: // nobody completed it
		r.engine.drop(s.last)
	}
	s.last = r.engine.request()
	s.last.done = at
}

// handOver gives the requests that a call has begun to threads that wait for them.
func (r *rank) handOver(begun []int32) {
	for _, number := range begun {
		s := &r.slots[number]
		if len(s.expected) == 0 {
			continue
		}
		w := s.expected[0]
		s.expected = s.expected[1:]
		made, _ := r.take(number)
		if made.left > 0 {
			made.waiter, made.gone = w, true
			continue
		}
		done, cause := made.done, made.cause
		w.completes(made)
		r.engine.recycle(made)
		w.proceed(done, cause)
	}
}

// drop forgets a request that nobody will complete.
func (e *engine) drop(r *request) {
	if r.gone = true; r.left == 0 {
		e.recycle(r)
	}
}

// take returns the request of a slot, which is the caller's now, nil if there is none; false if
// a thread has to wait until another begins it.
func (r *rank) take(number int32) (*request, bool) {
	s := &r.slots[number]
	if oldest, ok := s.older.pop(); ok {
		return oldest, true
	}
	taken := s.last
	s.last = nil
	return taken, taken != nil || !s.foreign
}

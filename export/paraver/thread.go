package paraver

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/trace"
)

// A process is a rank that is being written.
type process struct {
	*writer
	rank  *events.Rank
	task  int
	calls []*call // by terminal
}

// A call is what calls of a terminal have in common.
type call struct {
	trace.Call
	function
}

// call returns the call that a terminal stands for.
func (p *process) call(terminal uint32) *call {
	c := p.calls[terminal]
	if c == nil {
		c = &call{Call: p.rank.Call(terminal)}
		c.function = p.writer.function(c.Function)
		p.calls[terminal] = c
	}
	return c
}

// A thread is a thread whose records are being written: points in time where calls begin
// and end.
type thread struct {
	process *process
	place   []byte // what records have of it: 0:1:TASK:THREAD:
	number  int    // among those of the task

	pull  func() ([]events.Event, error, bool)
	stop  func()         // ends pull
	batch []events.Event // that were pulled, and not taken

	ahead []events.Event // that have not begun, in the order of their beginnings, in room
	room  []events.Event // of 2·look calls, or as many as there are
	stack []open         // calls that have begun, and not ended
	now   int64          // time of the next point, if there are more
	more  bool
}

// An open call has begun.
type open struct {
	events.Event
	call      *call
	receives  []*message // that end with it
	completes []int64    // requests that it completes
}

// look is how many calls are looked at to find one that begins earlier, and ends later.
const look = 64

// heldOf returns about how many bytes a thread takes until all is written, of a rank with so many calls: most
// of it is the stack on which these are found, and the calls that are looked at.
func heldOf(calls uint64) uint64 {
	const least, each, pulling = 2 << 10, 128, 14 << 10
	if calls <= look {
		return least + each*calls
	}
	return least + pulling
}

// newThread returns a thread of a process. If there are several, it is the one of that
// number in the rank.
func newThread(p *process, number int, inRank int32, several bool) (*thread, error) {
	s := &thread{process: p, number: number, stop: func() {}}
	s.place = strconv.AppendInt(append(s.place, ":0:1:"...), int64(p.task), 10)
	s.place = append(strconv.AppendInt(append(s.place, ':'), int64(number), 10), ':')
	calls := batches(p.rank, inRank, several)
	if p.rank.Len() > look {
		s.room = make([]events.Event, 0, 2*look)
		s.pull, s.stop = iter.Pull2(calls)
		return s, nil
	}
	s.room = make([]events.Event, 0, p.rank.Len()+1)
	s.pull = func() ([]events.Event, error, bool) { return nil, nil, false }
	for batch, err := range calls {
		if err != nil {
			return nil, err
		}
		s.batch = slices.Clone(batch) // the only one
	}
	return s, nil
}

// batches yields the calls of a rank, of one of its threads if it has several, some at a
// time.
func batches(r *events.Rank, thread int32, several bool) iter.Seq2[[]events.Event, error] {
	return func(yield func([]events.Event, error) bool) {
		batch := make([]events.Event, 0, min(look, r.Len()))
		calls := r.All()
		if several {
			calls = r.Of(thread)
		}
		for e, err := range calls {
			if err != nil {
				yield(nil, err)
				return
			}
			if batch = append(batch, e); len(batch) == cap(batch) {
				if !yield(batch, nil) {
					return
				}
				batch = batch[:0]
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// before reports whether the next point of s comes before that of t.
func (s *thread) before(t *thread) bool {
	if s.now != t.now {
		return s.now < t.now
	}
	if s.process.task != t.process.task {
		return s.process.task < t.process.task
	}
	return s.number < t.number
}

// fill looks at calls that come.
func (s *thread) fill() error {
	for len(s.ahead) < look {
		if len(s.batch) == 0 {
			batch, err, ok := s.pull()
			if err != nil || !ok {
				return err
			}
			s.batch = batch
		}
		e := s.batch[0]
		s.batch = s.batch[1:]
		e.Start, e.End = min(e.Start, s.process.end), min(e.End, s.process.end)
		s.insert(e)
	}
	return nil
}

// insert puts a call among those that are ahead.
func (s *thread) insert(e events.Event) {
	if len(s.ahead) == cap(s.ahead) {
		room := append(s.room[:0], s.ahead...) // what was taken off leaves room
		s.ahead = room[:len(room):cap(room)]
	}
	if n := len(s.ahead); n == 0 || s.ahead[n-1].Start < e.Start {
		s.ahead = append(s.ahead, e)
		return
	}
	i, _ := slices.BinarySearchFunc(s.ahead, e, order)
	s.ahead = slices.Insert(s.ahead, i, e)
}

// order compares calls by where they begin: at one time, those that take none come first,
// as they returned before the others, and then the outermost first.
func order(a, b events.Event) int {
	instant := func(e events.Event) int {
		if e.Start == e.End {
			return 0
		}
		return 1
	}
	byTime := cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(instant(a), instant(b)), cmp.Compare(b.End, a.End))
	if a.Start == a.End {
		return cmp.Or(byTime, cmp.Compare(a.Position, b.Position))
	}
	return cmp.Or(byTime, cmp.Compare(b.Position, a.Position))
}

// begin finds the first point.
func (s *thread) begin() error {
	if err := s.fill(); err != nil {
		return err
	}
	s.aim()
	return nil
}

// aim finds the next point: the end of the innermost call, or the beginning of the next.
func (s *thread) aim() {
	s.more = true
	switch top := len(s.stack) - 1; {
	case top >= 0 && (len(s.ahead) == 0 || s.stack[top].End <= s.ahead[0].Start):
		s.now = s.stack[top].End
	case len(s.ahead) > 0:
		s.now = s.ahead[0].Start
	default:
		s.more = false
	}
}

// step writes what happens at the next point, and finds the one after it.
func (s *thread) step() error {
	now := s.now
	if top := len(s.stack) - 1; top >= 0 && (len(s.ahead) == 0 || s.stack[top].End <= s.ahead[0].Start) {
		ended := s.stack[top]
		s.stack[top] = open{}
		s.stack = s.stack[:top]
		value := 0
		if top > 0 && s.stack[top-1].call.kind == ended.call.kind {
			value = s.stack[top-1].call.value
		}
		s.event(now, ended.call.kind, value)
		s.process.messages.end(s, &ended, now)
	} else {
		e := s.ahead[0]
		s.ahead = s.ahead[1:]
		if err := s.fill(); err != nil {
			return err
		}
		// What was found too late to be around others begins after them.
		if top >= 0 {
			e.End = min(e.End, s.stack[top].End)
		}
		c := s.process.call(e.Terminal)
		s.stack = append(s.stack, open{Event: e, call: c})
		s.event(now, c.kind, c.value)
		s.process.messages.begin(s, &s.stack[len(s.stack)-1])
		if len(s.ahead) > 0 && s.ahead[0].Start < now {
			s.late(now)
		}
	}
	s.aim()
	if s.more && s.now > now {
		s.state(now, s.now)
	}
	return nil
}

// late has calls begin no earlier than now.
func (s *thread) late(now int64) {
	for i := range s.ahead {
		s.ahead[i].Start = max(s.ahead[i].Start, now)
		s.ahead[i].End = max(s.ahead[i].End, now)
	}
}

// event writes an event.
func (s *thread) event(at int64, kind, value int) {
	b := append(append(s.process.out.line(), '2'), s.place...)
	b = strconv.AppendInt(b, at, 10)
	b = strconv.AppendInt(append(b, ':'), int64(kind), 10)
	b = strconv.AppendInt(append(b, ':'), int64(value), 10)
	s.process.out.write(append(b, '\n'))
}

// state writes the state between two points.
func (s *thread) state(from, to int64) {
	state := stateRunning
	if top := len(s.stack) - 1; top >= 0 {
		state = s.stack[top].call.state
	}
	b := append(append(s.process.out.line(), '1'), s.place...)
	b = strconv.AppendInt(b, from, 10)
	b = strconv.AppendInt(append(b, ':'), to, 10)
	b = strconv.AppendInt(append(b, ':'), int64(state), 10)
	s.process.out.write(append(b, '\n'))
}

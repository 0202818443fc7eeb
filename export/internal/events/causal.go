package events

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"io"
	"iter"
	"math"

	"github.com/reprise-trace/reprise/export/internal/spool"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
)

// OrderMessages has [Rank.Messages] and [Rank.Numbers] tell messages between the ranks that were chosen; if timed,
// between those of them that have the times of every call. And where times are within an error, no call that receives
// a message ends before the call begins that sends it: it ends later, and the calls of its thread that would begin
// before that begin there. It costs what [query.OpenNumbering] does, and goes through the calls.
//
// A time that is moved is still within the error of what was recorded: it is the start of an earlier call, which is
// later by the error at most than that was, and so than the later call was. That holds if every message was sent
// before it was received by the clocks of the recording. Receives that would be moved by more than the errors allow
// stay as they are: [Trace.Reversed] counts their messages.
//
// It reads all ranks at once, in the order of their times, and holds the messages that are on their way. What is
// moved goes to a temporary file, which [Trace.Close] removes.
//
// Source: the controlled logical clock of Becker, Rabenseifner, Wolf and Linford, "Scalable timestamp synchronization
// for event traces of message-passing applications", Parallel Computing 35 (2009). It moves times forward as here.
func (t *Trace) OrderMessages(timed bool) error {
	if err := t.number(timed); err != nil || t.numbering == nil {
		return err
	}
	w := walk{trace: t, sent: make(map[uint64]int64), missed: make(map[uint64]int64),
		waiting: make(map[uint64]*strand)}
	defer w.stop()
	err := w.open()
	for err == nil && len(w.strands) > 0 {
		if s := w.strands[0]; s.waits {
			w.release(s)
		} else {
			err = w.step(s)
		}
	}
	return err
}

// Reversed returns how many messages are received before they are sent after OrderMessages.
func (t *Trace) Reversed() uint64 { return t.reversed }

// Close removes what OrderMessages keeps.
func (t *Trace) Close() { t.moved.Close() }

// A walk goes through the calls of all ranks.
type walk struct {
	trace    *Trace
	strands  []*strand // a heap by their keys
	greatest int64     // error of a start

	sent    map[uint64]int64 // when messages were sent that are not received yet
	waiting map[uint64]*strand
	missed  map[uint64]int64 // when messages were received that were not sent yet
}

// A strand is a rank in a walk.
type strand struct {
	rank  *Rank
	next  func() (timedCall, error, bool)
	stop  func()
	error int64 // of a start
	lines map[int32]*nesting

	moves  *spool.Stream // by uvarint: positions of calls after that before, and how much later they end
	before uint64
	bytes  []byte

	call     timedCall
	begun    bool     // its messages are sent
	received []uint64 // that are to be looked at
	waits    bool     // for the first of them
	end      int64    // of the call, as far as it is known
	most     int64    // the latest end
	at       int      // in the heap
}

// key returns when the strand goes on.
func (s *strand) key() int64 {
	if s.waits {
		return s.most
	}
	return s.call.start
}

func (w *walk) Len() int { return len(w.strands) }

func (w *walk) Less(i, j int) bool {
	a, b := w.strands[i], w.strands[j]
	if x, y := a.key(), b.key(); x != y {
		return x < y
	}
	if a.waits != b.waits {
		return b.waits
	}
	return a.rank.Number < b.rank.Number
}

func (w *walk) Swap(i, j int) {
	w.strands[i], w.strands[j] = w.strands[j], w.strands[i]
	w.strands[i].at, w.strands[j].at = i, j
}

func (w *walk) Push(x any) {
	s := x.(*strand)
	s.at = len(w.strands)
	w.strands = append(w.strands, s)
}

func (w *walk) Pop() any {
	n := len(w.strands) - 1
	s := w.strands[n]
	w.strands = w.strands[:n]
	return s
}

// The buffers of what is moved: of all ranks, and the shortest and the longest.
const sharedMoves, leastMoves, mostMoves = 4 << 20, 64, 1 << 16

// open opens the ranks that have the times of every call.
func (w *walk) open() error {
	var all []*strand
	exact := true
	for r, err := range w.trace.Ranks() {
		if err != nil {
			return err
		}
		if r.clock.source() != query.Series {
			continue
		}
		s := &strand{rank: r, error: r.clock.clock.StartError(), lines: make(map[int32]*nesting)}
		w.greatest = max(w.greatest, s.error)
		exact = exact && r.clock.guarantee() == timing.Exact
		all = append(all, s)
	}
	if exact {
		return nil
	}
	w.trace.moves = make(map[int]*spool.Stream, len(all))
	for _, s := range all {
		s.moves = w.trace.moved.Stream(min(max(sharedMoves/len(all), leastMoves), mostMoves))
		w.trace.moves[s.rank.Number] = s.moves
		s.next, s.stop = iter.Pull2(s.rank.cut(s.rank.clock.calls(w.trace.in)))
		if ok, err := w.advance(s); err != nil {
			return err
		} else if ok {
			heap.Push(w, s)
		}
	}
	return nil
}

// stop ends the reading of ranks.
func (w *walk) stop() {
	for _, s := range w.strands {
		s.stop()
	}
}

// advance reads the next call of a strand that was chosen; false if there is none.
func (w *walk) advance(s *strand) (bool, error) {
	for {
		call, err, ok := s.next()
		if err == nil && ok {
			err = w.trace.step(false)
		}
		if err != nil || !ok {
			s.stop()
			return false, err
		}
		s.call, s.begun = call, false
		if in := w.trace.in; query.Overlaps(call.start, call.end-call.start, in.From, in.To) {
			return true, nil
		}
		s.line().place(call.start, call.end, 0)
	}
}

// line returns what keeps the calls of a thread apart.
func (s *strand) line() *nesting {
	thread := s.rank.thread[s.call.terminal]
	n := s.lines[thread]
	if n == nil {
		n = new(nesting)
		s.lines[thread] = n
	}
	return n
}

// step takes the call of a strand, or goes on with it.
func (w *walk) step(s *strand) error {
	if c := s.call; !s.begun {
		sent, received := s.rank.Messages(Event{Position: c.position, Terminal: c.terminal})
		start, end, _ := s.line().placed(c.start, c.end)
		s.begun, s.received, s.end, s.most = true, received, end, wire.AddTimes(end, w.mostOf(s))
		for _, number := range sent {
			w.send(number, start)
		}
	}
	for len(s.received) > 0 {
		start, ok := w.sent[s.received[0]]
		if !ok {
			s.waits = true
			w.waiting[s.received[0]] = s
			heap.Fix(w, s.at)
			return nil
		}
		delete(w.sent, s.received[0])
		s.received = s.received[1:]
		if start > s.most {
			w.trace.reversed++
		} else {
			s.end = max(s.end, start)
		}
	}
	if err := s.finish(); err != nil {
		return err
	}
	if ok, err := w.advance(s); err != nil || !ok {
		heap.Remove(w, s.at)
		return err
	}
	heap.Fix(w, s.at)
	return nil
}

// mostOf returns how much later the call of a strand may end: by the error of the start of another call, by that of
// its own, and by that of its duration; 0 if its times are exact, or errors are not known.
func (w *walk) mostOf(s *strand) int64 {
	share := float64(s.rank.clock.guarantee())
	if share == float64(timing.Exact) || w.greatest == math.MaxInt64 {
		return 0
	}
	long := math.Ceil(float64(s.call.end-s.call.start) * share / max(1-share, 1e-3))
	return wire.AddTimes(wire.AddTimes(w.greatest, s.error), int64(min(long, 1<<62)))
}

// send takes note that a message is sent.
func (w *walk) send(number uint64, start int64) {
	if received, ok := w.missed[number]; ok {
		delete(w.missed, number)
		if received < start {
			w.trace.reversed++
		}
		return
	}
	w.sent[number] = start
	if s := w.waiting[number]; s != nil {
		delete(w.waiting, number)
		s.waits = false
		heap.Fix(w, s.at)
	}
}

// release has a strand go on without the message that it waits for: whatever sends it is too late.
func (w *walk) release(s *strand) {
	delete(w.waiting, s.received[0])
	w.missed[s.received[0]] = s.end
	s.received, s.waits = s.received[1:], false
	heap.Fix(w, s.at)
}

// finish ends the call of a strand.
func (s *strand) finish() error {
	n, c := s.line(), s.call
	_, end, _ := n.placed(c.start, c.end)
	if s.end <= end {
		n.place(c.start, c.end, 0)
		return nil
	}
	n.place(c.start, c.end, s.end)
	s.bytes = binary.AppendUvarint(s.bytes[:0], c.position-s.before)
	s.bytes = binary.AppendUvarint(s.bytes, uint64(s.end))
	s.before = c.position
	_, err := s.moves.Write(s.bytes)
	return err
}

// A mover reads which calls of a rank end later. The zero mover has none.
type mover struct {
	in       io.ByteReader
	position uint64
	end      int64
}

// mover returns a mover of a rank.
func (t *Trace) mover(rank int) *mover {
	m := &mover{position: math.MaxUint64}
	if s := t.moves[rank]; s != nil {
		m.in, m.position = bufio.NewReader(s.Reader()), 0
		m.read()
	}
	return m
}

// read reads the next call.
func (m *mover) read() {
	step, err := binary.ReadUvarint(m.in)
	if err == nil {
		m.position += step
		var end uint64
		end, err = binary.ReadUvarint(m.in)
		m.end = int64(end)
	}
	if err != nil {
		m.position = math.MaxUint64
	}
}

// of returns when the call at a position ends at least: 0 if it is not moved. Positions ascend.
func (m *mover) of(position uint64) (end int64) {
	if position == m.position {
		end = m.end
		m.read()
	}
	return end
}

package events

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"io"
	"iter"
	"math"
	"slices"

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
	for err == nil && len(w.turns) > 0 {
		if x := w.turns[0]; x.strand == nil {
			err = w.read(x.rank)
		} else {
			heap.Remove(&w, 0)
			if x.strand.waits {
				w.release(x.strand)
			}
			err = w.run(x.strand)
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
	turns    []*turn // a heap by their times
	ranks    []*walked
	greatest int64 // error of a start
	overlap  int64 // how long a call begins at most before the one before it ends, on ranks with threads

	sent    map[uint64]int64 // when messages were sent that are not received yet
	waiting map[uint64]*strand
	missed  map[uint64]int64 // when messages were received that were not sent yet
}

// A turn is a rank whose next call is read at a time, or a thread of it that goes on then.
type turn struct {
	rank   *walked
	strand *strand // nil for the rank
	time   int64
	at     int // in the heap, −1 if it is not there
}

// A walked is a rank in a walk.
type walked struct {
	turn
	*Rank
	next    func() (timedCall, error, bool)
	stop    func()
	error   int64 // of a start
	call    timedCall
	strands map[int32]*strand
	full    bool // a thread of it has too many calls that are not walked
	buffer  int  // of moves
}

// A strand is a thread in a walk.
type strand struct {
	turn
	line nesting

	moves  *spool.Stream // by uvarint: positions of calls after that before, and when they end
	before uint64
	bytes  []byte

	calls []walkedCall // that are read and not walked: the first is the one that it is in
	begun bool         // which has sent its messages
	waits bool         // for the first message that it receives
	end   int64        // of it, as far as it is known
	most  int64        // its latest end
}

// A walkedCall is a call with its messages.
type walkedCall struct {
	timedCall
	sent, received []uint64
}

// mostCalls is how many calls of a thread are held that waits while others of its rank go on.
const mostCalls = 1 << 12

func (w *walk) Len() int { return len(w.turns) }

func (w *walk) Less(i, j int) bool {
	a, b := w.turns[i], w.turns[j]
	waits := func(x *turn) bool { return x.strand != nil && x.strand.waits }
	thread := func(x *turn) int32 {
		if x.strand == nil {
			return -1
		}
		return x.rank.thread[x.strand.calls[0].terminal]
	}
	switch {
	case a.time != b.time:
		return a.time < b.time
	case waits(a) != waits(b):
		return waits(b)
	case a.rank != b.rank:
		return a.rank.Number < b.rank.Number
	}
	return thread(a) < thread(b)
}

func (w *walk) Swap(i, j int) {
	w.turns[i], w.turns[j] = w.turns[j], w.turns[i]
	w.turns[i].at, w.turns[j].at = i, j
}

func (w *walk) Push(x any) {
	t := x.(*turn)
	t.at = len(w.turns)
	w.turns = append(w.turns, t)
}

func (w *walk) Pop() any {
	n := len(w.turns) - 1
	t := w.turns[n]
	t.at = -1
	w.turns = w.turns[:n]
	return t
}

// The buffers of what is moved: of all ranks, and the shortest and the longest.
const sharedMoves, leastMoves, mostMoves = 4 << 20, 64, 1 << 16

// open opens the ranks that have the times of every call.
func (w *walk) open() error {
	exact := true
	for r, err := range w.trace.Ranks() {
		if err != nil {
			return err
		}
		if r.clock.source() != query.Series {
			continue
		}
		s := &walked{Rank: r, error: r.clock.clock.StartError(), strands: make(map[int32]*strand)}
		s.turn = turn{rank: s, at: -1}
		w.greatest = max(w.greatest, s.error)
		if slices.ContainsFunc(r.thread, func(t int32) bool { return t != r.thread[0] }) {
			w.overlap = max(w.overlap, r.clock.clock.Overlap())
		}
		exact = exact && r.clock.guarantee() == timing.Exact
		w.ranks = append(w.ranks, s)
	}
	if exact {
		return nil
	}
	w.trace.moves = make(map[[2]int]*spool.Stream, len(w.ranks))
	for _, s := range w.ranks {
		s.buffer = min(max(sharedMoves/len(w.ranks), leastMoves), mostMoves)
		s.next, s.stop = iter.Pull2(s.cut(s.clock.calls(w.trace.in)))
		if err := w.advance(s); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the reading of ranks.
func (w *walk) stop() {
	for _, s := range w.ranks {
		if s.stop != nil {
			s.stop()
		}
	}
}

// advance reads the next call of a rank that was chosen, and has the rank wait for its time.
func (w *walk) advance(s *walked) error {
	for {
		call, err, ok := s.next()
		if err == nil && ok {
			err = w.trace.step(false)
		}
		if err != nil || !ok {
			if s.at >= 0 {
				heap.Remove(w, s.at)
			}
			return err
		}
		s.call = call
		if in := w.trace.in; !query.Overlaps(call.start, call.end-call.start, in.From, in.To) {
			w.strandOf(s).line.place(call.start, call.end, 0)
			continue
		}
		if s.time = call.start; s.at >= 0 {
			heap.Fix(w, s.at)
		} else {
			heap.Push(w, &s.turn)
		}
		return nil
	}
}

// strandOf returns the thread of the call of a rank.
func (w *walk) strandOf(s *walked) *strand {
	thread := s.thread[s.call.terminal]
	of := s.strands[thread]
	if of == nil {
		of = &strand{moves: w.trace.moved.Stream(s.buffer)}
		of.turn = turn{rank: s, strand: of, at: -1}
		s.strands[thread] = of
		w.trace.moves[[2]int{s.Number, int(thread)}] = of.moves
	}
	return of
}

// read takes the next call of a rank, whose thread makes it unless it waits in another one.
func (w *walk) read(s *walked) error {
	of := w.strandOf(s)
	sent, received := s.Messages(Event{Position: s.call.position, Terminal: s.call.terminal})
	if busy := len(of.calls) > 0; busy {
		sent, received = slices.Clone(sent), slices.Clone(received)
		of.calls = append(of.calls, walkedCall{s.call, sent, received})
		if len(of.calls) >= mostCalls || len(s.strands) == 1 {
			s.full = true
			heap.Remove(w, s.at)
			return nil
		}
		return w.advance(s)
	}
	of.calls = append(of.calls, walkedCall{s.call, sent, received})
	if err := w.run(of); err != nil {
		return err
	}
	if len(of.calls) > 0 { // what Messages returned is valid up to the next call
		of.calls[0].received = slices.Clone(of.calls[0].received)
	}
	return w.advance(s)
}

// run has a thread make the calls that were read, up to one that waits.
func (w *walk) run(s *strand) error {
	for len(s.calls) > 0 {
		c := &s.calls[0]
		if !s.begun {
			start, end, _ := s.line.placed(c.start, c.end)
			s.begun, s.end, s.most = true, end, wire.AddTimes(end, w.mostOf(s))
			for _, number := range c.sent {
				w.send(number, start)
			}
		}
		for len(c.received) > 0 {
			start, ok := w.sent[c.received[0]]
			if !ok {
				s.waits, s.time = true, wire.AddTimes(s.most, w.overlap)
				w.waiting[c.received[0]] = s
				heap.Push(w, &s.turn)
				return nil
			}
			delete(w.sent, c.received[0])
			c.received = c.received[1:]
			if start > s.most {
				w.trace.reversed++
			} else {
				s.end = max(s.end, start)
			}
		}
		if err := s.finish(); err != nil {
			return err
		}
		s.calls, s.begun = slices.Delete(s.calls, 0, 1), false
	}
	if r := s.rank; r.full {
		r.full = false
		return w.advance(r)
	}
	return nil
}

// mostOf returns how much later the call of a strand may end: by the error of the start of another call, by that of
// its own, and by that of its duration; 0 if its times are exact, or errors are not known.
func (w *walk) mostOf(s *strand) int64 {
	share, call := float64(s.rank.clock.guarantee()), &s.calls[0]
	if share == float64(timing.Exact) || w.greatest == math.MaxInt64 {
		return 0
	}
	long := math.Ceil(float64(call.end-call.start) * share / max(1-share, 1e-3))
	return wire.AddTimes(wire.AddTimes(w.greatest, s.rank.error), int64(min(long, 1<<62)))
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
		s.waits, s.time = false, s.calls[0].start
		heap.Fix(w, s.at)
	}
}

// release has a thread go on without the message that it waits for: whatever sends it is too late.
func (w *walk) release(s *strand) {
	c := &s.calls[0]
	delete(w.waiting, c.received[0])
	w.missed[c.received[0]] = s.end
	c.received, s.waits = c.received[1:], false
}

// finish ends the call of a thread.
func (s *strand) finish() error {
	n, c := &s.line, &s.calls[0]
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

// A mover reads which calls of a thread end later. The zero mover has none.
type mover struct {
	in       io.ByteReader
	position uint64
	end      int64
	err      error // of in
}

// mover returns a mover of a thread.
func (t *Trace) mover(rank int, thread int32) mover {
	m := mover{position: math.MaxUint64}
	if s := t.moves[[2]int{rank, int(thread)}]; s != nil {
		m.in, m.position = bufio.NewReaderSize(s.Reader(), 512), 0
		m.read()
	}
	return m
}

// read reads the next call.
func (m *mover) read() {
	step, err := binary.ReadUvarint(m.in)
	if err == io.EOF {
		m.position = math.MaxUint64
		return
	}
	end := uint64(0)
	if err == nil {
		if end, err = binary.ReadUvarint(m.in); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}
	m.position, m.end, m.err = m.position+step, int64(end), err
}

// of returns the min end of the call at a position: 0 if it is not moved. Positions ascend.
func (m *mover) of(position uint64) (end int64, err error) {
	if m.err == nil && position == m.position {
		end = m.end
		m.read()
	}
	return end, m.err
}
